/* fuzz_server_weight.c - whatever comes where HAProxy asks for the weight of a server: only the
 * names and addresses that there are have an answer, and it is one that HAProxy takes. */
#include <stdio.h>
#include <string.h>

#include "policies/defaults.h"
#include "spoa/observe/server_weight.h"
#include "tests/fuzz/fuzz.h"

static const struct server_fact servers[] = {
	{ TEXT("a"), TEXT("s1"), TEXT("10.0.0.1:8000"), .weight = 100, .up = true },
	{ TEXT("a"), TEXT("s2"), TEXT("10.0.0.2:8000"), .weight = 100, .up = true },
	{ TEXT("b"), TEXT("s1"), TEXT("[::1]:8000"), .weight = 100, .up = true },
};

static struct facts *make_facts(void)
{
	static const struct fleet_limits limits = { 4, 8, 4 };
	static struct policy policy;
	struct engine_page page = engine_page_blank(SECOND);
	const struct target *target;
	struct facts *facts;

	policy_default(&policy);
	policy.prefix.max_records = 1024;
	policy.max_inflight = 1024;
	policy.session.max_pins = 1024;
	facts = facts_new(&policy, &limits);
	expect(facts != NULL);
	(void)fleet_apply(facts->fleet, 0, servers, 3, SECOND, facts_forget, facts);
	target = fleet_target_at(facts->fleet, servers[0].address);
	expect(target != NULL);
	page.max_sequences = 64;
	engines_put(facts->engines, target->id, &page);
	fleet_hold(facts->fleet, fleet_target_at(facts->fleet, servers[1].address)->id, true);
	return facts;
}

static int is(struct span line, const char *text)
{
	return strlen(text) == line.len && memcmp(text, line.at, line.len) == 0;
}

/* What that line has for an answer; NULL: nothing is known by that name. */
static const char *answer_of(struct span line)
{
	static const char *const answers[] = { "up 100% maxconn:64\n", "drain\n", "up 100%\n" };
	char name[32];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(name, sizeof(name), "%.*s/%.*s", (int)servers[i].backend.len,
		               servers[i].backend.at, (int)servers[i].server.len,
		               servers[i].server.at);
		if (is(line, name) || is(line, servers[i].address.at))
			return answers[i];
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct facts *facts;
	static struct server_weights *weights;
	const struct span line = { (const char *)data, size };
	const char *expected = answer_of(line);
	char answer[SERVER_WEIGHT_ANSWER_MAX];
	size_t length = 0;
	enum server_answer how;

	if (!facts) {
		facts = make_facts();
		weights = server_weights_new(fleet_targets_max(facts->fleet));
		expect(weights != NULL);
	}
	how = server_weight_answer(weights, facts, line, SECOND, answer, &length);
	expect((how == SERVER_UNKNOWN) == !expected);
	if (!expected)
		expected = "\n";
	expect(length == strlen(expected) && memcmp(answer, expected, length) == 0);
	return 0;
}
