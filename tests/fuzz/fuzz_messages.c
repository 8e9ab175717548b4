/* fuzz_messages.c - the payload of a NOTIFY, as both messages at once: whatever
 * comes, spans lie inside it, and reading takes all or nothing. */
#include <string.h>

#include "policies/state/facts.h"
#include "spoa/messages/response.h"
#include "spoa/messages/route.h"
#include "tests/fuzz/fuzz.h"

static void inside(struct span text, const void *from, size_t size)
{
	const char *at = from;

	expect(!text.at || (text.at >= at && text.at + text.len <= at + size));
}

static void read_route(struct message_context *context, struct spop_input in, uint32_t arguments)
{
	const uint8_t *start = in.at;
	size_t size = (size_t)(in.end - start);
	struct route route;

	if (route_read(context, &in, arguments, &route) != SPOP_NONE) {
		expect(in.at == start);
		return;
	}
	inside(route.request.id, start, size);
	inside(route.request.model, start, size);
	inside(route.request.session, start, size);
	inside(route.request.strategy, start, size);
	expect(route.request.hash_count <= 32);
	expect(route.request.session.len <= 256);
	expect(route.request.body_total >= route.request.body_bytes);
	if (route.request.tenant.at == route.tenant)
		inside(route.request.tenant, route.tenant, sizeof(route.tenant));
	else
		inside(route.request.tenant, start, size);
}

static void read_response(struct message_context *context, struct spop_input in, uint32_t arguments)
{
	const uint8_t *start = in.at;
	size_t size = (size_t)(in.end - start);
	struct response response;

	if (response_read(context, &in, arguments, &response) != SPOP_NONE) {
		expect(in.at == start);
		return;
	}
	inside(response.event.id, start, size);
	inside(response.event.by.server, start, size);
	inside(response.event.by.address, response.address, sizeof(response.address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct counters counters;
	static struct policy policy;
	struct facts facts = { .policy = &policy, .counters = &counters };
	struct message_context context = { .facts = &facts };
	struct spop_input in = { data, data + size };
	struct notify_message message;

	memcpy(policy.ladder.id, LADDER_DEFAULT, sizeof(LADDER_DEFAULT));
	policy.ladder.count = 32;
	policy.session.header_count = 10;
	for (uint32_t i = 0; i < 10; i++)
		policy.session.headers[i].argument = i;
	if (notify_read_message(&in, &message) != SPOP_NONE)
		return 0;
	read_route(&context, in, message.arguments);
	read_response(&context, in, message.arguments);
	return 0;
}
