/* test_defaults.c - the policy without any configuration. Proves R035, R104. */
#include "tests/policies/world.h"

static void least_work_at_both_levels_and_no_limits(void **state)
{
	static struct policy policy;
	const struct entry_policy *outer = policy.default_rule.chain;
	const struct entry_policy *inner = policy.default_instance.chain;

	(void)state;
	policy_default(&policy);
	assert_int_equal(policy.levels, LEVELS_BOTH);
	assert_int_equal(policy.default_rule.chain_count, 1);
	assert_int_equal(policy.default_instance.chain_count, 1);
	assert_string_equal(outer->strategy->name, "least-work");
	assert_string_equal(inner->strategy->name, "least-work");
	assert_true(outer->admit.running == 0 && outer->admit.ttft_ms == 0);
	assert_true(inner->admit.pending == 0 && inner->hard.running == 0);
	assert_true(outer->prefer_serving_below == 1);
	assert_true(inner->prefer_serving_below == 0);
	assert_true(inner->relax_on_hit == 2.5 && inner->max_share == 1);
	assert_true(inner->uncached_weight == 3 && inner->inflight_tokens == 1000);
	assert_string_equal(policy.ladder.id, LADDER_DEFAULT);
	assert_int_equal(policy.ladder.count, 32);
	assert_true(policy.bytes_per_token == 4);
	assert_int_equal(policy.stale_after, 3 * SECOND);
	assert_int_equal(policy.prefix.ttl, 1800 * SECOND);
	assert_true(policy.prefix.min_match == 4096);
	assert_int_equal(policy.overload_status, 429);
	assert_true(policy.default_instance.weight == 1);
}

static void a_picker_brings_its_own_defaults(void **state)
{
	struct entry_policy entry;
	uint32_t k;

	(void)state;
	entry_default(&entry, strategy_named(SPAN("soft-k-choice")));
	memcpy(&k, entry.picker_settings, sizeof(k));
	assert_int_equal(k, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_work_at_both_levels_and_no_limits),
		cmocka_unit_test(a_picker_brings_its_own_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
