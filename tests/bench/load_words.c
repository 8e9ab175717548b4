/* load_words.c - writes them by the contract's own lists, so that they cannot drift from it. */
#include "tests/bench/load_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spoa/messages/contract.h"

#define AS_ENUM(id, ...) ROUTE_##id,
enum { ROUTE_ARGUMENTS(AS_ENUM) ROUTE_COUNT };
#undef AS_ENUM
#define AS_ENUM(id, ...) FIRST_##id,
enum { FIRST_ARGUMENTS(AS_ENUM) FIRST_COUNT };
#undef AS_ENUM

#define AS_NAME(id, name, ...) (name),
static const char *const route_names[] = { ROUTE_ARGUMENTS(AS_NAME) };
static const char *const first_names[] = { FIRST_ARGUMENTS(AS_NAME) };
#undef AS_NAME

static struct spop_value word(const char *text)
{
	return value_string(text_of(text));
}

/* Headers that a usual client sends; all others are NULL, as HAProxy sends what it does not find.
 */
static void fill_route(struct spop_value values[ROUTE_COUNT], const struct ladder *ladder,
                       const struct load_request *request)
{
	memset(values, 0, ROUTE_COUNT * sizeof(values[0]));
	values[ROUTE_VERSION] = value_int64(CONTRACT_VERSION);
	values[ROUTE_ID] = word(request->id);
	values[ROUTE_METHOD] = word("POST");
	values[ROUTE_HOST] = word("127.0.0.1:8080");
	values[ROUTE_PATH] = word("/v1/chat/completions");
	values[ROUTE_MODEL] = word("sim");
	values[ROUTE_TENANT] = value_int64(0x1c0ffee5eed);
	values[ROUTE_BODY_BYTES] = value_int64(request->prompt_bytes + 64);
	values[ROUTE_BODY_TOTAL] = value_int64(request->prompt_bytes + 64);
	values[ROUTE_PROMPT_BYTES] = value_int64(request->prompt_bytes);
	values[ROUTE_LADDER] = word(ladder->id);
}

bool load_words_route(struct spop_output *out, uint64_t stream, const struct ladder *ladder,
                      const struct load_request *request)
{
	struct spop_output rest = *out;
	struct spop_value values[ROUTE_COUNT];
	uint8_t *mark;

	fill_route(values, ladder, request);
	if (!frame_begin(&rest, FRAME_HAPROXY_NOTIFY, stream, 1, &mark) ||
	    !notify_write_message(&rest, CONTRACT_ROUTE, ROUTE_COUNT + ladder->count))
		return false;
	for (int i = 0; i < ROUTE_COUNT; i++) {
		if (!pair_write(&rest, route_names[i], &values[i]))
			return false;
	}
	for (uint32_t i = 0; i < ladder->count; i++) {
		struct spop_value hash = value_int64((int64_t)request->hashes[i]);
		char name[16];

		(void)snprintf(name, sizeof(name), "h%u", i);
		if (!pair_write(&rest, name, &hash))
			return false;
	}
	frame_end(&rest, mark);
	*out = rest;
	return true;
}

bool load_words_first(struct spop_output *out, uint64_t stream, const struct load_request *request)
{
	struct spop_output rest = *out;
	struct spop_value values[FIRST_COUNT] = {
		[FIRST_VERSION] = value_int64(CONTRACT_VERSION),
		[FIRST_ID] = word(request->id),
		[FIRST_BACKEND] = word(request->instance),
		[FIRST_SERVER] = word(request->replica),
		[FIRST_ADDRESS] = { .type = SPOP_TYPE_IPV4, .address = { 127, 0, 0, 1 } },
		[FIRST_PORT] = value_int64(request->port),
		[FIRST_STATUS] = value_int64(200),
	};
	uint8_t *mark;

	if (!frame_begin(&rest, FRAME_HAPROXY_NOTIFY, stream, 2, &mark) ||
	    !notify_write_message(&rest, CONTRACT_FIRST, FIRST_COUNT))
		return false;
	for (int i = 0; i < FIRST_COUNT; i++) {
		if (!pair_write(&rest, first_names[i], &values[i]))
			return false;
	}
	frame_end(&rest, mark);
	*out = rest;
	return true;
}

int load_words_end(char ret_line[LOAD_LINE_MAX], const struct load_request *request)
{
	return snprintf(ret_line, LOAD_LINE_MAX,
	                CONTRACT_END_PREFIX
	                "ev=end id=%s hp=load/1 be=%s srv=%s addr=127.0.0.1:%u st=200 ts=---- rc=0 "
	                "in=%s re=%s ac=route why=%s err=- pt=0 t0=1764460000000 t1=1764460000020 "
	                "ra=- Tw=0 Tc=0 Tr=20 Td=80 Ta=101 U=%u B=23456 sq=0 bq=0",
	                request->id, request->instance, request->replica, request->port,
	                request->instance, request->replica, request->reason,
	                request->prompt_bytes + 300);
}
