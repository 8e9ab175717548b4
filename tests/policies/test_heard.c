/* test_heard.c - what one agent learns, and another hears of; and that nothing of what is heard is
 * told again. Proves R050, R055, R162, B043, P072. */
#include "policies/heard.h"

#include <math.h>

#include "policies/ejection.h"
#include "policies/feedback.h"
#include "policies/usage.h"
#include "tests/policies/world.h"

/* What was told last, and how often. */
static struct {
	int bound, evicted, forgotten, pinned, ejected, recovered;
	uint32_t target, from, to, blocks;
	uint64_t chain[LADDER_BLOCKS_MAX];
	char ladder[LADDER_TEXT_MAX];
	struct pin_key key;
	usec_t length;
} told;

static void keep_chain(uint32_t holder, const uint64_t *chain, uint32_t blocks,
                       const struct ladder *ladder)
{
	told.target = holder;
	told.blocks = blocks;
	memcpy(told.chain, chain, blocks * sizeof(*chain));
	memcpy(told.ladder, ladder->id, sizeof(told.ladder));
}

static void on_bound(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                     const struct ladder *ladder)
{
	(void)data;
	told.bound++;
	keep_chain(holder, chain, blocks, ladder);
}

static void on_evicted(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                       const struct ladder *ladder)
{
	(void)data;
	told.evicted++;
	keep_chain(holder, chain, blocks, ladder);
}

static void on_forgotten(void *data, uint32_t target)
{
	(void)data;
	told.forgotten++;
	told.target = target;
}

static void on_pinned(void *data, const struct pin_key *key, uint32_t from, uint32_t to)
{
	(void)data;
	told.pinned++;
	told.key = *key;
	told.from = from;
	told.to = to;
}

static void on_ejected(void *data, uint32_t target, usec_t length)
{
	(void)data;
	told.ejected++;
	told.target = target;
	told.length = length;
}

static void on_recovered(void *data, uint32_t target)
{
	(void)data;
	told.recovered++;
	told.target = target;
}

static const struct share_calls calls = { on_bound,  on_evicted, on_forgotten,
	                                  on_pinned, on_ejected, on_recovered };
static const struct share share = { .calls = &calls };

/* Who tells, and who hears; of one fleet. */
static struct world *teller, *hearer;

static int set_up(void **state)
{
	(void)state;
	memset(&told, 0, sizeof(told));
	teller = world_new(1, 4);
	hearer = world_new(1, 4);
	teller->facts->share = hearer->facts->share = &share;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	world_free(teller);
	world_free(hearer);
	return 0;
}

static uint32_t id_of(const struct world *world, const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

static void assert_nothing_told(void)
{
	assert_int_equal(told.bound + told.evicted + told.forgotten + told.pinned + told.ejected +
	                         told.recovered,
	                 0);
}

static struct heard_chain heard_chain(void)
{
	return (struct heard_chain){ .holder = told.target,
		                     .chain = told.chain,
		                     .blocks = told.blocks,
		                     .ladder = SPAN(told.ladder) };
}

static void first_byte(struct world *world, const char *server)
{
	struct first_byte event = { .id = SPAN(world->id), .status = 200 };

	event.by = (struct served){ .backend = SPAN("a"), .server = SPAN(server) };
	(void)feedback_first_byte(world->facts, &event, world->now);
}

static void a_good_answer_is_told_and_its_prompt_is_sent_there_by_another(void **state)
{
	struct request request = world_ask_long(teller, 30000, 30000, 1, 2);
	struct decision decision = world_decide(teller, request);
	const char *server = server_of(&decision);
	struct heard_chain heard;

	(void)state;
	assert_int_equal(told.bound, 0); /* not before it is confirmed */
	first_byte(teller, server_of(&decision));
	assert_int_equal(told.bound, 1);
	assert_int_equal(told.target, decision.replica->target->id);
	heard = heard_chain();
	memset(&told, 0, sizeof(int) * 6);
	assert_true(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	assert_nothing_told();
	for (int i = 0; i < 3; i++) {
		request = world_ask_long(hearer, 30000, 30000, 1, 2);
		decision = world_decide(hearer, request);
		expect_server(&decision, server);
		world_end(hearer, SPAN(hearer->id));
	}
}

static void a_chain_of_another_ladder_is_left_out(void **state)
{
	uint64_t chain[LADDER_BLOCKS_MAX] = { 1, 2, 3 };
	struct heard_chain heard = { id_of(hearer, "s1"), chain, 3, SPAN("4x2k") };
	const char *own = hearer->policy.ladder.id;

	(void)state;
	assert_false(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	assert_false(heard_evicted(hearer->facts, &heard, hearer->now, hearer->now));
	heard.ladder = (struct span){ own, strlen(own) - 1 };
	assert_false(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	heard.ladder = SPAN(own);
	heard.blocks = 0;
	assert_false(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	heard.blocks = hearer->policy.ladder.count + 1;
	assert_false(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	heard.blocks = 3;
	assert_true(heard_bound(hearer->facts, &heard, hearer->now, hearer->now));
	assert_int_equal(prefix_index_held(hearer->facts->prefix, heard.holder), 3);
	assert_true(heard_evicted(hearer->facts, &heard, hearer->now, hearer->now));
	assert_int_equal(prefix_index_held(hearer->facts->prefix, heard.holder), 0);
	assert_nothing_told();
}

static void fail_after_first_byte(struct world *world)
{
	struct stream_end end = {
		.id = SPAN(world->id), .status = 200, .routed = true, .applied = true
	};

	end.termination[0] = 'S';
	end.termination[1] = 'D';
	end.by = (struct served){ .backend = SPAN("a"), .server = SPAN("s1") };
	(void)feedback_end(world->facts, &end, world->now);
}

static void a_cut_answer_is_told_as_an_eviction(void **state)
{
	struct request request;
	struct decision decision;

	(void)state;
	world_busy(teller, "a", "s2", 5);
	world_busy(teller, "a", "s3", 5);
	world_busy(teller, "a", "s4", 5);
	request = world_ask_long(teller, 30000, 30000, 1, 2);
	decision = world_decide(teller, request);
	expect_server(&decision, "s1");
	first_byte(teller, server_of(&decision));
	fail_after_first_byte(teller);
	assert_int_equal(told.evicted, 1);
	assert_int_equal(told.target, id_of(teller, "s1"));
	assert_true(told.blocks > 0);
}

static void a_restart_is_told_and_forgets_bindings_and_pins(void **state)
{
	uint64_t chain[1] = { 9 };
	uint32_t s1 = id_of(hearer, "s1");
	struct heard_chain heard = { s1, chain, 1, SPAN(hearer->policy.ladder.id) };
	struct pin_entry claim = { TARGET_NONE, s1, false };
	struct pin_key key = { 1, 1 };
	struct pin pin;
	usec_t now = hearer->now;

	(void)state;
	facts_engine_restarted(teller->facts, id_of(teller, "s1"), teller->now);
	assert_int_equal(told.forgotten, 1);
	told.forgotten = 0;
	assert_true(heard_bound(hearer->facts, &heard, now, now));
	assert_true(heard_pinned(hearer->facts, key, &claim, now, now));
	assert_true(heard_forgotten(hearer->facts, s1, now, now));
	assert_int_equal(prefix_index_held(hearer->facts->prefix, s1), 0);
	assert_false(pins_find(hearer->facts->sessions, key, now, &pin));
	assert_true(heard_pinned(hearer->facts, key, &claim, now, now));
	assert_false(heard_forgotten(hearer->facts, s1, now + SECOND, now + SECOND));
	assert_true(pins_find(hearer->facts->sessions, key, now, &pin));
	assert_nothing_told();
}

static void fails(struct world *world, const char *server, int times)
{
	static uint64_t prompt = 1;

	for (int i = 0; i < times; i++)
		ejection_note(world->facts,
		              &(struct report){ .target = id_of(world, server),
		                                .class = CLASS_FAILURE,
		                                .prompt = ++prompt,
		                                .tenant = 1 },
		              world->now);
}

static enum health_state state_of(const struct world *world, const char *server)
{
	return health_state(world->facts->health, id_of(world, server), world->now);
}

static void an_ejection_is_told_with_its_length(void **state)
{
	(void)state;
	fails(teller, "s1", 4);
	assert_int_equal(told.ejected, 0);
	fails(teller, "s1", 1);
	assert_int_equal(told.ejected, 1);
	assert_int_equal(told.target, id_of(teller, "s1"));
	assert_int_equal(told.length, teller->policy.health.ejection);
}

static void who_is_ejected_elsewhere_is_ejected_here_for_what_is_left(void **state)
{
	uint32_t s1 = id_of(hearer, "s1");
	usec_t now = hearer->now;

	(void)state;
	hearer->policy.health.probe = false;
	assert_false(heard_ejected(hearer->facts, s1, 10 * SECOND, now - 10 * SECOND, now));
	assert_true(heard_ejected(hearer->facts, s1, 10 * SECOND, now - 4 * SECOND, now));
	assert_int_equal(state_of(hearer, "s1"), HEALTH_EJECTED);
	assert_int_equal(hearer->facts->counters->of[s1].ejections[EJECT_PEER], 1);
	assert_false(heard_ejected(hearer->facts, s1, 60 * SECOND, now, now));
	hearer->now += 6 * SECOND - 1;
	assert_int_equal(state_of(hearer, "s1"), HEALTH_EJECTED);
	hearer->now += 1;
	assert_int_equal(state_of(hearer, "s1"), HEALTH_HALF_OPEN);
	assert_nothing_told();
}

static void nobody_is_ejected_for_longer_than_the_policy_has_it(void **state)
{
	uint32_t s1 = id_of(hearer, "s1");

	(void)state;
	hearer->policy.health.probe = false;
	assert_true(heard_ejected(hearer->facts, s1, UINT64_MAX, hearer->now, hearer->now));
	hearer->now += hearer->policy.health.ejection_max;
	assert_int_equal(state_of(hearer, "s1"), HEALTH_HALF_OPEN);
}

static void others_eject_no_more_than_half(void **state)
{
	static const char *const servers[] = { "s1", "s2", "s3", "s4" };
	int out = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(servers); i++)
		out += heard_ejected(hearer->facts, id_of(hearer, servers[i]), 10 * SECOND,
		                     hearer->now, hearer->now);
	assert_int_equal(out, 2);
	assert_int_equal(state_of(hearer, "s3"), HEALTH_UP);
	assert_int_equal(hearer->facts->counters->of[world_instance(hearer, "a")->target->id]
	                         .ejections_refused,
	                 2);
}

static void a_recovery_elsewhere_ends_what_began_elsewhere(void **state)
{
	uint32_t s1 = id_of(hearer, "s1");

	(void)state;
	assert_false(heard_recovered(hearer->facts, s1, hearer->now));
	assert_true(heard_ejected(hearer->facts, s1, 10 * SECOND, hearer->now, hearer->now));
	assert_true(heard_recovered(hearer->facts, s1, hearer->now));
	assert_int_equal(state_of(hearer, "s1"), HEALTH_RAMP);
	assert_true(health_takes(hearer->facts->health, s1, hearer->now));
	assert_false(heard_recovered(hearer->facts, s1, hearer->now));
	assert_nothing_told();
	/* What we found out ourselves stays. */
	fails(hearer, "s1", 5);
	assert_false(heard_recovered(hearer->facts, s1, hearer->now));
	assert_int_equal(state_of(hearer, "s1"), HEALTH_EJECTED);
}

static void trials(struct world *world, const char *server, enum outcome_class class, int times)
{
	uint32_t target = id_of(world, server);

	for (int i = 0; i < times; i++) {
		uint32_t trial = health_trial_begin(world->facts->health, target, world->now);

		assert_int_not_equal(trial, 0);
		ejection_note(world->facts,
		              &(struct report){ .target = target, .class = class, .trial = trial },
		              world->now);
		health_trial_over(world->facts->health, target, trial, false);
	}
}

static void a_recovery_of_our_own_is_told_if_the_ejection_was(void **state)
{
	(void)state;
	teller->policy.health.probe = hearer->policy.health.probe = false;
	fails(teller, "s1", 5);
	assert_true(heard_ejected(hearer->facts, id_of(hearer, "s1"), 10 * SECOND, hearer->now,
	                          hearer->now));
	teller->now += 10 * SECOND;
	hearer->now += 10 * SECOND;
	trials(hearer, "s1", CLASS_OK, hearer->policy.health.trial_successes);
	assert_int_equal(state_of(hearer, "s1"), HEALTH_RAMP);
	assert_int_equal(told.recovered, 0);
	trials(teller, "s1", CLASS_OK, teller->policy.health.trial_successes);
	assert_int_equal(told.recovered, 1);
	assert_int_equal(told.target, id_of(teller, "s1"));
}

static void a_failed_trial_makes_a_heard_ejection_our_own(void **state)
{
	uint32_t s1 = id_of(hearer, "s1");

	(void)state;
	hearer->policy.health.probe = false;
	assert_true(heard_ejected(hearer->facts, s1, 10 * SECOND, hearer->now, hearer->now));
	hearer->now += 10 * SECOND;
	trials(hearer, "s1", CLASS_FAILURE, 1);
	assert_int_equal(state_of(hearer, "s1"), HEALTH_EJECTED);
	assert_int_equal(told.ejected, 1);
	assert_int_equal(told.length, hearer->policy.health.ejection);
	assert_false(heard_recovered(hearer->facts, s1, hearer->now));
}

static struct decision ask_in_session(struct world *world, const char *session)
{
	struct request request = world_ask(world);

	request.session = SPAN(session);
	return world_decide(world, request);
}

static void a_session_is_pinned_for_all(void **state)
{
	struct pin_entry entry;
	struct decision decision, other;

	(void)state;
	world_strategy(teller, "session-affinity");
	world_strategy(hearer, "session-affinity");
	world_decider(teller, 1);
	world_decider(hearer, 2);
	decision = ask_in_session(teller, "anna");
	assert_int_equal(told.pinned, 1);
	assert_int_equal(told.from, TARGET_NONE);
	assert_int_equal(told.to, decision.replica->target->id);
	(void)ask_in_session(teller, "anna");
	assert_int_equal(told.pinned, 1);
	/* A session that has moved is not where its hash says: the pin must be heard. */
	entry = (struct pin_entry){ TARGET_NONE,
		                    told.to == id_of(hearer, "s1") ? id_of(hearer, "s2")
		                                                   : id_of(hearer, "s1"),
		                    false };
	assert_true(heard_pinned(hearer->facts, told.key, &entry, hearer->now, hearer->now));
	told.pinned = 0;
	other = ask_in_session(hearer, "anna");
	assert_int_equal(other.replica->target->id, entry.to);
	assert_nothing_told();
	/* Used again after long, which is told. */
	hearer->now += hearer->policy.session.ttl / 8;
	(void)ask_in_session(hearer, "anna");
	assert_int_equal(told.pinned, 1);
	assert_int_equal(told.from, entry.to);
	assert_int_equal(told.to, entry.to);
}

/* Without any store: the hash alone, on all agents alike. */
static void agents_that_share_nothing_choose_alike_for_new_sessions(void **state)
{
	(void)state;
	teller->facts->share = hearer->facts->share = NULL;
	world_strategy(teller, "session-affinity");
	world_strategy(hearer, "session-affinity");
	world_decider(teller, 1);
	world_decider(hearer, 2);
	for (int i = 0; i < 50; i++) {
		char session[16];
		struct decision one, other;

		(void)snprintf(session, sizeof(session), "s-%d", i);
		one = ask_in_session(teller, session);
		world_end(teller, SPAN(teller->id));
		other = ask_in_session(hearer, session);
		world_end(hearer, SPAN(hearer->id));
		assert_string_equal(server_of(&one), server_of(&other));
	}
}

static void an_average_is_a_hint_where_we_know_nothing(void **state)
{
	struct latency *latency = averages_of(hearer->facts->averages, id_of(hearer, "s1"));
	usec_t now = hearer->now;
	double value;

	(void)state;
	heard_averages(hearer->facts, id_of(hearer, "s1"), 400, -1, now);
	assert_true(average_plain(&latency->ttft_ms, now, &value) && value == 400);
	assert_false(average_plain(&latency->e2e_ms, now, &value));
	assert_false(average_trusted(&latency->ttft_ms, now));
	heard_averages(hearer->facts, id_of(hearer, "s1"), 900, 1000, now);
	assert_true(average_plain(&latency->ttft_ms, now, &value) && value == 400);
	average_add(&latency->ttft_ms, 100, 30 * SECOND, now);
	assert_true(average_plain(&latency->ttft_ms, now, &value) && fabs(value - 100) < 15);
	assert_true(average_trusted(&latency->ttft_ms, now));
	heard_averages(hearer->facts, id_of(hearer, "s2"), (double)NAN, (double)INFINITY, now);
	heard_averages(hearer->facts, id_of(hearer, "s2"), 1e12, 0, now);
	latency = averages_of(hearer->facts->averages, id_of(hearer, "s2"));
	assert_false(average_plain(&latency->ttft_ms, now, &value));
	assert_false(average_plain(&latency->e2e_ms, now, &value));
}

static void a_limit_counts_only_if_our_policy_has_it(void **state)
{
	struct tenant_policy tenant = { .name = "anna", .weight = 1 };
	struct limit_use use = {
		.of = LIMIT_OF_TENANT, .tenant = "anna", .model = "", .used = { 3, 0 }
	};
	usec_t now = hearer->now;

	(void)state;
	use.key = limits_key(LIMIT_OF_TENANT, SPAN("anna"), (struct span){ NULL, 0 });
	heard_limit(hearer->facts, 1, &use, now, now);
	assert_int_equal(limits_count(hearer->facts->limits), 0);
	tenant.quota.requests = (struct rate){ 1, 1 };
	tenant.quota.requests_burst = 5;
	hearer->policy.tenants = &tenant;
	hearer->policy.tenant_count = 1;
	facts_set_policy(hearer->facts, &hearer->policy);
	heard_limit(hearer->facts, 1, &use, now, now);
	assert_int_equal(limits_count(hearer->facts->limits), 1);
	assert_true(fabs(limits_at(hearer->facts->limits, 0, now).used[LIMIT_REQUESTS] - 3) < 1e-6);
	use.of = LIMIT_OF_BOTH;
	use.model = "m";
	use.key = limits_key(LIMIT_OF_BOTH, SPAN("anna"), SPAN("m"));
	heard_limit(hearer->facts, 1, &use, now, now);
	use.of = LIMIT_OF_MODEL;
	heard_limit(hearer->facts, 1, &use, now, now);
	use.of = LIMIT_OF_TENANT;
	use.tenant = "bert";
	heard_limit(hearer->facts, 1, &use, now, now);
	assert_int_equal(limits_count(hearer->facts->limits), 1);
	hearer->policy.tenant_count = 0;
	hearer->policy.tenants = NULL;
	facts_set_policy(hearer->facts, &hearer->policy);
}

static void limits_that_need_the_store_are_closed_while_it_is_away(void **state)
{
	struct tenant_policy tenant = { .name = "anna", .weight = 1 };
	struct request request;
	struct decision decision;

	(void)state;
	tenant.quota.requests = (struct rate){ 10, 1 };
	hearer->policy.tenants = &tenant;
	hearer->policy.tenant_count = 1;
	facts_set_policy(hearer->facts, &hearer->policy);
	request = world_ask(hearer);
	request.tenant = SPAN("anna");
	assert_int_equal(world_decide(hearer, request).outcome, OUTCOME_ROUTED);
	hearer->policy.limits_need_redis = true;
	facts_set_policy(hearer->facts, &hearer->policy);
	request = world_ask(hearer);
	request.tenant = SPAN("anna");
	decision = world_decide(hearer, request);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.limit, LIMIT_STORE);
	assert_int_equal(decision.retry_after, 1);
	/* Who is not limited does not need it. */
	assert_int_equal(world_decide(hearer, world_ask(hearer)).outcome, OUTCOME_ROUTED);
	facts_set_store(hearer->facts, true);
	request = world_ask(hearer);
	request.tenant = SPAN("anna");
	assert_int_equal(world_decide(hearer, request).outcome, OUTCOME_ROUTED);
	hearer->policy.tenant_count = 0;
	hearer->policy.tenants = NULL;
	facts_set_policy(hearer->facts, &hearer->policy);
}

static bool hear_tenant(void *data, const struct tenant_use *use)
{
	int *room = data;

	if ((*room)-- == 0)
		return false;
	heard_tenant(hearer->facts, use, hearer->now, hearer->now);
	return true;
}

static void a_tenants_tokens_count_at_all_agents(void **state)
{
	struct tenants *from = teller->facts->tenants, *to = hearer->facts->tenants;
	uint64_t anna = tenant_key(SPAN("anna")), bert = tenant_key(SPAN("bert"));
	usec_t now = teller->now;
	int room = 0;

	(void)state;
	tenants_charge(from, anna, SPAN("anna"), 100, 50, now); /* nobody listens yet */
	tenants_tell(from, now, hear_tenant, &room);
	assert_true(tenants_tokens(to, anna, now) == 0);
	tenants_charge(from, anna, SPAN("anna"), 1000, 500, now);
	tenants_charge(from, bert, SPAN("bert"), 10, 0, now);
	tenants_charge(to, bert, SPAN("bert"), 5, 0, now);
	room = 1;
	tenants_tell(from, now, hear_tenant, &room);
	room = 9;
	tenants_tell(from, now, hear_tenant, &room);
	assert_true(fabs(tenants_tokens(to, anna, now) - 2000) < 1e-6);
	assert_true(fabs(tenants_tokens(to, bert, now) - 15) < 1e-6);
	/* Corrected there, corrected here. */
	tenants_correct(from, anna, 0, -400, now, now);
	tenants_tell(from, now, hear_tenant, &room);
	assert_true(fabs(tenants_tokens(to, anna, now) - 1200) < 1e-6);
	/* What was heard is not told. */
	room = 9;
	tenants_tell(to, now, hear_tenant, &room);
	tenants_tell(to, now, hear_tenant, &room);
	assert_true(room >= 8);
	tenants_look(to, now + SECOND);
	assert_int_equal(tenants_range(to, now + SECOND).active, 2);
}

static void what_is_told_of_tenants_is_clamped_and_ages(void **state)
{
	struct tenants *tenants = hearer->facts->tenants;
	struct tenant_use use = { tenant_key(SPAN("anna")), "anna", (double)NAN };
	usec_t now = hearer->now;

	(void)state;
	tenants_heard(tenants, &use, 0, now);
	use.tokens = (double)INFINITY;
	tenants_heard(tenants, &use, 0, now);
	assert_int_equal(tenants_count(tenants), 0);
	use.tokens = 1000;
	tenants_heard(tenants, &use, 300 * SECOND, now);
	assert_true(fabs(tenants_tokens(tenants, use.key, now) - 1000 * exp(-1)) < 1e-6);
	use.tokens = -1e9;
	tenants_heard(tenants, &use, 0, now);
	assert_true(tenants_tokens(tenants, use.key, now) == 0);
	use.key = 0;
	tenants_heard(tenants, &use, 0, now);
	assert_int_equal(tenants_count(tenants), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_good_answer_is_told_and_its_prompt_is_sent_there_by_another),
		TEST(a_chain_of_another_ladder_is_left_out),
		TEST(a_cut_answer_is_told_as_an_eviction),
		TEST(a_restart_is_told_and_forgets_bindings_and_pins),
		TEST(an_ejection_is_told_with_its_length),
		TEST(who_is_ejected_elsewhere_is_ejected_here_for_what_is_left),
		TEST(nobody_is_ejected_for_longer_than_the_policy_has_it),
		TEST(others_eject_no_more_than_half),
		TEST(a_recovery_elsewhere_ends_what_began_elsewhere),
		TEST(a_recovery_of_our_own_is_told_if_the_ejection_was),
		TEST(a_failed_trial_makes_a_heard_ejection_our_own),
		TEST(a_session_is_pinned_for_all),
		TEST(agents_that_share_nothing_choose_alike_for_new_sessions),
		TEST(an_average_is_a_hint_where_we_know_nothing),
		TEST(a_limit_counts_only_if_our_policy_has_it),
		TEST(limits_that_need_the_store_are_closed_while_it_is_away),
		TEST(a_tenants_tokens_count_at_all_agents),
		TEST(what_is_told_of_tenants_is_clamped_and_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
