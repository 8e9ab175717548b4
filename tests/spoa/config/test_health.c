/* test_health.c - what counts as a failure, what probes send, and what must not stand in a
 * policy. Proves R015, R066, R069. */
#include "tests/spoa/config/parsed.h"

static const struct health_policy *health_of(const struct policy_file *file)
{
	return &policy_file_policy(file)->health;
}

static bool lists(const struct eject_on *on, int status)
{
	return on->statuses[(status - 400) / 64] >> (status - 400) % 64 & 1;
}

static void without_a_list_nothing_is_given(void **state)
{
	struct policy_file *file = good("{}");

	(void)state;
	assert_false(health_of(file)->eject_on.given);
	assert_int_equal(health_of(file)->probe_header_count, 0);
	assert_int_equal(health_of(file)->probe_token, TOKEN_STALLED);
	policy_file_free(file);
}

static void the_two_level_gateways_rule_is_every_4xx_and_5xx(void **state)
{
	struct policy_file *file =
	        good("{\"defaults\": {\"health\": {\"eject-on\": [\"4xx\", \"5xx\"]}}}");
	const struct eject_on *on = &health_of(file)->eject_on;

	(void)state;
	assert_true(on->given);
	for (int status = 400; status < 600; status++)
		assert_true(lists(on, status));
	assert_false(on->connect || on->lost || on->timeout || on->busy || on->denied);
	policy_file_free(file);
}

static void each_word_says_one_class(void **state)
{
	struct policy_file *file =
	        good("{\"defaults\": {\"health\": {\"eject_on\": [\"connect-error\", "
	             "\"Connection_Lost\", \"timeout\", \"busy\", \"denied\", \"server-error\", "
	             "\"404\"]}}}");
	const struct eject_on *on = &health_of(file)->eject_on;

	(void)state;
	assert_true(on->connect && on->lost && on->timeout && on->busy && on->denied);
	for (int status = 400; status < 600; status++)
		assert_int_equal(lists(on, status),
		                 status == 404 || (status >= 500 && status != 501 &&
		                                   status != 503 && status != 505));
	policy_file_free(file);
}

static void what_is_no_class_is_told(void **state)
{
	(void)state;
	assert_says("{\"defaults\": {\"health\": {\"eject-on\": [\"timeouts\", \"399\", \"600\", "
	            "\"40x\"]}}}",
	            "policy.json:1:39: error: defaults.health.eject-on[0]: \"timeouts\" is "
	            "neither a class of failures nor a status from 400 to 599 (did you mean "
	            "\"timeout\"?) [range]\n"
	            "policy.json:1:51: error: defaults.health.eject-on[1]: \"399\" is neither a "
	            "class of failures nor a status from 400 to 599 [range]\n"
	            "policy.json:1:58: error: defaults.health.eject-on[2]: \"600\" is neither a "
	            "class of failures nor a status from 400 to 599 [range]\n"
	            "policy.json:1:65: error: defaults.health.eject-on[3]: \"40x\" is neither a "
	            "class of failures nor a status from 400 to 599 (did you mean \"4xx\"?) "
	            "[range]\n"
	            "4 errors\n");
}

static void probes_have_headers(void **state)
{
	struct policy_file *file = good("{\"defaults\": {\"engine-credential-file\": \"/k\", "
	                                "\"health\": {\"probe-headers\": "
	                                "{\"X-Zone\": \"b\", \"accept\": \"*/*\"}}}}");

	(void)state;
	assert_int_equal(health_of(file)->probe_header_count, 2);
	assert_string_equal(health_of(file)->probe_headers[0].name, "X-Zone");
	assert_string_equal(health_of(file)->probe_headers[0].value, "b");
	assert_string_equal(health_of(file)->probe_headers[1].name, "accept");
	assert_string_equal(policy_file_policy(file)->engine_credential_file, "/k");
	policy_file_free(file);
}

static void credentials_and_what_is_no_header_are_refused(void **state)
{
	(void)state;
	assert_says("{\"defaults\": {\"health\": {\"probe-headers\": {\n"
	            "\"Authorization\": \"Bearer s3cret\",\n"
	            "\"X-API-Key\": \"s3cret\",\n"
	            "\"a b\": \"c\",\n"
	            "\"d\": \"e\\r\\nf: g\"}}}}",
	            "policy.json:2:18: error: defaults.health.probe-headers.Authorization: a "
	            "credential must not stand in the policy: put it into a file and name that in "
	            "engine-credential-file [secret-inline]\n"
	            "policy.json:3:14: error: defaults.health.probe-headers.X-API-Key: a "
	            "credential must not stand in the policy: put it into a file and name that in "
	            "engine-credential-file [secret-inline]\n"
	            "policy.json:4:8: error: defaults.health.probe-headers.a b: this cannot be "
	            "sent as a header [range]\n"
	            "policy.json:5:6: error: defaults.health.probe-headers.d: this cannot be sent "
	            "as a header [range]\n"
	            "4 errors\n");
}

static void a_body_that_must_change_needs_what_there_is_not_yet(void **state)
{
	(void)state;
	assert_says("{\"instances\": {\"be_a\": {\"rewrite-model\": \"relay\"},\n"
	            "\"be_b\": {\"rewrite-model\": \"header\"},\n"
	            "\"be_c\": {\"rewrite-model\": \"body\"}}}",
	            "policy.json:1:42: error: instances.be_a.rewrite-model: changing the model in "
	            "the body needs the relay, which this version does not have: let the engines "
	            "serve the clients' name as an alias, or read the header x-infer-model "
	            "[rewrite-model]\n"
	            "policy.json:3:27: error: instances.be_c.rewrite-model: \"body\" is neither "
	            "header nor relay [rewrite-model]\n"
	            "2 errors\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_list_nothing_is_given),
		cmocka_unit_test(the_two_level_gateways_rule_is_every_4xx_and_5xx),
		cmocka_unit_test(each_word_says_one_class),
		cmocka_unit_test(what_is_no_class_is_told),
		cmocka_unit_test(probes_have_headers),
		cmocka_unit_test(credentials_and_what_is_no_header_are_refused),
		cmocka_unit_test(a_body_that_must_change_needs_what_there_is_not_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
