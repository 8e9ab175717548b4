/* test_facts.c - everything that is known, made and kept together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/state/facts.h"
#include "tests/failing_calloc.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

static const struct fleet_limits limits = { .instances = 2, .replicas = 4, .models = 4 };
static struct policy policy;

static int open_facts(void **state)
{
	const struct server_fact server = { .backend = SPAN("a"),
		                            .server = SPAN("s1"),
		                            .address = SPAN("10.0.0.1:80"),
		                            .weight = 1,
		                            .up = true };
	struct facts *facts;

	policy_default(&policy);
	policy.prefix.max_records = 1024;
	policy.max_inflight = 64;
	facts = facts_new(&policy, &limits);
	*state = facts;
	if (!facts)
		return -1;
	(void)fleet_apply(facts->fleet, 0, &server, 1, SECOND, facts_forget, facts);
	return 0;
}

static int close_facts(void **state)
{
	facts_free(*state);
	return 0;
}

static uint32_t engine_of(const struct facts *facts)
{
	struct target *target = fleet_target_at(facts->fleet, SPAN("10.0.0.1:80"));

	assert_non_null(target);
	return target->id;
}

static void learn_rates(struct facts *facts, uint32_t target)
{
	const struct instance *instance = fleet_instance_at(facts->fleet, 0);
	struct engine_page page = engine_page_blank(SECOND);
	struct growth growth;

	page.running = 4;
	page.generation_tokens = page.finished = 0;
	(void)rates_learn(facts->rates, target, &page, &growth);
	page.at = 2 * SECOND;
	page.generation_tokens = 100;
	page.finished = 2;
	(void)rates_learn(facts->rates, target, &page, &growth);
	answers_learn(facts->answers, target, &growth, SECOND);
	for (int i = 0; i < 8; i++)
		(void)ttft_fit_add(facts->ttft_fits, instance, target, 10, 1);
}

static bool is_trusted(struct facts *facts, uint32_t target)
{
	return ttft_fit_line(facts->ttft_fits, fleet_instance_at(facts->fleet, 0), target).trusted;
}

/* Something of every kind is known of the engine. */
static void fill(struct facts *facts, uint32_t target)
{
	const uint64_t chain[] = { 1, 2, 3 };

	(void)ledger_acquire(facts->ledger, target, 5, 6, SECOND);
	average_add(&averages_of(facts->averages, target)->ttft_ms, 7, SECOND, SECOND);
	(void)health_note(
	        facts->health,
	        &(struct report){ .target = target, .class = CLASS_FAILURE, .connect = true },
	        SECOND);
	engines_put(facts->engines, target, &(struct engine_page){ .at = SECOND });
	engines_put_loras(facts->engines, target, &(struct engine_loras){ .at = SECOND });
	learn_rates(facts, target);
	prefix_index_confirm(facts->prefix, target, chain, 3, &policy.ladder, SECOND);
	facts->counters->of[target].moved = 1;
}

static void a_target_that_is_gone_is_forgotten_by_all(void **state)
{
	struct facts *facts = *state;
	uint32_t target = engine_of(facts);
	double value;

	fill(facts, target);
	assert_true(is_trusted(facts, target));
	assert_true(rates_capacity(facts->rates, target, &value));
	assert_true(answers_tokens(facts->answers, target, SECOND, &value));
	fleet_drop_source(facts->fleet, 0, SECOND, facts_forget, facts);
	assert_int_equal(ledger_work(facts->ledger, target, SECOND).running, 0);
	assert_false(average_plain(&averages_of(facts->averages, target)->ttft_ms, SECOND, &value));
	assert_true(health_failures(facts->health, target, SECOND) == 0);
	assert_null(engines_page(facts->engines, target, SECOND, 0));
	assert_null(engines_loras(facts->engines, target, SECOND, 0));
	assert_false(rates_capacity(facts->rates, target, &value));
	assert_false(answers_tokens(facts->answers, target, SECOND, &value));
	assert_int_equal(prefix_index_held(facts->prefix, target), 0);
	assert_int_equal(facts->counters->of[target].moved, 0);
}

static void an_engine_that_restarted_has_an_empty_cache_and_the_same_history(void **state)
{
	struct facts *facts = *state;
	uint32_t target = engine_of(facts);
	double value;

	fill(facts, target);
	facts_engine_restarted(facts, target, 9 * SECOND);
	assert_int_equal(prefix_index_held(facts->prefix, target), 0);
	assert_null(engines_page(facts->engines, target, 9 * SECOND, 0));
	assert_null(engines_loras(facts->engines, target, 9 * SECOND, 0));
	assert_false(rates_capacity(facts->rates, target, &value));
	assert_false(is_trusted(facts, target));
	assert_true(answers_tokens(facts->answers, target, SECOND, &value)); /* clients' affair */
	assert_int_equal(fleet_target(facts->fleet, target)->since, 9 * SECOND);
	assert_int_equal(ledger_work(facts->ledger, target, SECOND).running, 1);
	assert_true(health_failures(facts->health, target, SECOND) > 0);
	facts_engine_restarted(facts, 5, 9 * SECOND); /* nobody */
}

static void a_new_policy_takes_effect_and_nothing_is_lost(void **state)
{
	struct facts *facts = *state;
	struct prefix_match match;
	struct policy next = policy;
	const uint64_t chain[] = { 1, 2, 3 };
	uint32_t target = engine_of(facts);

	fill(facts, target);
	assert_int_equal(prefix_index_match(facts->prefix, chain, 3, 100 * SECOND, &match, 1), 1);
	next.prefix.ttl = 10 * SECOND;
	strcpy(next.default_model, "m"); /* NOLINT: short */
	facts_set_policy(facts, &next);
	assert_ptr_equal(facts->policy, &next);
	assert_int_equal(prefix_index_match(facts->prefix, chain, 3, 100 * SECOND, &match, 1), 0);
	assert_int_not_equal(fleet_model_id(facts->fleet, SPAN("m")), TARGET_NONE);
	assert_int_equal(ledger_work(facts->ledger, target, SECOND).running, 1);
	facts_set_policy(facts, &policy);
}

static void a_life_that_is_no_multiple_of_the_width_is_rounded_up(void **state)
{
	struct policy odd = policy;
	struct facts *facts;

	(void)state;
	odd.ledger_width = 5 * SECOND;
	odd.ledger_ttl = 7 * SECOND;
	facts = facts_new(&odd, &limits);
	assert_non_null(facts);
	(void)ledger_acquire(facts->ledger, 0, 0, 0, 0);
	assert_int_equal(ledger_work(facts->ledger, 0, 9 * SECOND).running, 1);
	assert_int_equal(ledger_work(facts->ledger, 0, 10 * SECOND).running, 0);
	facts_free(facts);
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	struct facts *facts = NULL;
	int allocations = 0;

	(void)state;
	for (int i = 1; !facts; i++, allocations++) {
		failing = i;
		facts = facts_new(&policy, &limits);
	}
	failing = 0;
	assert_true(allocations > 40);
	facts_free(facts);
	facts_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_facts, close_facts)

int main(void)
{
	const struct CMUnitTest facts[] = {
		TEST(a_target_that_is_gone_is_forgotten_by_all),
		TEST(an_engine_that_restarted_has_an_empty_cache_and_the_same_history),
		TEST(a_new_policy_takes_effect_and_nothing_is_lost),
		TEST(a_life_that_is_no_multiple_of_the_width_is_rounded_up),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(facts, NULL, NULL);
}
