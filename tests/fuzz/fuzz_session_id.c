/* fuzz_session_id.c - whatever a client sends as x-session-id: what is read as an id
 * is written again as it came, and no text leads out of the instance. */
#include <string.h>

#include "policies/defaults.h"
#include "policies/pipeline.h"
#include "policies/state/session_id.h"
#include "policies/strategies.h"
#include "tests/fuzz/fuzz.h"

static void read_and_write(struct span text)
{
	static const struct session_policy by_address = { .format = SESSION_ADDRESS };
	char again[SESSION_ID_MAX];
	struct session_id id;

	if (!session_id_read(text, &id))
		return;
	if (id.opaque) {
		expect(text.len == 16);
		return;
	}
	expect(strlen(id.address) < ADDRESS_MAX_BYTES);
	expect(session_id_write(&by_address, id.address, again) == text.len);
	expect(memcmp(again, text.at, text.len) == 0);
	expect(session_id_names(&by_address, &id, id.address));
}

static struct decider *make_decider(void)
{
	static const struct fleet_limits limits = { 4, 8, 4 };
	static const struct server_fact servers[] = {
		{ TEXT("a"), TEXT("s1"), TEXT("10.0.0.1:8000"), .weight = 1, .up = true },
		{ TEXT("a"), TEXT("s2"), TEXT("10.0.0.2:8000"), .weight = 1, .up = true },
		{ TEXT("b"), TEXT("s3"), TEXT("[::1]:8000"), .weight = 1, .up = true },
	};
	static struct policy policy;
	struct facts *facts;

	policy_default(&policy);
	policy.prefix.max_records = 1024;
	policy.max_inflight = 1024;
	policy.session.max_pins = 1024;
	policy.default_instance.chain[0].strategy =
	        strategy_named((struct span)TEXT("session-affinity"));
	facts = facts_new(&policy, &limits);
	expect(facts != NULL);
	(void)fleet_apply(facts->fleet, 0, servers, 3, SECOND, facts_forget, facts);
	return decider_new(facts, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decider *decider;
	struct request request = { .backend = TEXT("a"), .session_may_be_id = true };
	struct decision decision;

	if (size > SESSION_KEY_MAX)
		size = SESSION_KEY_MAX;
	request.session = (struct span){ (const char *)data, size };
	read_and_write(request.session);
	if (!decider)
		decider = make_decider();
	decider_decide(decider, &request, 2 * SECOND, &decision);
	expect(decision.outcome == OUTCOME_ROUTED && decision.replica != NULL);
	expect(strcmp(decision.instance->name, "a") == 0);
	expect(decision.replica >= decision.instance->replicas &&
	       decision.replica < decision.instance->replicas + 2);
	return 0;
}
