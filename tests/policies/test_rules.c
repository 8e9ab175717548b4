/* test_rules.c - the most specific rule wins. Proves R010 as far as models go. */
#include "policies/rules.h"
#include "tests/policies/world.h"

static void exact_before_prefix_before_any_before_the_default(void **state)
{
	static struct policy policy;
	static struct rule rules[5] = {
		{ .model = "glm-*" }, { .model = "glm-5*" }, { .model = "glm-5.3" },
		{ .model = "" },      { .model = "g*" },
	};

	(void)state;
	policy_default(&policy);
	assert_ptr_equal(rule_for(&policy, SPAN("glm-5.3")), &policy.default_rule);
	policy.rules = rules;
	policy.rule_count = 5;
	assert_ptr_equal(rule_for(&policy, SPAN("glm-5.3")), &rules[2]);
	assert_ptr_equal(rule_for(&policy, SPAN("glm-5.4")), &rules[1]);
	assert_ptr_equal(rule_for(&policy, SPAN("glm-4")), &rules[0]);
	assert_ptr_equal(rule_for(&policy, SPAN("gpt")), &rules[4]);
	assert_ptr_equal(rule_for(&policy, SPAN("qwen")), &rules[3]);
	assert_ptr_equal(rule_for(&policy, (struct span){ NULL, 0 }), &rules[3]);
	policy.rule_count = 3;
	assert_ptr_equal(rule_for(&policy, SPAN("qwen")), &policy.default_rule);
	assert_ptr_equal(rule_for(&policy, (struct span){ NULL, 0 }), &policy.default_rule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_before_prefix_before_any_before_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
