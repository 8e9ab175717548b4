/* test_adapters.c - LoRA adapters in a policy file. Proves B064. */
#include "tests/near.h"
#include "tests/policies/world.h"
#include "tests/spoa/config/parsed.h"

static void adapters_have_a_model_and_make_no_rule(void **state)
{
	struct problems *problems;
	struct policy_file *file =
	        parsed("{\"defaults\": {\"lora\": {\"spread\": true, \"requests\": 2, "
	               "\"max-replicas\": 3, \"remember\": \"1m\", \"cooling\": 0}},"
	               " \"models\": {\"llama\": {\"adapters\": [\"sql\", \"tone\"]},"
	               " \"qwen\": {\"adapters\": [\"legal\"], \"limits\": {}}}}",
	               &problems);
	const struct policy *policy;

	(void)state;
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	policy = policy_file_policy(file);
	assert_int_equal(policy->adapter_count, 3);
	assert_string_equal(policy->adapters[1].name, "tone");
	assert_string_equal(policy->adapters[1].model, "llama");
	assert_string_equal(policy->adapters[2].name, "legal");
	assert_string_equal(policy->adapters[2].model, "qwen");
	assert_int_equal(policy->rule_count, 0);
	assert_true(policy->lora.spread);
	assert_close(policy->lora.requests, 2, 0);
	assert_int_equal(policy->lora.max_replicas, 3);
	assert_true(policy->lora.remember == 60 * SECOND);
	assert_true(policy->lora.cooling == 0);
	policy_file_free(file);
	problems_free(problems);
}

static void a_name_means_one_thing(void **state)
{
	(void)state;
	assert_says("{\"models\": {\"m\": {\"aliases\": [\"x\"], \"adapters\": [\"m\", \"a\"]},\n"
	            " \"n\": {\"adapters\": [\"a\", \"x\"]}, \"o*\": {\"adapters\": [\"b\"]}}}",
	            "policy.json:1:50: error: models.m.adapters[0]: \"m\" is no adapter of itself "
	            "[adapter]\n"
	            "policy.json:2:21: error: models.n.adapters[0]: \"a\" is an adapter already, "
	            "of m [duplicate]\n"
	            "policy.json:2:26: error: models.n.adapters[1]: \"x\" is an alias already "
	            "[duplicate]\n"
	            "policy.json:2:52: error: models.o*.adapters: adapters are of one model, and "
	            "\"o*\" is a pattern [adapter]\n4 errors\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adapters_have_a_model_and_make_no_rule),
		cmocka_unit_test(a_name_means_one_thing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
