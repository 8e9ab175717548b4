/* test_affinity.c - rules of hosts, paths and affinity, as a policy file says them, and the
 * shipped examples at work. Proves R010, R011, R014, R015, R060, R061, R062. */
#include "spoa/config/check_haproxy.h"
#include "tests/policies/world.h"
#include "tests/spoa/config/parsed.h"

static void hosts_and_paths_are_kept_as_they_are_compared(void **state)
{
	struct problems *problems;
	struct policy_file *file = parsed(
	        "{\"rules\": [{\"host\": \"*.EU.Example.com\", \"path\": \"/v1/app/\","
	        " \"model\": \"m*\"}, {\"host\": \"*\", \"path\": \"/\", \"model\": \"*\"}]}",
	        &problems);
	const struct policy *policy;

	(void)state;
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	policy = policy_file_policy(file);
	assert_string_equal(policy->rules[0].host, "*.eu.example.com");
	assert_string_equal(policy->rules[0].path, "/v1/app");
	assert_string_equal(policy->rules[0].model, "m*");
	assert_string_equal(policy->rules[1].host, "");
	assert_string_equal(policy->rules[1].path, "");
	assert_string_equal(policy->rules[1].model, "");
	policy_file_free(file);
	problems_free(problems);
}

static void equal_rules_are_an_error_and_others_are_not(void **state)
{
	(void)state;
	assert_says("{\"models\": {\"m\": {\"min-score\": 0.1}},\n"
	            " \"rules\": [{\"model\": \"m\", \"host\": \"a\"},\n"
	            "  {\"host\": \"A\", \"model\": \"m\"},\n"
	            "  {\"path\": \"/x\", \"model\": \"m\"}, {\"path\": \"/x\"},\n"
	            "  {\"path\": \"/x/\"},\n"
	            "  {\"host\": \"a\", \"path\": \"/x\"}]}",
	            "policy.json:3:17: error: rules[1].model: there is a rule for \"a m\" already, "
	            "at line 2 [equal-rules]\n"
	            "policy.json:5:4: error: rules[4].path: there is a rule for \"/x\" already, at "
	            "line 4 [equal-rules]\n"
	            "2 errors\n");
}

static void patterns_that_mean_nothing_are_refused(void **state)
{
	(void)state;
	assert_says("{\"rules\": [{\"host\": \"a.*\"}, {\"host\": \"*a\"}, {\"host\": \"*.\"},"
	            " {\"path\": \"v1\"}]}",
	            "policy.json:1:21: error: rules[0].host: \"a.*\" is neither a host nor *.host "
	            "[range]\n"
	            "policy.json:1:38: error: rules[1].host: \"*a\" is neither a host nor *.host "
	            "[range]\n"
	            "policy.json:1:54: error: rules[2].host: \"*.\" is neither a host nor *.host "
	            "[range]\n"
	            "policy.json:1:70: error: rules[3].path: \"v1\" does not begin with / [range]\n"
	            "4 errors\n");
}

static void every_part_of_a_rule_of_affinity_is_read(void **state)
{
	struct problems *problems;
	struct policy_file *file = parsed(
	        "{\"affinity\": [{\"exact\": \"acme\", \"only\": [\"a\", \"b\"], \"strict\": true},"
	        " {\"on\": \"header\", \"header\": \"X-App\", \"one-of\": [\"x\", \"y\"],"
	        "  \"never\": [\"c\"]}],"
	        " \"models\": {\"m\": {\"affinity\": ["
	        "  {\"on\": \"session\", \"split\": {\"a\": 90, \"b\": 0.5}},"
	        "  {\"prefix\": \"x\", \"only\": [\"a\"]},"
	        "  {\"none-of\": [\"x\"], \"only\": [\"a\"]}]}}}",
	        &problems);
	const struct policy *policy;
	const struct affinity *own;

	(void)state;
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	policy = policy_file_policy(file);
	assert_int_equal(policy->affinity_count, 2);
	assert_int_equal(policy->affinities[0].on, AFFINITY_TENANT);
	assert_int_equal(policy->affinities[0].match, AFFINITY_ONE_OF);
	assert_int_equal(policy->affinities[0].value_count, 1);
	assert_string_equal(policy->affinities[0].values[0], "acme");
	assert_int_equal(policy->affinities[0].only_count, 2);
	assert_string_equal(policy->affinities[0].only[1], "b");
	assert_true(policy->affinities[0].strict);
	assert_int_equal(policy->affinities[1].on, AFFINITY_HEADER);
	assert_string_equal(policy->affinities[1].header, "X-App");
	assert_int_equal(policy->affinities[1].value_count, 2);
	assert_string_equal(policy->affinities[1].never[0], "c");
	assert_false(policy->affinities[1].strict);
	assert_int_equal(policy->rules[0].affinity_count, 3);
	own = policy->rules[0].affinities;
	assert_int_equal(own[0].match, AFFINITY_ANY);
	assert_int_equal(own[0].split_count, 2);
	assert_string_equal(own[0].split[1], "b");
	assert_true(own[0].shares[0] == 90 && own[0].shares[1] == 0.5);
	assert_int_equal(own[1].match, AFFINITY_PREFIX);
	assert_int_equal(own[2].match, AFFINITY_NONE_OF);
	policy_file_free(file);
	problems_free(problems);
}

static void rules_that_say_nothing_or_too_much_are_refused(void **state)
{
	(void)state;
	assert_says("{\"affinity\": [{\"exact\": \"x\"},\n"
	            " {\"on\": \"header\", \"only\": [\"a\"]},\n"
	            " {\"header\": \"h\", \"only\": [\"a\"]},\n"
	            " {\"exact\": \"x\", \"prefix\": \"y\", \"only\": [\"a\"]},\n"
	            " {\"split\": {\"a\": 0}},\n"
	            " {\"split\": {\"a\": -1, \"b\": \"1\"}},\n"
	            " {\"on\": \"heder\", \"only\": [\"a\"]}]}",
	            "policy.json:1:15: error: affinity[0]: one of only, never and split must be "
	            "there [range]\n"
	            "policy.json:2:2: error: affinity[1]: on is header, but no header is named "
	            "[range]\n"
	            "policy.json:3:3: error: affinity[2].header: means nothing unless on is header "
	            "[range]\n"
	            "policy.json:4:17: error: affinity[3].prefix: the rule has \"exact\" already, "
	            "and takes one of exact, one-of, prefix, none-of [duplicate]\n"
	            "policy.json:5:12: error: affinity[4].split: no part has a share above 0 "
	            "[range]\n"
	            "policy.json:6:12: error: affinity[5].split: no part has a share above 0 "
	            "[range]\n"
	            "policy.json:6:18: error: affinity[5].split.a: -1 is not between 0 and 1000000 "
	            "[range]\n"
	            "policy.json:6:27: error: affinity[5].split.b: is a text, not a number [type]\n"
	            "policy.json:7:9: error: affinity[6].on: \"heder\" is none of "
	            "tenant|session|header (did you mean \"header\"?) [range]\n"
	            "9 errors\n");
}

static void another_name_upstream_tells_what_cannot_be_done(void **state)
{
	static const char note[] =
	        "goes into the header x-infer-model; the body still names the model as the client "
	        "did, since HAProxy cannot change it: the engines must serve that name as an "
	        "alias, or read the header [upstream-model]\n";
	char expected[1024];

	(void)state;
	(void)snprintf(expected, sizeof(expected),
	               "policy.json:1:57: note: instances.a.upstream-model: %s1 note\n", note);
	assert_says(
	        "{\"instances\": {\"a\": {\"models\": [\"m\"], \"upstream-model\": \"org/M\"}}}",
	        expected);
}

/* The top of the source tree, from this file's own path. */
static void tree_path(const char *name, char ret_path[4096])
{
	static const char own[] = "tests/spoa/config/test_affinity.c";
	size_t top = strlen(__FILE__) - (sizeof(own) - 1);

	(void)snprintf(ret_path, 4096, "%.*s%s", (int)top, __FILE__, name);
}

/* The shipped haproxy.cfg against a policy whose rules look at two headers. */
static void a_header_that_haproxy_does_not_send_is_told(void **state)
{
	static const char text[] =
	        "{\"affinity\": [{\"on\": \"header\", \"header\": \"X-Infer-Affinity\","
	        " \"only\": [\"a\"]}], \"models\": {\"m\": {\"affinity\": [{\"on\": \"header\","
	        " \"header\": \"x-region\", \"only\": [\"a\"]}]}}}";
	struct problems *of_policy, *problems = problems_new();
	struct policy_file *policy = parsed(text, &of_policy);
	struct check_options options = { .version = "2.6.12",
		                         .policy = policy_file_policy(policy) };
	const struct problem *problem;
	unsigned found = 0;
	char path[4096];

	(void)state;
	tree_path("haproxy", path);
	(void)setenv("INFER_ETC", path, 1);
	tree_path("haproxy/haproxy.cfg", path);
	check_haproxy(path, &options, problems);
	for (size_t i = 0; (problem = problems_at(problems, i)); i++) {
		if (strcmp(problem->rule, "header") != 0)
			continue;
		found++;
		assert_int_equal(problem->severity, SEVERITY_ERROR);
		assert_non_null(strstr(problem->text, "looks at x-region, which is not sent"));
		assert_non_null(strstr(problem->place.file, "spoe.cfg"));
	}
	assert_int_equal(found, 1);
	problems_free(problems);
	problems_free(of_policy);
	policy_file_free(policy);
}

/* ---- the shipped examples, on a world with their instances */

static struct problems *problems;
static struct policy_file *file;
static struct world *world;

/* The instances a, b, c are called by these names. */
static void ship(const char *profile, const char *first, const char *second, const char *third)
{
	const char *const names[] = { first, second, third };
	char name[64], path[4096];

	(void)snprintf(name, sizeof(name), "policies/profiles/%s.json", profile);
	tree_path(name, path);
	problems = problems_new();
	file = policy_load(path, problems);
	assert_non_null(file);
	assert_null(problems_at(problems, 0));
	world = world_new(3, 1);
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(world->names[i][0], 64, "%s", names[i]);
		world->servers[i].backend = SPAN(world->names[i][0]);
	}
	world_apply(world);
	facts_set_policy(world->facts, policy_file_policy(file));
	world_apply(world);
}

static void unship(void)
{
	world_free(world);
	policy_file_free(file);
	problems_free(problems);
}

static void down(const char *name)
{
	world_server(world, name, "s1")->up = false;
	world_apply(world);
}

/* The instance that serves a request of this model, tenant and header; "503" if refused. */
static const char *served(const char *model, const char *tenant, const char *header,
                          const char *value)
{
	struct request request = world_ask(world);
	struct decision decision;

	if (model)
		request.model = SPAN(model);
	if (tenant)
		request.tenant = SPAN(tenant);
	if (header)
		request.headers[request.header_count++] =
		        (struct header){ SPAN(header), SPAN(value) };
	decision = world_decide(world, request);
	if (decision.outcome == OUTCOME_REJECTED)
		return decision.status == 503 ? "503" : "refused";
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	world_end(world, request.id);
	return decision.instance->name;
}

static void a_tenant_has_instances_of_its_own(void **state)
{
	(void)state;
	ship("tenant-isolation", "svc-acme", "svc-a", "svc-b");
	for (size_t i = 0; i < 20; i++) {
		assert_string_equal(served(NULL, "acme", NULL, NULL), "svc-acme");
		assert_string_not_equal(served(NULL, "other", NULL, NULL), "svc-acme");
		assert_string_not_equal(served(NULL, NULL, NULL, NULL), "svc-acme");
	}
	down("svc-acme");
	assert_string_equal(served(NULL, "acme", NULL, NULL), "503");
	world_server(world, "svc-acme", "s1")->up = true;
	down("svc-a");
	down("svc-b");
	assert_string_equal(served(NULL, "acme", NULL, NULL), "svc-acme");
	assert_string_equal(served(NULL, "other", NULL, NULL), "503");
	unship();
}

static void applications_have_their_services(void **state)
{
	(void)state;
	ship("app-isolation", "svc-search", "svc-batch", "svc-shared");
	for (size_t i = 0; i < 20; i++) {
		assert_string_equal(served(NULL, NULL, "x-app", "batch-night"), "svc-batch");
		assert_string_not_equal(served(NULL, NULL, "x-app", "search"), "svc-batch");
		assert_string_not_equal(served(NULL, NULL, "x-app", "chat"), "svc-batch");
	}
	down("svc-batch");
	assert_string_equal(served(NULL, NULL, "x-app", "batch-night"), "svc-shared");
	unship();
}

static void a_canary_gets_its_share_of_tenants_and_those_who_ask(void **state)
{
	uint32_t canary = 0;

	(void)state;
	ship("canary", "svc-stable", "svc-canary", "svc-x");
	for (uint32_t i = 0; i < 1000; i++) {
		char tenant[32];
		const char *first;

		(void)snprintf(tenant, sizeof(tenant), "t%u", i);
		first = served("llama70b", tenant, NULL, NULL);
		assert_string_equal(served("llama70b", tenant, NULL, NULL), first);
		canary += strcmp(first, "svc-canary") == 0;
	}
	assert_in_range(canary, 100 - 38, 100 + 38);
	for (size_t i = 0; i < 20; i++) {
		char tenant[32];

		(void)snprintf(tenant, sizeof(tenant), "t%zu", i);
		assert_string_equal(served("llama70b", tenant, "x-infer-affinity", "canary"),
		                    "svc-canary");
		assert_string_equal(served("llama70b", tenant, "x-infer-affinity", "stable"),
		                    "svc-stable");
	}
	down("svc-canary");
	for (uint32_t i = 0; i < 100; i++) {
		char tenant[32];

		(void)snprintf(tenant, sizeof(tenant), "t%u", i);
		assert_string_equal(served("llama70b", tenant, NULL, NULL), "svc-stable");
	}
	unship();
}

static void users_go_to_their_region_and_elsewhere_when_it_is_lost(void **state)
{
	(void)state;
	ship("regions", "svc-eu", "svc-us", "svc-x");
	for (size_t i = 0; i < 20; i++) {
		assert_string_equal(served(NULL, NULL, "x-region", "eu-west"), "svc-eu");
		assert_string_equal(served(NULL, NULL, "x-region", "us-east"), "svc-us");
		assert_string_equal(served(NULL, NULL, NULL, NULL), "svc-us");
	}
	down("svc-eu");
	assert_string_equal(served(NULL, NULL, "x-region", "eu-west"), "svc-us");
	world_server(world, "svc-eu", "s1")->up = true;
	down("svc-us");
	assert_string_equal(served(NULL, NULL, "x-region", "us-east"), "svc-eu");
	unship();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_and_paths_are_kept_as_they_are_compared),
		cmocka_unit_test(equal_rules_are_an_error_and_others_are_not),
		cmocka_unit_test(patterns_that_mean_nothing_are_refused),
		cmocka_unit_test(every_part_of_a_rule_of_affinity_is_read),
		cmocka_unit_test(rules_that_say_nothing_or_too_much_are_refused),
		cmocka_unit_test(another_name_upstream_tells_what_cannot_be_done),
		cmocka_unit_test(a_header_that_haproxy_does_not_send_is_told),
		cmocka_unit_test(a_tenant_has_instances_of_its_own),
		cmocka_unit_test(applications_have_their_services),
		cmocka_unit_test(a_canary_gets_its_share_of_tenants_and_those_who_ask),
		cmocka_unit_test(users_go_to_their_region_and_elsewhere_when_it_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
