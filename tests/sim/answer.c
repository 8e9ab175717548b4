/* answer.c - text, with as few formatted prints per token as can be.
 *
 * A chunk of a stream is framed in place: four hexadecimal digits are kept free before it and
 * filled in when its length is known. Tokens are three letters and a blank, made from the call's
 * id, so that answers differ and four bytes are a token, as in prompts. */
#include "tests/sim/answer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "tests/sim/clock.h"
#include "tests/sim/engine.h"

enum { FRAME = 6, TOKEN_BYTES = 4 };

static const char *reason_of(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	case 413:
		return "Content Too Large";
	case 429:
		return "Too Many Requests";
	case 500:
		return "Internal Server Error";
	case 503:
		return "Service Unavailable";
	default:
		return "Status";
	}
}

static void write_head(struct connection *connection, int status, const char *type, int retry_after)
{
	struct bytes *out = &connection->out;

	bytes_format(out, "HTTP/1.1 %d %s\r\nx-sim-engine: %d\r\ncontent-type: %s\r\n", status,
	             reason_of(status), connection->engine->port, type);
	if (connection->engine->options->ranks > 1)
		bytes_format(out, "x-sim-rank: %u\r\n", connection->call.rank);
	if (retry_after >= 0)
		bytes_format(out, "retry-after: %d\r\n", retry_after);
	if (connection->close_said)
		bytes_text(out, "connection: close\r\n");
}

static void write_whole(struct connection *connection, int status, const char *type,
                        struct span body)
{
	write_head(connection, status, type, -1);
	bytes_format(&connection->out, "content-length: %zu\r\n\r\n", body.len);
}

void answer_whole(struct connection *connection, int status, const char *type, struct span body)
{
	write_whole(connection, status, type, body);
	bytes_span_add(&connection->out, body);
	connection_answered(connection);
}

void answer_error(struct connection *connection, int status, int retry_after, const char *message)
{
	struct bytes *body = &connection->engine->scratch;

	bytes_clear(body);
	bytes_format(body,
	             "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":%d}}",
	             message, status == 404 ? "NotFoundError" : reason_of(status), status);
	write_head(connection, status, "application/json", retry_after);
	bytes_format(&connection->out, "content-length: %zu\r\n\r\n", bytes_len(body));
	bytes_span_add(&connection->out, bytes_span(body));
	connection_answered(connection);
}

static void write_tokens(struct bytes *out, uint64_t id, uint32_t from, uint32_t count)
{
	static const char letters[] = "abcdefghijklmnop";
	char *at = bytes_room(out, (size_t)count * TOKEN_BYTES);

	for (uint32_t i = from; i < from + count; i++) {
		uint64_t mixed = (id + i) * 0x9e3779b97f4a7c15 >> 52;

		*at++ = letters[mixed & 15];
		*at++ = letters[mixed >> 4 & 15];
		*at++ = letters[mixed >> 8 & 15];
		*at++ = ' ';
	}
	bytes_added(out, (size_t)count * TOKEN_BYTES);
}

static void write_usage(struct bytes *out, const struct call *call)
{
	bytes_format(out,
	             "\"usage\":{\"prompt_tokens\":%u,\"total_tokens\":%u,\"completion_tokens\":%u,"
	             "\"prompt_tokens_details\":{\"cached_tokens\":%u}}",
	             call->prompt_tokens, call->prompt_tokens + call->sent_tokens,
	             call->sent_tokens, call->cached_tokens);
}

/* Opens an answer or a chunk of one up to its choices. */
static void write_opening(struct bytes *out, const struct call *call, const char *object)
{
	bytes_format(out,
	             "{\"id\":\"%s-%016" PRIx64 "\",\"object\":\"%s\",\"created\":%ld,"
	             "\"model\":\"%s\",",
	             call->kind == CALL_CHAT ? "chatcmpl" : "cmpl", call->id, object,
	             (long)time(NULL), call->model);
}

static const char *finish_reason(const struct call *call)
{
	return call->limited ? "length" : "stop";
}

static void write_call(struct bytes *out, const struct call *call)
{
	bool chat = call->kind == CALL_CHAT;

	if (call->kind == CALL_EMBEDDING) {
		bytes_format(
		        out,
		        "{\"object\":\"list\",\"model\":\"%s\",\"data\":[{\"object\":\"embedding\","
		        "\"index\":0,\"embedding\":[0.5,-0.25,0.125]}],",
		        call->model);
		write_usage(out, call);
		bytes_text(out, "}");
		return;
	}
	write_opening(out, call, chat ? "chat.completion" : "text_completion");
	bytes_text(out, chat ? "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
	                       "\"content\":\""
	                     : "\"choices\":[{\"index\":0,\"text\":\"");
	write_tokens(out, call->id, 0, call->sent_tokens);
	bytes_format(out, "\"%s,\"logprobs\":null,\"finish_reason\":\"%s\"}],", chat ? "}" : "",
	             finish_reason(call));
	write_usage(out, call);
	bytes_text(out, "}");
}

static struct span body_of(struct connection *connection)
{
	struct bytes *body = &connection->engine->scratch;

	bytes_clear(body);
	write_call(body, &connection->call);
	return bytes_span(body);
}

void answer_call(struct connection *connection)
{
	answer_whole(connection, 200, "application/json", body_of(connection));
}

void answer_half(struct connection *connection)
{
	struct span body = body_of(connection);

	write_whole(connection, 200, "application/json", body);
	bytes_add(&connection->out, body.at, body.len / 2);
}

void answer_stream_head(struct connection *connection)
{
	write_head(connection, 200, "text/event-stream; charset=utf-8", -1);
	bytes_text(&connection->out, "transfer-encoding: chunked\r\n\r\n");
	connection->call.head_sent = true;
	connection_dirty(connection);
}

/* Where the frame of the chunk that begins here is to be filled in. */
static size_t open_frame(struct bytes *out)
{
	bytes_add(out, "0000\r\n", FRAME);
	return bytes_len(out);
}

static void close_frame(struct bytes *out, size_t opened)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = bytes_len(out) - opened;
	char *frame = out->data + out->from + opened - FRAME;

	for (int i = 3; i >= 0; i--, len >>= 4)
		frame[i] = digits[len & 15];
	bytes_add(out, "\r\n", 2);
}

static void write_role(struct bytes *out, const struct call *call)
{
	bytes_text(out, "data: ");
	write_opening(out, call, "chat.completion.chunk");
	bytes_text(out,
	           "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
	           "\"logprobs\":null,\"finish_reason\":null}]}\n\n");
}

void answer_token(struct connection *connection, uint32_t index)
{
	const struct call *call = &connection->call;
	struct bytes *out = &connection->out;
	bool chat = call->kind == CALL_CHAT;
	size_t opened = open_frame(out);

	if (index == 0 && chat)
		write_role(out, call);
	bytes_text(out, "data: ");
	write_opening(out, call, chat ? "chat.completion.chunk" : "text_completion");
	bytes_text(out, chat ? "\"choices\":[{\"index\":0,\"delta\":{\"content\":\""
	                     : "\"choices\":[{\"index\":0,\"text\":\"");
	write_tokens(out, call->id, index, 1);
	bytes_text(out, chat ? "\"},\"logprobs\":null,\"finish_reason\":null}]"
	                     : "\",\"logprobs\":null,\"finish_reason\":null}]");
	if (connection->engine->options->stamp)
		bytes_format(out, ",\"sim_us\":%" PRId64, clock_us());
	bytes_text(out, "}\n\n");
	close_frame(out, opened);
	connection_dirty(connection);
}

void answer_stream_end(struct connection *connection)
{
	const struct call *call = &connection->call;
	struct bytes *out = &connection->out;
	bool chat = call->kind == CALL_CHAT;
	size_t opened = open_frame(out);

	bytes_text(out, "data: ");
	write_opening(out, call, chat ? "chat.completion.chunk" : "text_completion");
	bytes_format(
	        out,
	        "\"choices\":[{\"index\":0,%s,\"logprobs\":null,\"finish_reason\":\"%s\"}]}\n\n",
	        chat ? "\"delta\":{}" : "\"text\":\"\"", finish_reason(call));
	if (call->include_usage) {
		bytes_text(out, "data: ");
		write_opening(out, call, chat ? "chat.completion.chunk" : "text_completion");
		bytes_text(out, "\"choices\":[],");
		write_usage(out, call);
		bytes_text(out, "}\n\n");
	}
	bytes_text(out, "data: [DONE]\n\n");
	close_frame(out, opened);
	bytes_text(out, "0\r\n\r\n");
	connection_answered(connection);
}
