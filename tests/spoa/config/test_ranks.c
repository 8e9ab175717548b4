/* test_ranks.c - data-parallel ranks as a policy file says them. Proves B066. */
#include "tests/spoa/config/parsed.h"

static void ranks_are_read(void **state)
{
	struct policy_file *file = good("{\"instances\": {\"a\": {\"replicas\": {\"x*\": "
	                                "{\"ranks\": 8}, \"*\": {\"ranks\": "
	                                "8}}}}}");
	const struct instance_policy *a = &policy_file_policy(file)->instances[0];

	(void)state;
	assert_int_equal(a->replicas[0].ranks, 8);
	assert_int_equal(a->replicas[1].ranks, 8);
	policy_file_free(file);
}

static void what_cannot_be_is_told(void **state)
{
	(void)state;
	assert_says(
	        "{\"instances\": {\"a\": {\"replicas\": {\"x\": {\"ranks\": 65}}}}}",
	        "policy.json:1:50: error: instances.a.replicas.x.ranks: 65 is not between 0 and "
	        "64 [range]\n1 error\n");
	assert_says("{\"instances\": {\"a\": {\"replicas\": {\"x\": {\"ranks\": 4}, \"y\": {}}}}}",
	            "policy.json:1:21: warning: instances.a: x has 4 ranks, y 0: a request that "
	            "HAProxy moves from one to the other may ask for a rank that is not there "
	            "[ranks]\n1 warning\n");
	assert_says(
	        "{\"instances\": {\"a\": {\"strategy\": \"pd\", \"replicas\": {\"x\": {\"role\": "
	        "\"prefill\", \"ranks\": 4}, \"y\": {\"role\": \"decode\"}}}}}",
	        "policy.json:1:58: warning: instances.a.replicas.x: a decode engine is told "
	        "where to prefill, not by which rank: the engine chooses one itself [ranks]\n1 "
	        "warning\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_read),
		cmocka_unit_test(what_cannot_be_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
