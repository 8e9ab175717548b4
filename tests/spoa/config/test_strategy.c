/* test_strategy.c - strategies in a policy file: strings, what is blended in, profiles, and the
 * ways of a recipe. Proves R130, R133, R168, B068. */
#include "policies/blend.h"
#include "policies/pickers/least.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "tests/spoa/config/parsed.h"

static void expect_effective(const struct strategy *strategy, const char *effective)
{
	char text[BLEND_TEXT_MAX];

	assert_non_null(strategy);
	blend_describe(strategy, text);
	assert_string_equal(text, effective);
}

/* Of the defaults, both levels alike. */
static void expect_made(const char *text, const char *effective)
{
	struct policy_file *file = good(text);

	expect_effective(policy_file_policy(file)->default_rule.chain[0].strategy, effective);
	expect_effective(policy_file_policy(file)->default_instance.chain[0].strategy, effective);
	policy_file_free(file);
}

static void a_name_gets_what_the_policy_blends_in(void **state)
{
	(void)state;
	expect_made("{\"defaults\": {\"strategy\": \"least-latency\"}}",
	            "e2e:1,load-balance:1,running:1");
	expect_made("{\"defaults\": {\"strategy\": \"least-latency\","
	            " \"blend\": {\"load-balance\": 2, \"least_request\": 0}}}",
	            "e2e:1,load-balance:2");
	expect_made("{\"defaults\": {\"strategy\": \"least-latency\","
	            " \"blend\": {\"load-balance\": 0}}}",
	            "e2e:1");
	expect_made("{\"defaults\": {\"strategy\": \"least-work\"}}", "work:1");
}

static void a_string_of_several_is_a_strategy(void **state)
{
	(void)state;
	expect_made("{\"defaults\": {\"strategy\": \"prefix-cache:2, mine:3\"},"
	            " \"strategies\": {\"mine\": {\"signals\": {\"ttft\": 1, \"pending\": 2}}}}",
	            "prefix:2,ttft:1,pending:2,load-balance:1,running:1");
	assert_says("{\"defaults\": {\"strategy\": \"least-request,nonsense\"}}",
	            "policy.json:1:27: error: defaults.strategy: \"nonsense\": unknown name "
	            "[unknown-strategy]\n1 error\n");
	assert_says("{\"defaults\": {\"strategy\": \"random,least-request\"}}",
	            "policy.json:1:27: error: defaults.strategy: \"random\": cannot stand beside "
	            "others "
	            "[unknown-strategy]\n1 error\n");
}

static void least_latency_goes_by_one_of_three(void **state)
{
	(void)state;
	expect_made("{\"defaults\": {\"strategy\": \"least-latency\", \"by\": \"ttft\"}}",
	            "ttft:1,load-balance:1,running:1");
	expect_made("{\"defaults\": {\"strategy\": \"least-latency\", \"by\": \"latency\"}}",
	            "latency:1,load-balance:1,running:1");
}

static void a_recipe_says_how_its_signals_become_grades(void **state)
{
	struct policy_file *file = good(
	        "{\"strategies\": {\"mine\": {\"blend\": true, \"picker\": \"top-k\", \"k\": 3,"
	        " \"signals\": {\"prefix\": {\"weight\": 5, \"scale\": \"minmax\"},"
	        " \"running\": {\"scale\": \"natural\", \"full\": 100}}}},"
	        " \"defaults\": {\"strategy\": \"mine\"}}");
	const struct entry_policy *entry = &policy_file_policy(file)->default_rule.chain[0];
	const struct strategy *own = policy_file_policy(file)->strategies[0];

	(void)state;
	assert_int_equal(own->weighings[0].scale, WEIGHING_MINMAX);
	assert_int_equal(own->weighings[1].scale, WEIGHING_NATURAL);
	assert_true(own->weighings[1].full == 100);
	assert_true(own->counts_requests && own->has_settings);
	assert_ptr_equal(entry->strategy->picker, &picker_top_k);
	assert_int_equal(*(const uint32_t *)(const void *)entry->picker_settings, 3);
	assert_true(entry->strategy->blended);
	policy_file_free(file);
}

static void a_profile_names_strategies_by_length(void **state)
{
	struct policy_file *file = good(
	        "{\"models\": {\"m\": {\"profile\": {\"strategy\": \"least-request\","
	        " \"by-length\": [{\"from\": 2000, \"strategy\": \"prefix-cache\"},"
	        " {\"from\": 9000, \"strategy\": \"least-work\"}]}}, \"*\": {\"profile\": {}}}}");
	const struct policy *policy = policy_file_policy(file);

	(void)state;
	assert_int_equal(policy->rule_count, 0); /* it says nothing of instances */
	assert_int_equal(policy->profile_count, 2);
	assert_string_equal(policy->profiles[0].model, "m");
	assert_int_equal(policy->profiles[0].step_count, 3);
	expect_effective(policy->profiles[0].steps[0].strategy, "running:1,load-balance:1");
	assert_true(policy->profiles[0].steps[1].from == 2000);
	expect_effective(policy->profiles[0].steps[1].strategy, "prefix:5,load-balance:4");
	assert_string_equal(policy->profiles[1].model, "");
	assert_null(policy->profiles[1].steps[0].strategy);
	policy_file_free(file);
	assert_says("{\"models\": {\"m\": {\"profile\": {\"by-length\": ["
	            "{\"from\": 9}, {\"from\": 9}]}}}}",
	            "policy.json:1:58: error: models.m.profile.by-length[1]: from 9 tokens is not "
	            "above "
	            "the 9 "
	            "before it [range]\n1 error\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_gets_what_the_policy_blends_in),
		cmocka_unit_test(a_string_of_several_is_a_strategy),
		cmocka_unit_test(least_latency_goes_by_one_of_three),
		cmocka_unit_test(a_recipe_says_how_its_signals_become_grades),
		cmocka_unit_test(a_profile_names_strategies_by_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
