/* test_pairs.c - roles, phases and pairs as a policy file says them. Proves R101. */
#include "policies/phases.h"
#include "tests/spoa/config/parsed.h"

static void roles_and_phases_are_read(void **state)
{
	struct policy_file *file = good(
	        "{\"strategies\": {\"mine\": {\"signals\": {\"running\": 1}}},\n"
	        " \"instances\": {\"a\": {\"strategy\": \"PD\","
	        " \"prefill\": {\"strategy\": \"prefix_cache\"}, \"decode\": {\"strategy\": "
	        "\"mine\"},"
	        " \"remote-prefill-min-bytes\": \"16k\", \"decode-alone\": false, \"replicas\": {"
	        " \"p*\": {\"role\": \"prefill\", \"roleset\": \"r\", \"max-prompt\": 100, "
	        "\"slots\": 8},"
	        " \"d*\": {\"role\": \"Decode\", \"roleset\": \"r\", \"min-prompt\": 10},"
	        " \"c\": {}}}}}");
	const struct instance_policy *a = &policy_file_policy(file)->instances[0];
	const struct pair_policy *pair = &a->chain[0].pair;

	(void)state;
	assert_true(a->chain[0].strategy->pair);
	assert_string_equal(phase_name(&pair->prefill), "prefix-cache");
	assert_non_null(pair->prefill.phase);
	assert_string_equal(phase_name(&pair->decode), "mine");
	assert_null(pair->decode.phase);
	assert_true(pair->remote_min_bytes == 16384);
	assert_false(pair->alone);
	assert_int_equal(a->replicas[0].role, ROLE_PREFILL);
	assert_string_equal(a->replicas[0].roleset, "r");
	assert_true(a->replicas[0].max_prompt == 100);
	assert_true(a->replicas[0].slots == 8);
	assert_int_equal(a->replicas[1].role, ROLE_DECODE);
	assert_true(a->replicas[1].min_prompt == 10);
	assert_int_equal(a->replicas[2].role, ROLE_COMBINED);
	policy_file_free(file);
}

static void the_nearest_layer_names_the_phase(void **state)
{
	struct policy_file *file =
	        good("{\"defaults\": {\"strategy\": \"pd\", \"prefill\": {\"strategy\": "
	             "\"token-load\"}, \"level2\": {\"decode\": {\"strategy\": \"conductor\"}}},"
	             " \"instances\": {\"a\": {\"decode\": {\"strategy\": \"least-request\"},"
	             " \"replicas\": {\"p\": {\"role\": \"prefill\"}, \"d\": {\"role\": "
	             "\"decode\"}}}}}");
	const struct policy *policy = policy_file_policy(file);
	const struct pair_policy *standard = &policy->default_instance.chain[0].pair;
	const struct pair_policy *a = &policy->instances[0].chain[0].pair;

	(void)state;
	assert_string_equal(phase_name(&standard->prefill), "token-load");
	assert_string_equal(phase_name(&standard->decode), "conductor");
	assert_string_equal(phase_name(&a->prefill), "token-load");
	assert_string_equal(phase_name(&a->decode), "least-request");
	policy_file_free(file);
}

static void what_cannot_be_is_told(void **state)
{
	(void)state;
	assert_says(
	        "{\"instances\": {\"a\": {\"strategy\": \"pd\",\n"
	        " \"prefill\": {\"strategy\": \"load-balancing\"},\n"
	        " \"decode\": {\"strategy\": \"token-load\"},\n"
	        " \"replicas\": {\"p*-*\": {\"role\": \"prefill\"},\n"
	        "  \"d\": {\"role\": \"decode\", \"min-prompt\": 9, \"max-prompt\": 8}}}}}",
	        "policy.json:2:26: error: instances.a.prefill.strategy: unknown name "
	        "\"load-balancing\" (did you mean \"load-balance\"?) [unknown-strategy]\n"
	        "policy.json:3:25: error: instances.a.decode.strategy: unknown name "
	        "\"token-load\" [unknown-strategy]\n"
	        "policy.json:4:23: error: instances.a.replicas.p*-*: a pattern has one * at most "
	        "[name]\n"
	        "policy.json:5:8: error: instances.a.replicas.d: max-prompt 8 is below "
	        "min-prompt 9 [range]\n"
	        "4 errors\n");
}

static void roles_that_come_to_nothing_are_told(void **state)
{
	(void)state;
	assert_says(
	        "{\"instances\": {\"a\": {\"strategy\": \"pd\"},\n"
	        " \"b\": {\"replicas\": {\"p\": {\"role\": \"prefill\"}}},\n"
	        " \"c\": {\"replicas\": {\"x\": {\"roleset\": \"r\"}}}}}",
	        "policy.json:1:21: warning: instances.a: pd finds no prefill replica here: each "
	        "serves alone, by least work [roles]\n"
	        "policy.json:2:7: warning: instances.b: without strategy pd its prefill replicas "
	        "get no request [roles]\n"
	        "policy.json:3:26: warning: instances.c.replicas.x: a replica that does all of a "
	        "request is in no pair [roleset]\n"
	        "3 warnings\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_and_phases_are_read),
		cmocka_unit_test(the_nearest_layer_names_the_phase),
		cmocka_unit_test(what_cannot_be_is_told),
		cmocka_unit_test(roles_that_come_to_nothing_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
