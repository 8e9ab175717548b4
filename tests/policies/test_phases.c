/* test_phases.c - what a candidate of a pair costs, by each way to price it. Proves R101. */
#include "policies/phases.h"

#include <math.h>

#include "policies/stages/scratch.h"
#include "tests/policies/world.h"

enum { SIZE = 3 };

struct priced {
	struct world *world;
	struct prompt prompt;
	struct candidate pool[SIZE];
	double values[SIZE], sorted[SIZE];
	struct scratch scratch;
	struct walk walk;
};

/* Three idle ones that hold nothing of a prompt of 30000 bytes. */
static struct priced *priced_new(void)
{
	struct priced *priced = calloc(1, sizeof(*priced));
	const struct instance *instance;

	assert_non_null(priced);
	priced->world = world_new(1, SIZE);
	instance = world_instance(priced->world, "a");
	priced->prompt = (struct prompt){ .tokens = 7500, .total_bytes = 30000 };
	for (size_t i = 0; i < SIZE; i++)
		priced->pool[i] = (struct candidate){ .target = instance->replicas[i].target,
			                              .replica = &instance->replicas[i],
			                              .instance = instance,
			                              .uncached_tokens = 7500,
			                              .engines = 1 };
	priced->scratch = (struct scratch){ .values = priced->values, .sorted = priced->sorted };
	priced->walk = (struct walk){ .prompt = &priced->prompt,
		                      .entry = world_entry(priced->world),
		                      .facts = priced->world->facts,
		                      .now = priced->world->now,
		                      .scratch = &priced->scratch,
		                      .pool = priced->pool,
		                      .count = SIZE,
		                      .standing = SIZE,
		                      .level = 2 };
	return priced;
}

static void priced_free(struct priced *priced)
{
	world_free(priced->world);
	free(priced);
}

static void use_kv(struct priced *priced, size_t i, double share)
{
	struct engine_page page = engine_page_blank(priced->walk.now);

	page.kv_usage = share;
	engines_put(priced->world->facts->engines, priced->pool[i].target->id, &page);
}

/* So many output tokens in the last ten seconds, with four running, each after so many
 * seconds. */
static void generate(struct priced *priced, size_t i, double tokens, double seconds_each)
{
	struct rates *rates = priced->world->facts->rates;
	struct engine_page page = engine_page_blank(priced->walk.now - 10 * SECOND);
	struct growth growth;

	page.running = 4;
	page.generation_tokens = page.token_seconds = page.token_gaps = 0;
	(void)rates_learn(rates, priced->pool[i].target->id, &page, &growth);
	page.at = priced->walk.now;
	page.generation_tokens = page.token_gaps = tokens;
	page.token_seconds = tokens * seconds_each;
	(void)rates_learn(rates, priced->pool[i].target->id, &page, &growth);
}

static void price(struct priced *priced, enum role role, const char *name, double spread)
{
	struct phase_policy policy = { .phase = phase_named(role, SPAN(name)) };

	if (!policy.phase)
		policy.strategy = strategy_named(SPAN(name));
	assert_true(policy.phase || policy.strategy);
	phase_costs(&priced->walk, &policy, spread);
}

static void expect(const struct priced *priced, double a, double b, double c)
{
	const double costs[SIZE] = { a, b, c };

	for (size_t i = 0; i < SIZE; i++) {
		double cost = priced->pool[i].score;

		if (!(cost == costs[i]) && !(fabs(cost - costs[i]) < 1e-6))
			fail_msg("%zu costs %.9g, not %.9g", i, cost, costs[i]);
	}
}

static void a_prefill_replica_costs_the_time_to_its_first_token(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].prefill_tokens = 4000;
	priced->pool[0].uncached_tokens = 1000;
	priced->pool[1].uncached_tokens = 9000;
	price(priced, ROLE_PREFILL, "predicted-ttft", 0);
	expect(priced, 675, 1175, 987.5);
	price(priced, ROLE_PREFILL, "Conductor", 0);
	expect(priced, 675, 1175, 987.5);
	priced_free(priced);
}

static void what_is_cached_counts_ten_and_requests_one(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].matched = 24000;
	priced->pool[0].running_scored = 1;
	priced->pool[1].running_scored = 2;
	price(priced, ROLE_PREFILL, "prefix_cache", 0);
	expect(priced, 2 + 0.5, 10 + 1, 10);
	priced_free(priced);
}

static void the_busiest_are_out(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = 2;
	priced->pool[1].running_scored = 3;
	priced->pool[2].running_scored = 13; /* mean 6, sigma 6.08 */
	price(priced, ROLE_PREFILL, "prefix-cache", 0);
	expect(priced, 10 + 2.0 / 13, 10 + 3.0 / 13, (double)INFINITY);
	priced->pool[2].running_scored = 3.5;
	price(priced, ROLE_PREFILL, "token-load", 0);
	expect(priced, 0, 0, 0);
	priced_free(priced);
}

static void tokens_and_requests_cost_less_for_a_cached_prompt(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].tokens = 8000;
	priced->pool[0].running_scored = 2;
	priced->pool[0].matched = 24000; /* 0.8 */
	priced->pool[1].tokens = 8000;
	price(priced, ROLE_PREFILL, "hybrid_cache_load", 0);
	expect(priced, 10200, 8000, 0);
	price(priced, ROLE_PREFILL, "token_load", 0);
	expect(priced, 8000, 8000, 0);
	priced_free(priced);
}

static void a_decode_replica_costs_its_load_over_its_free_cache(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = 4;
	priced->pool[1].running_scored = 8;
	use_kv(priced, 0, 0.6);
	use_kv(priced, 1, 0.2);
	use_kv(priced, 2, 0.95); /* counts as 0.9 */
	price(priced, ROLE_DECODE, "load_balancing", 0);
	expect(priced, 0.5 / 0.5, 1, 0);
	priced->pool[2].running_scored = 4;
	price(priced, ROLE_DECODE, "load_balancing", 0);
	expect(priced, 1, 1, 0.5 / 0.125);
	use_kv(priced, 2, -1); /* as good as the freest */
	price(priced, ROLE_DECODE, "load_balancing", 0);
	expect(priced, 1, 1, 0.5);
	generate(priced, 0, 10000, 0.01); /* 1000 tokens/s of 2000 */
	generate(priced, 1, 20000, 0.01);
	price(priced, ROLE_DECODE, "load_balancing", 0);
	expect(priced, (0.5 + 0.5) / 0.5, 1, 0.5);
	priced_free(priced);
}

static void load_balance_is_the_signal_of_that_name(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = 1;
	priced->pool[1].running_scored = 3;
	use_kv(priced, 2, 0.95);
	price(priced, ROLE_DECODE, "load-balance", 0);
	expect(priced, 2, 4, (double)INFINITY);
	priced_free(priced);
}

static void a_nearly_full_cache_costs_half_as_much_again(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = priced->pool[1].running_scored = 3;
	use_kv(priced, 0, 0.91);
	use_kv(priced, 1, 0.9);
	price(priced, ROLE_DECODE, "conductor", 0);
	expect(priced, 6, 4, 1);
	generate(priced, 0, 1000, 0.02);
	generate(priced, 1, 1000, 0.04);
	price(priced, ROLE_DECODE, "conductor", 0);
	expect(priced, 20 * 4 * 1.5, 40 * 4, 30); /* what is not known is the mean */
	priced_free(priced);
}

static void any_strategy_costs_what_its_score_lacks(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = 2;
	priced->pool[1].running_scored = 10;
	price(priced, ROLE_PREFILL, "least_request", 0);
	expect(priced, 0.2, 1, 0);
	price(priced, ROLE_DECODE, "least-request", 0);
	expect(priced, 0.2, 1, 0);
	priced_free(priced);
}

static void a_wide_spread_lets_only_requests_count(void **state)
{
	struct priced *priced = priced_new();

	(void)state;
	priced->pool[0].running_scored = 3;
	priced->pool[1].running_scored = 18;
	priced->pool[2].running_scored = 5;
	priced->pool[0].prefill_tokens = 4e6;
	price(priced, ROLE_PREFILL, "predicted-ttft", 16);
	assert_true(priced->pool[0].score > 1000);
	price(priced, ROLE_PREFILL, "predicted-ttft", 15);
	expect(priced, 3, 18, 5);
	priced_free(priced);
}

static void names_belong_to_a_role(void **state)
{
	(void)state;
	assert_null(phase_named(ROLE_DECODE, SPAN("predicted-ttft")));
	assert_null(phase_named(ROLE_PREFILL, SPAN("load-balance")));
	assert_ptr_not_equal(phase_named(ROLE_PREFILL, SPAN("conductor")),
	                     phase_named(ROLE_DECODE, SPAN("conductor")));
	for (size_t i = 0; phase_at(i); i++) {
		assert_ptr_equal(phase_named(phase_at(i)->role, SPAN(phase_at(i)->name)),
		                 phase_at(i));
		assert_true(strlen(phase_at(i)->help) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefill_replica_costs_the_time_to_its_first_token),
		cmocka_unit_test(what_is_cached_counts_ten_and_requests_one),
		cmocka_unit_test(the_busiest_are_out),
		cmocka_unit_test(tokens_and_requests_cost_less_for_a_cached_prompt),
		cmocka_unit_test(a_decode_replica_costs_its_load_over_its_free_cache),
		cmocka_unit_test(load_balance_is_the_signal_of_that_name),
		cmocka_unit_test(a_nearly_full_cache_costs_half_as_much_again),
		cmocka_unit_test(any_strategy_costs_what_its_score_lacks),
		cmocka_unit_test(a_wide_spread_lets_only_requests_count),
		cmocka_unit_test(names_belong_to_a_role),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
