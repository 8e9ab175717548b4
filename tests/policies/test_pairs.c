/* test_pairs.c - which prefill and which decode replica serve a request, and when one of
 * them alone. Proves R101, R159, B063, P097. */
#include "policies/phases.h"
#include "tests/policies/paired.h"

enum { PROMPT = 30000 };

static uint32_t id_of(struct paired *paired, const char *server)
{
	return world_replica(paired->world, "a", server)->target->id;
}

static void load(struct paired *paired, const char *server, uint32_t requests, uint32_t prefill)
{
	for (uint32_t i = 0; i < requests; i++)
		(void)ledger_acquire(paired->world->facts->ledger, id_of(paired, server),
		                     i == 0 ? prefill : 0, 0, paired->world->now);
}

static struct request prompt_of_bytes(struct paired *paired, uint64_t bytes)
{
	struct request request = world_ask_long(paired->world, bytes, bytes, 1, 0);

	request.backend = SPAN("a");
	return request;
}

/* What would be decided now, with nothing changed by it. */
static struct decision asked(struct paired *paired, uint64_t bytes)
{
	struct request request = prompt_of_bytes(paired, bytes);
	struct decision decision;

	decider_explain(paired->world->decider, &request, paired->world->now, &decision);
	return decision;
}

/* "" for nobody. */
static void expect_pair(const struct decision *decision, const char *prefill, const char *decode)
{
	expect_server(decision, decode);
	assert_string_equal(decision->prefill ? fleet_replica_name(decision->prefill, 0) : "",
	                    prefill);
}

static void expect_kind(const struct decision *decision, enum pair_kind kind)
{
	assert_int_equal(decision->levels[1].pair, kind);
}

/* The server holds the first so many whole blocks of the prompt. */
static void hold(struct paired *paired, const char *server, uint32_t blocks)
{
	struct request request = prompt_of_bytes(paired, PROMPT);
	struct span none = { NULL, 0 };
	struct span ladder = SPAN(paired->world->policy.ladder.id);
	uint64_t chain[LADDER_BLOCKS_MAX];

	prefix_chain(NULL, prefix_name_space(&ladder, &none, &none, &none), request.hashes, blocks,
	             chain);
	prefix_index_confirm(paired->world->facts->prefix, id_of(paired, server), chain, blocks,
	                     &paired->world->policy.ladder, paired->world->now);
}

/* p1 d1 of r1, p2 d2 of r2; nothing is cached. */
static struct paired *two_rolesets(void)
{
	struct paired *paired = paired_new("p1:r1 d1:r1 p2:r2 d2:r2");

	paired_strategy(paired, "pd");
	return paired;
}

static void the_roleset_with_the_least_cost_serves(void **state)
{
	struct paired *paired = two_rolesets();
	struct decision decision;

	(void)state;
	/* T = 50 + (waiting + 7500) / 8 ms: p1 1800, p2 987.5; d1 (1 + 1), d2 (3 + 1). */
	load(paired, "s1", 1, 6500);
	load(paired, "s2", 1, 0);
	load(paired, "s4", 3, 0);
	decision = asked(paired, PROMPT);
	/* r1: 1 + 0.5; r2: 0.548611 + 1 */
	expect_pair(&decision, "s1", "s2");
	expect_kind(&decision, PAIR_REMOTE);
	load(paired, "s1", 1, 4000); /* p1 2300: r2 0.429348 + 1 */
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s3", "s4");
	assert_true(decision.levels[1].prefill->score > 0.5);
	assert_true(decision.levels[1].pool[decision.levels[1].chosen].score < 1e-9);
	paired_free(paired);
}

/* P 900 and 300, D 2 and 4: 1 + 0.5 against 0.333333 + 1. */
static void the_worked_example(void **state)
{
	struct paired *paired = two_rolesets();
	struct decision decision;
	struct ledger *ledger = paired->world->facts->ledger;

	(void)state;
	paired_entry(paired)->pair.prefill.phase = phase_named(ROLE_PREFILL, SPAN("token-load"));
	(void)ledger_acquire(ledger, id_of(paired, "s1"), 0, 3000, paired->world->now);
	(void)ledger_acquire(ledger, id_of(paired, "s3"), 0, 1000, paired->world->now);
	load(paired, "s2", 1, 0);
	load(paired, "s4", 3, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s3", "s4");
	assert_near(decision.levels[1].prefill->score, 1 - 300.0 / 900);
	hold(paired, "s2", 9); /* 24576 bytes: 26000 in the example, where blocks are not whole */
	paired_entry(paired)->pair.remote_min_bytes = PROMPT - 24576 + 1;
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s2");
	paired_entry(paired)->pair.remote_min_bytes = 4096;
	world_server(paired->world, "a", "s3")->up = false;
	world_apply(paired->world);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2");
	paired_free(paired);
}

static void a_decode_replica_that_lacks_little_serves_alone(void **state)
{
	struct paired *paired = two_rolesets();
	struct decision decision;

	(void)state;
	hold(paired, "s2", 9); /* 24576 of 30000 bytes */
	load(paired, "s4", 1, 0);
	decision = asked(paired, PROMPT); /* 5424 are not less than 4096 */
	assert_non_null(decision.prefill);
	decision = asked(paired, 28671); /* 4095 are */
	expect_pair(&decision, "", "s2");
	expect_kind(&decision, PAIR_LOCAL);
	paired_entry(paired)->pair.remote_min_bytes = 0;
	decision = asked(paired, 28671);
	expect_pair(&decision, "s1", "s2");
	/* Even from a roleset that has nobody to prefill. */
	paired_entry(paired)->pair.remote_min_bytes = 4096;
	world_server(paired->world, "a", "s1")->up = false;
	world_apply(paired->world);
	decision = asked(paired, 28671);
	expect_pair(&decision, "", "s2");
	paired_free(paired);
}

static void who_holds_the_prompt_may_not_be_the_least_loaded(void **state)
{
	struct paired *paired = two_rolesets();
	struct decision decision;

	(void)state;
	hold(paired, "s2", 9);
	load(paired, "s2", 3, 0); /* so d* is d2, but r1 is cheaper: p2 has much to do */
	load(paired, "s3", 1, 100000);
	paired_entry(paired)->pair.remote_min_bytes = 6000;
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s2");
	expect_kind(&decision, PAIR_LOCAL);
	paired_free(paired);
}

static void no_decode_replica_comes_from_a_roleset_without_prefill(void **state)
{
	struct paired *paired = two_rolesets();
	struct decision decision;

	(void)state;
	load(paired, "s2", 6, 0);
	load(paired, "s1", 1, 90000);
	world_server(paired->world, "a", "s3")->up = false; /* r2 without prefill */
	world_apply(paired->world);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2");
	paired_free(paired);
}

static void replicas_without_a_label_are_one_set(void **state)
{
	struct paired *paired = paired_new("p d p d p:x");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	load(paired, "s1", 1, 1000);
	load(paired, "s4", 1, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s3", "s2");
	paired_free(paired);
}

static void a_combined_replica_relieves_a_pair_that_is_over_its_slots(void **state)
{
	struct paired *paired = paired_new("p d c c");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	for (uint32_t i = 0; i < 4; i++)
		paired->replicas[i].slots = 8;
	load(paired, "s2", 8, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2"); /* 1.0 is not above */
	load(paired, "s2", 1, 0);
	load(paired, "s3", 2, 0); /* 0.25 is not below */
	load(paired, "s4", 1, 5000);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s4");
	expect_kind(&decision, PAIR_COMBINED);
	load(paired, "s4", 1, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2");
	load(paired, "s1", 9, 0);
	paired_entry(paired)->pair.combined_below = 0.26;
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s3"); /* the one with less work */
	paired_entry(paired)->pair.combined_above = 0;
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2");
	paired_entry(paired)->pair.combined_above = 1;
	for (uint32_t i = 0; i < 4; i++)
		paired->replicas[i].slots = 0; /* nobody knows how many slots there are */
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s2");
	paired_free(paired);
}

static void maxconn_is_how_many_slots_there_are(void **state)
{
	struct paired *paired = paired_new("p d c");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	world_server(paired->world, "a", "s1")->max_running = 4;
	world_server(paired->world, "a", "s3")->max_running = 100;
	world_apply(paired->world);
	load(paired, "s1", 5, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s3");
	paired_free(paired);
}

static void without_a_pair_a_combined_replica_serves(void **state)
{
	struct paired *paired = paired_new("p:r1 d:r2 c c");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	load(paired, "s3", 1, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s4");
	expect_kind(&decision, PAIR_COMBINED);
	paired_free(paired);
}

static void with_nobody_to_prefill_a_decode_replica_does_it_all_if_it_may(void **state)
{
	struct paired *paired = paired_new("p d d");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	world_server(paired->world, "a", "s1")->up = false;
	world_apply(paired->world);
	load(paired, "s2", 1, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "", "s3");
	expect_kind(&decision, PAIR_ALONE);
	paired_entry(paired)->pair.alone = false;
	decision = asked(paired, PROMPT);
	assert_null(decision.replica);
	assert_null(decision.prefill);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	paired_free(paired);
}

static void prefill_replicas_alone_serve_nobody(void **state)
{
	struct paired *paired = paired_new("p p");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	decision = asked(paired, PROMPT);
	assert_null(decision.replica);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	paired_free(paired);
}

static void a_wide_spread_counts_requests_only(void **state)
{
	struct paired *paired = paired_new("p p d");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	load(paired, "s1", 15, 0);
	load(paired, "s2", 1, 500000);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s3"); /* 14 apart */
	load(paired, "s1", 2, 0);
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s2", "s3");
	paired_entry(paired)->pair.spread = 0;
	decision = asked(paired, PROMPT);
	expect_pair(&decision, "s1", "s3");
	paired_free(paired);
}

static void the_next_entry_of_the_chain_sends_nothing_to_prefill_replicas(void **state)
{
	struct paired *paired = paired_new("p d c");
	struct decision decision;

	(void)state;
	paired_strategy(paired, "pd");
	paired->a.chain[1] = paired->a.chain[0];
	paired->a.chain[1].strategy = strategy_named(SPAN("least-request"));
	paired->a.chain_count = 2;
	paired_entry(paired)->admit.running = 0.5; /* nobody can be admitted by the first */
	paired_entry(paired)->relax_on_hit = 1;
	paired->a.chain[1].admit.running = 0;
	load(paired, "s2", 1, 0);
	load(paired, "s3", 1, 0);
	decision = asked(paired, PROMPT);
	assert_null(decision.prefill);
	assert_int_not_equal(decision.replica->role, ROLE_PREFILL);
	assert_string_equal(decision.levels[1].strategy->name, "least-request");
	paired_free(paired);
}

static void at_level_1_it_is_the_least_work(void **state)
{
	struct paired *paired = two_rolesets();
	struct request request = world_ask_long(paired->world, PROMPT, PROMPT, 1, 0);
	struct decision decision;

	(void)state;
	request.strategy = SPAN("pd");
	decision = world_decide(paired->world, request);
	assert_non_null(decision.prefill);
	assert_int_equal(decision.prefill->roleset, decision.replica->roleset);
	assert_int_equal(paired->world->facts->counters->pairs[PAIR_REMOTE], 1);
	paired_free(paired);
}

/* Two rolesets of 2 prefill and 2 decode replicas, 64 requests of 8 KB that stay. */
static void a_burst_is_spread_over_both_rolesets(void **state)
{
	struct paired *paired = paired_new("p:x p:x d:x d:x p:y p:y d:y d:y");
	uint32_t at[PAIRED_MAX + 1] = { 0 };

	(void)state;
	paired_strategy(paired, "pd");
	for (uint64_t i = 0; i < 64; i++) {
		struct request request = world_ask_long(paired->world, 8192, 8192, 100 + i, 0);
		struct decision decision;

		request.backend = SPAN("a");
		decision = world_decide(paired->world, request);
		assert_non_null(decision.prefill);
		assert_int_equal(decision.prefill->role, ROLE_PREFILL);
		assert_int_equal(decision.replica->role, ROLE_DECODE);
		assert_int_equal(decision.prefill->roleset, decision.replica->roleset);
		at[atoi(fleet_replica_name(decision.prefill, 0) + 1)]++;
		at[atoi(server_of(&decision) + 1)]++;
	}
	for (uint32_t i = 1; i <= 8; i++)
		assert_in_range(at[i], 15, 17);
	paired_free(paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_roleset_with_the_least_cost_serves),
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(a_decode_replica_that_lacks_little_serves_alone),
		cmocka_unit_test(who_holds_the_prompt_may_not_be_the_least_loaded),
		cmocka_unit_test(no_decode_replica_comes_from_a_roleset_without_prefill),
		cmocka_unit_test(replicas_without_a_label_are_one_set),
		cmocka_unit_test(a_combined_replica_relieves_a_pair_that_is_over_its_slots),
		cmocka_unit_test(maxconn_is_how_many_slots_there_are),
		cmocka_unit_test(without_a_pair_a_combined_replica_serves),
		cmocka_unit_test(with_nobody_to_prefill_a_decode_replica_does_it_all_if_it_may),
		cmocka_unit_test(prefill_replicas_alone_serve_nobody),
		cmocka_unit_test(a_wide_spread_counts_requests_only),
		cmocka_unit_test(the_next_entry_of_the_chain_sends_nothing_to_prefill_replicas),
		cmocka_unit_test(at_level_1_it_is_the_least_work),
		cmocka_unit_test(a_burst_is_spread_over_both_rolesets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
