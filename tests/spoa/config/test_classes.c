/* test_classes.c - classes and HAProxy's queue, as a policy file says them. Proves
 * B039 as far as the agent decides it. */
#include <stdlib.h>

#include "policies/classes.h"
#include "tests/policies/world.h"
#include "tests/spoa/config/parsed.h"

static void tenants_models_and_rules_name_classes(void **state)
{
	struct problems *problems;
	struct policy_file *file =
	        parsed("{\"defaults\": {\"queue\": {\"priority-step\": \"2s\", \"ttft\": \"4s\","
	               "  \"client-priority\": true}},"
	               " \"classes\": {\"Gold_One\": {\"priority\": -100, \"ttft\": \"500ms\","
	               "  \"tpot\": \"40ms\", \"e2e\": \"10s\"}, \"default\": {\"priority\": 1}},"
	               " \"tenants\": {\"acme\": {\"class\": \"gold-one\"}, \"*\": {}},"
	               " \"models\": {\"m\": {\"class\": \"batch\"}},"
	               " \"rules\": [{\"path\": \"/v1/embeddings\", \"class\": \"default\"}]}",
	               &problems);
	const struct policy *policy;

	(void)state;
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	policy = policy_file_policy(file);
	assert_int_equal(policy->queue.priority_step, 2 * SECOND);
	assert_true(policy->queue.client_priority);
	assert_false(policy->queue.client_objectives);
	assert_float_equal(policy->queue.objectives.ttft_ms, 4000, 0);
	assert_float_equal(policy->queue.default_ttft_ms, 5000, 0);
	assert_int_equal(policy->class_count, 2);
	assert_ptr_equal(policy->tenants[0].class_of, &policy->classes[0]);
	assert_null(policy->tenants[1].class_of);
	assert_float_equal(policy->classes[0].priority, -100, 0);
	assert_float_equal(policy->classes[0].objectives.ttft_ms, 500, 0);
	assert_float_equal(policy->classes[0].objectives.tpot_ms, 40, 0);
	assert_float_equal(policy->classes[0].objectives.e2e_ms, 10000, 0);
	assert_ptr_equal(policy->rules[0].class_of, class_builtin(2));
	assert_ptr_equal(policy->rules[1].class_of, &policy->classes[1]);
	assert_ptr_equal(policy->default_class, &policy->classes[1]);
	assert_null(policy->default_rule.class_of);
	policy_file_free(file);
	problems_free(problems);
}

static void mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	assert_says("{\"tenants\": {\"a\": {\"class\": \"bach\"}}}",
	            "policy.json:1:29: error: tenants.a.class: there is no class \"bach\" (did you "
	            "mean "
	            "\"batch\"?) [unknown-class]\n1 error\n");
	assert_says("{\"classes\": {\"a\": {\"priority\": 1.5}}}",
	            "policy.json:1:32: error: classes.a.priority: 1.5 is no whole number "
	            "[range]\n1 error\n");
	assert_says(
	        "{\"classes\": {\"a\": {\"priority\": -2048}}}",
	        "policy.json:1:32: error: classes.a.priority: -2048 is not between -2047 and 2047 "
	        "[range]\n1 error\n");
	assert_says("{\"classes\": {\"a-b\": {}, \"A_B\": {}}}",
	            "policy.json:1:25: error: classes.A_B: is the same as \"a-b\" [duplicate]\n1 "
	            "error\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tenants_models_and_rules_name_classes),
		cmocka_unit_test(mistakes_are_told_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
