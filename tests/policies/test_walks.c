/* test_walks.c - random fleets, loads and policies: what holds for every walk. Proves R002, R030,
 * R132, R176; docs/strategies.md. */
#include "tests/policies/world.h"

enum { WALKS = 100000, PER_WORLD = 200 };

static struct rng chance = { 42 };

static double between(double least, double most)
{
	return least + (most - least) * rng_unit(&chance);
}

static bool one_in(size_t n)
{
	return rng_below(&chance, n) == 0;
}

static void random_entry(struct entry_policy *entry, int level)
{
	size_t count = 0;

	while (strategy_at(count))
		count++;
	if (level == 1)
		entry_default(entry, strategy_at(rng_below(&chance, count)));
	else
		entry_default_replicas(entry, strategy_at(rng_below(&chance, count)));
	if (one_in(3))
		entry->admit.running = between(1, 12);
	if (one_in(6))
		entry->admit.ttft_ms = between(100, 2000);
	if (one_in(6))
		entry->admit.pending = between(1, 10);
	if (one_in(6))
		entry->admit.kv_usage = between(0.3, 1);
	if (one_in(4))
		entry->max_share = between(0.2, 1);
	if (one_in(5))
		entry->min_score = between(0, 1);
	if (one_in(3))
		entry->seed_idle = false;
}

static void random_policy(struct policy *policy)
{
	struct rule *rule = &policy->default_rule;
	struct instance_policy *inside = &policy->default_instance;

	rule->chain_count = (uint32_t)(1 + rng_below(&chance, 3));
	for (uint32_t i = 0; i < rule->chain_count; i++)
		random_entry(&rule->chain[i], 1);
	inside->chain_count = (uint32_t)(1 + rng_below(&chance, 3));
	for (uint32_t i = 0; i < inside->chain_count; i++)
		random_entry(&inside->chain[i], 2);
	if (one_in(4)) /* a tight one */
		rule->chain_count = inside->chain_count = 1;
	if (rule->chain_count == 1)
		rule->chain[0].admit.running = inside->chain[0].admit.running = between(1, 4);
	policy->reject_on_overload = !one_in(4);
	policy->prefix.discount_shared = !one_in(4);
	policy->prefix.min_match = one_in(2) ? 4096 : 0;
}

static void random_facts(struct world *world, size_t i)
{
	const struct replica *replica =
	        world_replica(world, world->names[i][0], world->names[i][1]);
	uint32_t id = replica->target->id;

	if (one_in(2))
		average_add(&averages_of(world->facts->averages, id)->ttft_ms, between(10, 5000),
		            30 * SECOND, world->now);
	if (one_in(2))
		average_add(&averages_of(world->facts->averages, id)->e2e_ms, between(100, 50000),
		            60 * SECOND, world->now);
	if (one_in(2))
		engines_put(world->facts->engines, id,
		            &(struct engine_page){ .at = world->now,
		                                   .running = -1,
		                                   .waiting = one_in(2) ? -1 : between(0, 20),
		                                   .kv_usage = one_in(2) ? -1 : between(0, 1) });
	if (one_in(8))
		(void)health_note(world->facts->health,
		                  &(struct report){ .target = id,
		                                    .class = one_in(2) ? CLASS_FAILURE : CLASS_BUSY,
		                                    .connect = one_in(2) },
		                  world->now);
	if (one_in(3))
		world_busy(world, world->names[i][0], world->names[i][1],
		           (uint32_t)rng_below(&chance, 15));
}

static struct world *random_world(void)
{
	struct world *world = world_new(1 + rng_below(&chance, 4), 1 + rng_below(&chance, 8));

	for (size_t i = 0; i < world->count; i++) {
		world->servers[i].weight = one_in(6) ? 0 : 1 + (double)rng_below(&chance, 3);
		world->servers[i].up = !one_in(8);
		world->servers[i].maintenance = one_in(10);
		world->servers[i].draining = one_in(10);
	}
	world_apply(world);
	random_policy(&world->policy);
	for (size_t i = 0; i < world->count; i++)
		random_facts(world, i);
	world_decider(world, rng_next(&chance));
	return world;
}

static struct request random_request(struct world *world)
{
	uint64_t bytes = (uint64_t)between(0, one_in(3) ? 100000 : 9000);
	struct request request = world_ask_long(world, bytes, (uint64_t)between(0, (double)bytes),
	                                        rng_below(&chance, 3), 10 + rng_below(&chance, 30));

	if (one_in(10))
		request.has_prompt = false;
	if (one_in(5))
		request.backend = SPAN("a");
	if (one_in(10))
		request.source = (uint32_t)rng_below(&chance, 40);
	return request;
}

static bool belongs(const struct decision *decision)
{
	const struct instance *instance = decision->instance;

	return decision->replica >= instance->replicas &&
	       decision->replica < instance->replicas + instance->replica_count;
}

/* Standing first, the dropped after them; each once. */
static void check_trace(const struct level_trace *trace)
{
	for (size_t i = 0; trace->walked && i < trace->count; i++) {
		const struct candidate *candidate = &trace->pool[i];

		assert_true((i < trace->standing) == !candidate->dropped_by);
		assert_true(candidate->running >= 0 && candidate->uncached_tokens >= 0);
		assert_true(i >= trace->standing ||
		            (candidate->graded >= 0 && candidate->graded <= 1));
		for (size_t j = 0; j < i; j++)
			assert_ptr_not_equal(candidate->target, trace->pool[j].target);
	}
}

static void check(const struct decision *decision)
{
	const struct level_trace *replicas = &decision->levels[1];

	check_trace(&decision->levels[0]);
	check_trace(replicas);
	switch (decision->outcome) {
	case OUTCOME_ROUTED:
		assert_non_null(decision->instance);
		break;
	case OUTCOME_REJECTED:
		assert_int_equal(decision->reason, REASON_OVERLOAD);
		assert_in_range(decision->retry_after, 1, 120);
		assert_null(decision->instance);
		return;
	case OUTCOME_UNANSWERED:
		assert_null(decision->instance);
		return;
	case OUTCOME_NONE:
		fail();
	}
	if (!decision->replica)
		return;
	assert_true(belongs(decision));
	assert_true(decision->replica->usable);
	assert_true(replicas->chosen < replicas->standing);
	if (decision->reason != REASON_PANIC && decision->reason != REASON_FALLBACK) {
		for (size_t i = 0; i < replicas->standing; i++)
			assert_true(replicas->pool[i].replica->up &&
			            replicas->pool[i].replica->usable);
	}
	assert_null(replicas->pool[replicas->chosen].dropped_by);
	assert_ptr_equal(replicas->pool[replicas->chosen].replica, decision->replica);
	if (decision->reason != REASON_PANIC && decision->reason != REASON_FALLBACK)
		assert_true(decision->replica->up);
	if (decision->reason == REASON_PREFIX)
		assert_true(replicas->pool[replicas->chosen].hit);
}

static void of_every_walk(void **state)
{
	uint32_t outcomes[4] = { 0 }, reasons[REASON_COUNT] = { 0 };

	(void)state;
	for (int w = 0; w < WALKS / PER_WORLD; w++) {
		struct world *world = random_world();

		for (int i = 0; i < PER_WORLD; i++) {
			struct request request = random_request(world);
			struct decision decision = world_decide(world, request);

			check(&decision);
			outcomes[decision.outcome]++;
			reasons[decision.reason]++;
			if (decision.slot && one_in(2))
				world_first_byte(world, request.id);
			if (decision.slot && !one_in(8))
				world_end(world, request.id);
			world->now += (usec_t)between(0, 200000);
		}
		world_free(world);
	}
	/* The worlds are rich enough to mean something. */
	assert_true(outcomes[OUTCOME_ROUTED] > 50000 && outcomes[OUTCOME_REJECTED] > 100);
	assert_true(reasons[REASON_PREFIX] > 1000 && reasons[REASON_SPILL] > 100);
	assert_true(reasons[REASON_SEED] > 100 && reasons[REASON_PANIC] > 100);
	assert_true(reasons[REASON_GATE] > 100 && reasons[REASON_FAIL_OPEN] > 100);
}

/* Ledger and index count nothing but what was decided. */
static void of_every_ledger(void **state)
{
	(void)state;
	for (int w = 0; w < 20; w++) {
		struct world *world = random_world();
		uint32_t open = 0;

		for (int i = 0; i < 200; i++) {
			struct decision decision = world_decide(world, random_request(world));

			open += decision.slot;
			assert_true(!decision.slot || decision.instance);
		}
		assert_int_equal(inflight_count(world->facts->inflight), open);
		assert_int_equal(world->facts->counters->decisions, 200);
		world_free(world);
	}
}

static bool same_place(const struct decision *a, const struct decision *b)
{
	return a->outcome == b->outcome && a->reason == b->reason && a->instance == b->instance &&
	       a->replica == b->replica && a->status == b->status &&
	       a->retry_after == b->retry_after && a->matched == b->matched &&
	       a->sequence == b->sequence;
}

static void what_explain_says_is_what_is_decided_next(void **state)
{
	(void)state;
	for (int w = 0; w < 100; w++) {
		struct world *world = random_world();

		for (int i = 0; i < 100; i++) {
			struct request request = random_request(world);
			struct decision explained, decided;

			decider_explain(world->decider, &request, world->now, &explained);
			decider_explain(world->decider, &request, world->now, &explained);
			check_trace(&explained.levels[0]);
			assert_false(explained.slot);
			decided = world_decide(world, request);
			assert_true(same_place(&explained, &decided));
			world->now += (usec_t)between(0, 100000);
		}
		world_free(world);
	}
}

static void explaining_changes_nothing(void **state)
{
	(void)state;
	for (int w = 0; w < 50; w++) {
		struct world *world = random_world();
		struct counters before = *world->facts->counters;
		uint32_t records = prefix_index_counts(world->facts->prefix).records;

		for (int i = 0; i < 50; i++) {
			struct request request = random_request(world);
			struct decision decision;

			decider_explain(world->decider, &request, world->now, &decision);
		}
		assert_memory_equal(&before, world->facts->counters, sizeof(before));
		assert_int_equal(prefix_index_counts(world->facts->prefix).records, records);
		assert_int_equal(inflight_count(world->facts->inflight), 0);
		world_free(world);
	}
}

/* The same fleet, asked the same in the same order, twice. */
static void the_same_seed_gives_the_same_answers(void **state)
{
	static uint32_t answers[2][400];

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct world *world = world_new(2, 4);

		world_strategy(world, "soft-k-choice");
		world_decider(world, 99);
		for (int i = 0; i < 400; i++) {
			struct decision decision = world_decide(
			        world, world_ask_long(world, 20000, 9000, 1, (uint64_t)i % 7));

			answers[round][i] = decision.replica->target->id;
		}
		world_free(world);
	}
	assert_memory_equal(answers[0], answers[1], sizeof(answers[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_every_walk),
		cmocka_unit_test(of_every_ledger),
		cmocka_unit_test(what_explain_says_is_what_is_decided_next),
		cmocka_unit_test(explaining_changes_nothing),
		cmocka_unit_test(the_same_seed_gives_the_same_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
