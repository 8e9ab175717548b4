/* call.c - faults first, then the queue, then tokens as the model makes them.
 *
 * A fault in the middle of an answer lets the model work on unseen: a sequence is only ever taken
 * out of the model from outside of its events. */
#include "tests/sim/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "tests/sim/answer.h"
#include "tests/sim/clock.h"
#include "tests/sim/connection.h"
#include "tests/sim/engine.h"
#include "tests/sim/prompt.h"

/* What reached us, for /sim/last. */
static void remember(struct engine *engine, const struct request *request)
{
	struct bytes *last = &engine->last;
	const struct http_head *head = request->head;

	if (engine->options->bare)
		return;
	bytes_clear(last);
	bytes_text(last, "{\"method\":\"");
	bytes_json(last, head->words[0]);
	bytes_text(last, "\",\"path\":\"");
	bytes_json(last, head->words[1]);
	bytes_format(last, "\",\"body_bytes\":%zu,\"body_xxh64\":\"%016" PRIx64 "\",\"headers\":{",
	             request->body.len, XXH64(request->body.at, request->body.len, 0));
	for (int i = 0; i < head->field_count; i++) {
		bytes_text(last, i > 0 ? ",\"" : "\"");
		bytes_json(last, head->fields[i].name);
		bytes_text(last, "\":\"");
		bytes_json(last, head->fields[i].value);
		bytes_text(last, "\"");
	}
	bytes_text(last, "}}\n");
}

static struct fault fault_for(struct connection *connection, const struct request *request)
{
	struct span asked = http_field_named(request->head, "x-sim-fault");
	struct fault fault;

	if (asked.at && fault_parse(asked, &fault))
		return fault;
	return engine_fault(connection->engine, request->path, true);
}

static void refuse(struct connection *connection, int status, const char *message)
{
	connection->engine->counts.refused++;
	answer_error(connection, status, -1, message);
}

static bool serves_model(const struct sim_options *options, struct span model)
{
	for (int i = 0; i < options->models.count; i++) {
		if (span_is(model, options->models.texts[i]))
			return true;
	}
	return options->models.count == 0 || loras_named(options, model) != LORA_NONE;
}

/* Of those that wait for an adapter. */
static void wait_no_more(struct connection *connection)
{
	struct call *call = &connection->call;

	if (call->waits)
		connection->engine->loras.waiting[call->adapter]--;
	call->waits = false;
}

/* True while it is not there, and the request comes again later. */
static bool awaits_adapter(struct connection *connection, struct span model)
{
	struct engine *engine = connection->engine;
	struct call *call = &connection->call;
	uint32_t wait_ms;

	wait_no_more(connection);
	call->adapter = loras_named(engine->options, model);
	if (call->adapter == LORA_NONE)
		return false;
	wait_ms = loras_wait_ms(&engine->loras, engine->options, call->adapter, clock_us());
	call->waits = wait_ms > 0;
	engine->loras.waiting[call->adapter] += call->waits;
	if (call->waits)
		connection_sleep(connection, wait_ms);
	return call->waits;
}

static void set_in_model(struct connection *connection, bool in_model)
{
	struct call *call = &connection->call;
	struct loras *loras = &connection->engine->loras;

	if (call->adapter != LORA_NONE && in_model)
		loras_hold(loras, call->adapter);
	else if (call->adapter != LORA_NONE && call->in_model)
		loras_let_go(loras, call->adapter);
	call->in_model = in_model;
}

static void prepare(struct call *call, const struct prompt *prompt, const struct engine *engine)
{
	uint32_t output = engine->options->output_tokens;
	struct span model = prompt->model;

	call->stream = prompt->stream && call->kind != CALL_EMBEDDING;
	call->include_usage = prompt->include_usage;
	call->in_model = call->head_sent = call->limited = false;
	call->prompt_tokens = prompt_tokens(prompt->text);
	call->cached_tokens = call->sent_tokens = 0;
	if (prompt->min_tokens > output)
		output = prompt->min_tokens < 1000000 ? (uint32_t)prompt->min_tokens : 1000000;
	if (prompt->max_tokens > 0 && prompt->max_tokens < output) {
		output = (uint32_t)prompt->max_tokens;
		call->limited = true;
	}
	call->output_tokens = call->kind == CALL_EMBEDDING ? 1 : output;
	call->begun_us = clock_us();
	call->id = ((uint64_t)engine->port << 48) + engine->counts.requests;
	if (!model.at || model.len >= CALL_MODEL_MAX)
		model = (struct span){ "sim", 3 };
	memcpy(call->model, model.at, model.len);
	call->model[model.len] = '\0';
}

static void end(struct connection *connection)
{
	struct engine *engine = connection->engine;
	struct call *call = &connection->call;

	if (call->cut != FAULT_NONE) {
		answer_half(connection);
		connection_hang(connection, call->cut == FAULT_RESET_MID);
		return;
	}
	engine->counts.served++;
	buckets_add(&engine->e2e, (double)(clock_us() - call->begun_us) / 1e6);
	if (call->stream)
		answer_stream_end(connection);
	else
		answer_call(connection);
}

/* One more token; what the client sees of it. */
static void show_token(struct connection *connection)
{
	struct call *call = &connection->call;

	call->sent_tokens++;
	if (!call->stream)
		return;
	if (!call->head_sent)
		answer_stream_head(connection);
	answer_token(connection, call->sent_tokens - 1);
	if (call->cut != FAULT_NONE && call->sent_tokens == call->cut_after)
		connection_hang(connection, call->cut == FAULT_RESET_MID);
}

void call_hears(void *user, const struct engine_event *event)
{
	struct connection *connection = user;
	struct engine *engine = connection->engine;
	struct call *call = &connection->call;
	int64_t now = clock_us();

	if (event->kind == ENGINE_DONE)
		set_in_model(connection, false);
	if (connection->state == CONNECTION_HANGING)
		return;
	if (event->kind == ENGINE_DONE) {
		end(connection);
		return;
	}
	call->cached_tokens = event->cached_tokens;
	if (event->kind == ENGINE_FIRST_TOKEN)
		buckets_add(&engine->ttft, (double)(now - call->begun_us) / 1e6);
	else
		buckets_add(&engine->itl, (double)(now - call->token_us) / 1e6);
	call->token_us = now;
	show_token(connection);
}

/* Without a cost model: all tokens at once. */
static void answer_at_once(struct connection *connection)
{
	struct engine *engine = connection->engine;
	struct call *call = &connection->call;

	engine->counts.prompt_tokens += call->prompt_tokens;
	engine->counts.generated_tokens += call->output_tokens;
	buckets_add(&engine->ttft, 0);
	if (call->stream) {
		while (call->sent_tokens < call->output_tokens &&
		       connection->state == CONNECTION_ANSWERING)
			show_token(connection);
	}
	call->sent_tokens = call->output_tokens;
	if (connection->state == CONNECTION_ANSWERING)
		end(connection);
}

static void enter_model(struct connection *connection, struct span text)
{
	struct engine *engine = connection->engine;
	struct call *call = &connection->call;
	uint32_t block_tokens = engine->options->engine.block_tokens;
	uint32_t count = call->prompt_tokens / block_tokens + 1;
	struct engine_job job = { .prompt_tokens = call->prompt_tokens,
		                  .output_tokens = call->output_tokens,
		                  .computed = connection->prompt == SIDECAR_COMPUTED,
		                  .user = connection };

	if (count > call->blocks_capacity) {
		free(call->blocks);
		call->blocks = calloc(count, sizeof(*call->blocks));
		call->blocks_capacity = call->blocks ? count : 0;
	}
	if (call->blocks) {
		job.blocks = call->blocks;
		job.block_count = prompt_blocks(text, block_tokens, call->blocks);
	}
	engine_catch_up(engine);
	switch (engine_submit(engine, call->rank, &job, &call->ticket)) {
	case ENGINE_ACCEPTED:
		set_in_model(connection, true);
		if (call->stream && !engine->options->headers_late)
			answer_stream_head(connection);
		return;
	case ENGINE_FULL:
		refuse(connection, 503, "Service Unavailable");
		return;
	case ENGINE_TOO_LARGE:
		refuse(connection, 400, "The prompt is longer than the KV cache.");
		return;
	}
}

/* That it names, or that has the least to do. */
static bool finds_rank(struct connection *connection, const struct http_head *head)
{
	struct engine *engine = connection->engine;
	struct span named = http_field_named(head, "x-data-parallel-rank");
	int64_t rank = named.at ? span_number(named) : engine_idlest(engine);

	if (rank < 0 || rank >= engine->options->ranks)
		return false;
	connection->call.rank = (uint32_t)rank;
	engine->counts.by_rank[rank]++;
	return true;
}

static void answer(struct connection *connection, const struct request *request)
{
	struct engine *engine = connection->engine;
	struct prompt prompt;

	if (!prompt_read(request->body, &prompt)) {
		refuse(connection, 400, "The body is not a JSON object.");
		return;
	}
	if (!serves_model(engine->options, prompt.model)) {
		refuse(connection, 404, "The model does not exist.");
		return;
	}
	if (awaits_adapter(connection, prompt.model))
		return;
	if (!finds_rank(connection, request->head)) {
		refuse(connection, 400, "data_parallel_rank is out of range.");
		return;
	}
	prepare(&connection->call, &prompt, engine);
	connection->call.cut_after = (connection->call.output_tokens + 1) / 2;
	if (engine->models[0])
		enter_model(connection, prompt.text);
	else
		answer_at_once(connection);
}

void call_begin(struct connection *connection, const struct request *request, enum call_kind kind)
{
	struct engine *engine = connection->engine;
	struct fault fault = { 0 };

	if (!connection->slept && sidecar_asks(connection, request))
		return;
	if (!connection->slept) {
		engine->counts.requests++;
		remember(engine, request);
		fault = fault_for(connection, request);
	}
	connection->call.kind = kind;
	connection->call.cut = FAULT_NONE;
	engine->counts.failed += fault.kind != FAULT_NONE && fault.kind != FAULT_SLOW;
	switch (fault.kind) {
	case FAULT_STATUS:
		answer_error(connection, fault.status, fault.retry_after, "Simulated fault.");
		return;
	case FAULT_RESET:
		connection_close(connection, true);
		return;
	case FAULT_HANG:
		connection_hang(connection, false);
		return;
	case FAULT_SLOW:
		connection_sleep(connection, fault.delay_ms);
		return;
	case FAULT_RESET_MID:
	case FAULT_HANG_MID:
		connection->call.cut = fault.kind;
		break;
	case FAULT_CLOSE:
	case FAULT_NONE:
		break;
	}
	if (connection->prompt == SIDECAR_FAILED && engine->options->sidecar_strict)
		refuse(connection, 503, "The prefill engine does not answer.");
	else
		answer(connection, request);
	connection->close_after |= fault.kind == FAULT_CLOSE;
}

void call_abort(struct connection *connection)
{
	struct engine *engine = connection->engine;

	wait_no_more(connection);
	if (!connection->call.in_model)
		return;
	engine_catch_up(engine);
	if (connection->call.in_model)
		engine_model_abort(engine->models[connection->call.rank], connection->call.ticket);
	set_in_model(connection, false);
}
