/* route.c - what HAProxy says of a request, and what we answer.
 *
 * Arguments are first kept as they came, by number, and looked at when all are
 * there: their order does not matter then, and what is wrong with one never
 * hides another. The hashes are most of the message, so their names are read
 * rather than looked up. */
#include "spoa/messages/route.h"

#include <string.h>
#include <strings.h>

#include "policies/pipeline.h"
#include "policies/state/session_id.h"
#include "spoa/messages/answer.h"
#include "spoa/messages/arguments.h"

enum {
	SESSION_HEADERS = ROUTE_SESSION9 - ROUTE_SESSION0 + 1,
	DECIMAL_MAX_BYTES = 12,
	SESSION_ID_HEADER = ROUTE_SESSION5 - ROUTE_SESSION0, /* x-session-id, which we set */
};

static const char header_prefix[] = CONTRACT_HEADER;
enum { HEADER_PREFIX_BYTES = sizeof(header_prefix) - 1 };

#define AS_NAME(id, name, ...) { name, sizeof(name) - 1 },
static const struct argument_name names[] = { ROUTE_ARGUMENTS(AS_NAME) };
#undef AS_NAME

struct values {
	struct spop_value of[ROUTE_HASH]; /* zero = NULL */
	uint64_t hashes[LADDER_BLOCKS_MAX];
	uint64_t present; /* bit i: hash i came */
	struct header headers[REQUEST_HEADERS_MAX];
	uint32_t header_count;
};

/* The i of "h<i>", LADDER_BLOCKS_MAX or more if the name is another. */
static uint32_t hash_index(struct spop_text name)
{
	uint32_t tens, ones;

	if (name.length < 2 || name.length > 3 || name.at[0] != 'h')
		return LADDER_BLOCKS_MAX;
	tens = (uint32_t)(unsigned char)name.at[1] - '0';
	if (name.length == 2)
		return tens <= 9 ? tens : LADDER_BLOCKS_MAX;
	ones = (uint32_t)(unsigned char)name.at[2] - '0';
	return tens >= 1 && tens <= 9 && ones <= 9 ? 10 * tens + ones : LADDER_BLOCKS_MAX;
}

static enum spop_error hash_read(struct message_counters *counters, struct spop_input *in,
                                 uint32_t i, struct values *values)
{
	struct spop_value value;
	enum spop_error error = value_read(in, &value);

	if (error != SPOP_NONE)
		return error;
	if (argument_bits(&value, &values->hashes[i]))
		values->present |= (uint64_t)1 << i;
	else if (value.type != SPOP_TYPE_NULL)
		counters->bad_route_arguments[ROUTE_HASH]++;
	return SPOP_NONE;
}

/* "hdr.NAME", which the contract does not list; more than there is room for are lost. */
static bool header_read(struct message_counters *counters, struct spop_text name,
                        const struct spop_value *value, struct values *values)
{
	struct span text;

	if (name.length <= HEADER_PREFIX_BYTES ||
	    memcmp(name.at, header_prefix, HEADER_PREFIX_BYTES) != 0 ||
	    values->header_count == REQUEST_HEADERS_MAX)
		return false;
	if (!argument_text(value, &text))
		counters->bad_route_arguments[ROUTE_AFFINITY]++;
	else if (text.at)
		values->headers[values->header_count++] = (struct header){
			{ name.at + HEADER_PREFIX_BYTES, name.length - HEADER_PREFIX_BYTES }, text
		};
	return true;
}

static enum spop_error values_read(struct message_counters *counters, struct spop_input *in,
                                   uint32_t arguments, struct values *values)
{
	enum spop_error error = SPOP_NONE;
	size_t expected = 0;

	for (uint32_t i = 0; error == SPOP_NONE && i < arguments; i++) {
		struct spop_text name;
		struct spop_value unknown;
		uint32_t hash;

		error = spop_text_read(in, &name);
		if (error != SPOP_NONE)
			break;
		hash = hash_index(name);
		if (hash < LADDER_BLOCKS_MAX) {
			error = hash_read(counters, in, hash, values);
			continue;
		}
		expected = argument_find(names, ROUTE_HASH, name, expected);
		/* Read in its place: this is the bulk of all decoding. */
		error = value_read(in, expected < ROUTE_HASH ? &values->of[expected] : &unknown);
		if (expected == ROUTE_HASH && error == SPOP_NONE &&
		    !header_read(counters, name, &unknown, values))
			counters->unknown_arguments++;
		expected++;
	}
	return error;
}

static struct span text_at(struct message_counters *counters, const struct values *values,
                           enum route_argument argument)
{
	struct span text;

	if (!argument_text(&values->of[argument], &text))
		counters->bad_route_arguments[argument]++;
	return text;
}

static bool number_at(struct message_counters *counters, const struct values *values,
                      enum route_argument argument, uint64_t *ret_number)
{
	if (argument_number(&values->of[argument], ret_number))
		return true;
	if (values->of[argument].type != SPOP_TYPE_NULL)
		counters->bad_route_arguments[argument]++;
	return false;
}

/* A hash of the credential comes as a number; it is named by its 16 hex digits. */
static struct span tenant_of(struct message_counters *counters, const struct values *values,
                             char text[TENANT_TEXT_BYTES])
{
	uint64_t bits;

	if (!argument_bits(&values->of[ROUTE_TENANT], &bits))
		return text_at(counters, values, ROUTE_TENANT);
	for (int i = TENANT_TEXT_BYTES; i-- > 0; bits >>= 4)
		text[i] = "0123456789abcdef"[bits & 0xf];
	return (struct span){ text, TENANT_TEXT_BYTES };
}

/* Header names know no capitals. */
static bool is_header(const char *name, struct span text)
{
	return strlen(name) == text.len && strncasecmp(name, text.at, text.len) == 0;
}

static struct span other_header(const struct values *values, const char *name)
{
	for (uint32_t i = 0; i < values->header_count; i++)
		if (is_header(name, values->headers[i].name))
			return values->headers[i].value;
	return (struct span){ NULL, 0 };
}

/* The first of the policy's list that came. A value too long for a key is as good
 * as not sent: cut, it would be somebody else's, too. */
static void session_read(struct message_context *context, const struct values *values,
                         struct request *request)
{
	const struct session_policy *policy = &context->facts->policy->session;
	struct span texts[SESSION_HEADERS];

	for (unsigned int i = 0; i < SESSION_HEADERS; i++)
		texts[i] = text_at(&context->counters, values, ROUTE_SESSION0 + i);
	for (uint32_t i = 0; i < policy->header_count; i++) {
		const struct session_header *header = &policy->headers[i];
		struct span text = header->argument < SESSION_HEADERS
		                           ? texts[header->argument]
		                           : other_header(values, header->name);

		if (text.len == 0 || text.len > SESSION_KEY_MAX)
			continue;
		request->session = text;
		request->session_may_be_id = header->argument == SESSION_ID_HEADER;
		return;
	}
}

/* A header; some clients send words. */
static uint32_t retries_of(struct message_counters *counters, const struct values *values)
{
	struct span text = text_at(counters, values, ROUTE_RETRY);
	uint32_t count = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint32_t digit = (uint32_t)(unsigned char)text.at[i] - '0';

		if (digit > 9 || i >= 6) {
			counters->bad_route_arguments[ROUTE_RETRY]++;
			return 0;
		}
		count = 10 * count + digit;
	}
	return count;
}

/* A header: a number, with a fraction or without. 0 when there is none. */
static double decimal_of(struct message_counters *counters, const struct values *values,
                         enum route_argument argument)
{
	struct span text = text_at(counters, values, argument);
	double number = 0, place = 1;
	bool fraction = false;

	for (size_t i = 0; i < text.len; i++) {
		uint32_t digit = (uint32_t)(unsigned char)text.at[i] - '0';

		if (text.at[i] == '.' && !fraction && i > 0) {
			fraction = true;
			continue;
		}
		if (digit > 9 || i >= DECIMAL_MAX_BYTES) {
			counters->bad_route_arguments[argument]++;
			return 0;
		}
		place = fraction ? place / 10 : 1;
		number = fraction ? number + digit * place : 10 * number + digit;
	}
	return number;
}

/* Hashes by another ladder than ours describe other bytes. */
static uint32_t hashes_of(struct message_context *context, const struct values *values,
                          uint64_t *ret_hashes)
{
	const struct ladder *ladder = &context->facts->policy->ladder;
	struct span id = text_at(&context->counters, values, ROUTE_LADDER);
	uint32_t count = values->present == UINT64_MAX
	                         ? LADDER_BLOCKS_MAX
	                         : (uint32_t)__builtin_ctzll(~values->present);

	if (id.len != strlen(ladder->id) || (id.at && memcmp(id.at, ladder->id, id.len) != 0)) {
		context->facts->counters->foreign_ladder += id.at || values->present != 0;
		return 0;
	}
	if (count > ladder->count)
		count = ladder->count;
	memcpy(ret_hashes, values->hashes, count * sizeof(values->hashes[0]));
	return count;
}

static void body_read(struct message_counters *counters, const struct values *values,
                      struct request *request)
{
	(void)number_at(counters, values, ROUTE_BODY_BYTES, &request->body_bytes);
	request->body_total = request->body_bytes;
	if (number_at(counters, values, ROUTE_BODY_TOTAL, &request->body_total) &&
	    request->body_total < request->body_bytes)
		request->body_total = request->body_bytes;
	request->has_prompt =
	        number_at(counters, values, ROUTE_PROMPT_BYTES, &request->prompt_bytes);
}

/* Those that were asked for by name, and the one that always is. */
static void headers_read(struct message_counters *counters, const struct values *values,
                         struct request *request)
{
	static const char always[] = "x-infer-affinity";
	struct span text = text_at(counters, values, ROUTE_AFFINITY);

	request->header_count = values->header_count;
	memcpy(request->headers, values->headers,
	       values->header_count * sizeof(values->headers[0]));
	if (text.at && request->header_count < REQUEST_HEADERS_MAX)
		request->headers[request->header_count++] =
		        (struct header){ { always, sizeof(always) - 1 }, text };
}

/* Words of another contract may mean something else: only what a decision by
 * load needs is believed. */
static void believe_load_only(struct message_context *context, struct request *request)
{
	context->facts->counters->bad_contract++;
	request->hash_count = 0;
	request->session = request->strategy = request->exclude = request->priority =
	        (struct span){ NULL, 0 };
	request->objectives = (struct objectives){ 0 };
}

static void request_fill(struct message_context *context, const struct values *values,
                         struct route *route)
{
	struct message_counters *counters = &context->counters;
	struct request *request = &route->request;
	struct span trusted = text_at(counters, values, ROUTE_STRATEGY);
	struct span any = text_at(counters, values, ROUTE_ROUTING_STRATEGY);
	uint64_t version;

	request->id = text_at(counters, values, ROUTE_ID);
	counters->bad_route_arguments[ROUTE_ID] += values->of[ROUTE_ID].type == SPOP_TYPE_NULL;
	request->backend = text_at(counters, values, ROUTE_BACKEND);
	request->method = text_at(counters, values, ROUTE_METHOD);
	request->host = text_at(counters, values, ROUTE_HOST);
	request->path = text_at(counters, values, ROUTE_PATH);
	request->model = text_at(counters, values, ROUTE_MODEL);
	request->client_id = text_at(counters, values, ROUTE_CLIENT_ID);
	request->tenant = tenant_of(counters, values, route->tenant);
	session_read(context, values, request);
	request->strategy = trusted.at ? trusted : any;
	request->priority = text_at(counters, values, ROUTE_PRIORITY);
	request->objectives.ttft_ms = decimal_of(counters, values, ROUTE_SLO_TTFT);
	request->objectives.tpot_ms = decimal_of(counters, values, ROUTE_SLO_TPOT);
	request->objectives.e2e_ms = decimal_of(counters, values, ROUTE_SLO_E2E);
	request->exclude = text_at(counters, values, ROUTE_EXCLUDE);
	request->retry_count = retries_of(counters, values);
	request->patience_ms = 1000 * decimal_of(counters, values, ROUTE_TIMEOUT);
	headers_read(counters, values, request);
	body_read(counters, values, request);
	request->hash_count = hashes_of(context, values, request->hashes);
	if (!number_at(counters, values, ROUTE_VERSION, &version) || version != CONTRACT_VERSION)
		believe_load_only(context, request);
}

enum spop_error route_read(struct message_context *context, struct spop_input *in,
                           uint32_t arguments, struct route *ret_route)
{
	struct spop_input rest = *in;
	struct values values;
	enum spop_error error;

	/* Hashes count only where their bit is set: no need to clear them. */
	memset(values.of, 0, sizeof(values.of));
	values.present = values.header_count = 0;
	error = values_read(&context->counters, &rest, arguments, &values);
	if (error != SPOP_NONE)
		return error;
	memset(&ret_route->request, 0, offsetof(struct request, hashes));
	request_fill(context, &values, ret_route);
	*in = rest;
	return SPOP_NONE;
}

struct span route_run(struct message_context *context, const struct route *route,
                      struct spop_output *out)
{
	const struct request *request = &route->request;
	struct decision decision;
	usec_t began = context->now();

	decider_decide(context->decider, request, began, &decision);
	if (context->on_decision)
		context->on_decision(context->data, request, &decision, context->now() - began);
	answer_write(out, &decision, request->source, context->observe);
	return decision.slot && !context->observe ? request->id : (struct span){ NULL, 0 };
}
