/* test_tenants.c - callers and limits, as a policy file says them. Proves R012, R179. */
#include <math.h>
#include <stdlib.h>

#include "tests/near.h"
#include "tests/policies/world.h"
#include "tests/spoa/config/parsed.h"

static void tenants_have_weights_and_limits_of_their_own_and_of_models(void **state)
{
	struct problems *problems;
	struct policy_file *file = parsed("{\"tenants\": {"
	                                  " \"acme\": {\"weight\": 2, \"limits\": {\"requests\": "
	                                  "\"50/s\", \"tokens\": \"1M/m\","
	                                  "  \"tokens-burst\": 5000, \"max-inflight\": 4},"
	                                  "  \"models\": {\"m\": {\"requests\": \"60/m\", "
	                                  "\"requests-burst\": 5}, \"x*\": {}}},"
	                                  " \"*\": {}}}",
	                                  &problems);
	const struct policy *policy;
	const struct tenant_policy *acme;

	(void)state;
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	policy = policy_file_policy(file);
	assert_int_equal(policy->tenant_count, 2);
	acme = &policy->tenants[0];
	assert_string_equal(acme->name, "acme");
	assert_close(acme->weight, 2, 0);
	assert_close(acme->quota.requests.per_second, 50, 0);
	assert_close(acme->quota.requests.period_s, 1, 0);
	assert_close(acme->quota.requests_burst, 0, 0);
	assert_close(acme->quota.tokens.per_second, 1e6 / 60, 1e-9);
	assert_close(acme->quota.tokens.period_s, 60, 0);
	assert_close(acme->quota.tokens_burst, 5000, 0);
	assert_int_equal(acme->quota.max_inflight, 4);
	assert_int_equal(acme->model_count, 2);
	assert_string_equal(acme->models[0].model, "m");
	assert_close(acme->models[0].quota.requests.per_second, 1, 0);
	assert_close(acme->models[0].quota.requests_burst, 5, 0);
	assert_string_equal(acme->models[1].model, "x*");
	assert_close(acme->models[1].quota.requests.per_second, 0, 0);
	assert_string_equal(policy->tenants[1].name, "*");
	assert_close(policy->tenants[1].weight, 1, 0);
	policy_file_free(file);
	problems_free(problems);
}

static void a_model_may_have_limits_and_is_no_rule_for_that(void **state)
{
	struct problems *problems;
	struct policy_file *file = parsed("{\"models\": {\"a\": {\"aliases\": [\"b\"]},"
	                                  " \"m\": {\"limits\": {\"requests\": \"5/s\"}}}}",
	                                  &problems);
	const struct policy *policy;

	(void)state;
	assert_non_null(file);
	policy = policy_file_policy(file);
	assert_int_equal(policy->rule_count, 0);
	assert_int_equal(policy->quota_count, 1);
	assert_string_equal(policy->quotas[0].model, "m");
	assert_close(policy->quotas[0].quota.requests.per_second, 5, 0);
	policy_file_free(file);
	problems_free(problems);
}

static void what_can_limit_nothing_is_told(void **state)
{
	(void)state;
	assert_says(
	        "{\"tenants\": {\n"
	        " \"a*b\": {\"limits\": {\"requests-burst\": 5}},\n"
	        " \"c\": {\"models\": {\"*x\": {\"tokens\": \"0\", \"tokens-burst\": 5}}},\n"
	        " \"d\": {\"limits\": {\"requests\": \"50\"}}, \"e\": {\"limits\": "
	        "{\"tokens\": 9}},\n"
	        " \"f\": {\"limit\": {}}}}",
	        "policy.json:2:2: error: tenants.a*b: a star stands at the end, or not at all "
	        "[range]\n"
	        "policy.json:2:39: error: tenants.a*b.limits.requests-burst: there is no rate that "
	        "it "
	        "belongs to [range]\n"
	        "policy.json:3:19: error: tenants.c.models.*x: a star stands at the end, or not at "
	        "all "
	        "[range]\n"
	        "policy.json:3:57: error: tenants.c.models.*x.tokens-burst: there is no rate that "
	        "it "
	        "belongs to [range]\n"
	        "policy.json:4:31: error: tenants.d.limits.requests: \"50\" needs a time, as in "
	        "50/s or "
	        "600/m [range]\n"
	        "policy.json:4:66: error: tenants.e.limits.tokens: 9 needs a unit, as in \"50/s\" "
	        "or "
	        "\"1M/m\" [type]\n"
	        "policy.json:5:8: error: tenants.f.limit: unknown key (did you mean \"limits\"?) "
	        "[unknown-key]\n"
	        "7 errors\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tenants_have_weights_and_limits_of_their_own_and_of_models),
		cmocka_unit_test(a_model_may_have_limits_and_is_no_rule_for_that),
		cmocka_unit_test(what_can_limit_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
