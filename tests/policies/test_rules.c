/* test_rules.c - the most specific rule wins. Proves R010, R011. */
#include "policies/rules.h"
#include "tests/policies/world.h"

static struct policy policy;

/* The number of the rule that counts, -1 for the default. */
static int chosen(const char *host, const char *path, const char *model)
{
	struct request request = { .id = SPAN("x") };
	struct model_names names = { { NULL, 0 }, { NULL, 0 } };
	const struct rule *rule;

	if (host)
		request.host = SPAN(host);
	if (path)
		request.path = SPAN(path);
	if (model)
		names.own = SPAN(model);
	rule = rule_for(&policy, &request, &names);
	return rule == &policy.default_rule ? -1 : (int)(rule - policy.rules);
}

static void make(struct rule *rules, uint32_t count)
{
	policy_default(&policy);
	policy.rules = rules;
	policy.rule_count = count;
}

static void exact_before_prefix_before_any_before_the_default(void **state)
{
	static struct rule rules[5] = {
		{ .model = "glm-*" }, { .model = "glm-5*" }, { .model = "glm-5.3" },
		{ .model = "" },      { .model = "g*" },
	};

	(void)state;
	make(rules, 0);
	assert_int_equal(chosen(NULL, NULL, "glm-5.3"), -1);
	make(rules, 5);
	assert_int_equal(chosen(NULL, NULL, "glm-5.3"), 2);
	assert_int_equal(chosen(NULL, NULL, "glm-5.4"), 1);
	assert_int_equal(chosen(NULL, NULL, "glm-4"), 0);
	assert_int_equal(chosen(NULL, NULL, "gpt"), 4);
	assert_int_equal(chosen(NULL, NULL, "qwen"), 3);
	assert_int_equal(chosen(NULL, NULL, NULL), 3);
	policy.rule_count = 3;
	assert_int_equal(chosen(NULL, NULL, "qwen"), -1);
	assert_int_equal(chosen(NULL, NULL, NULL), -1);
}

static void a_host_is_exact_or_a_suffix_or_any(void **state)
{
	static struct rule rules[4] = { { .host = "" },
		                        { .host = "*.example.com" },
		                        { .host = "*.eu.example.com" },
		                        { .host = "a.eu.example.com" } };

	(void)state;
	make(rules, 4);
	assert_int_equal(chosen("a.eu.example.com", NULL, NULL), 3);
	assert_int_equal(chosen("b.eu.example.com", NULL, NULL), 2);
	assert_int_equal(chosen("x.b.eu.example.com", NULL, NULL), 2);
	assert_int_equal(chosen("b.example.com", NULL, NULL), 1);
	assert_int_equal(chosen("example.com", NULL, NULL), 0);
	assert_int_equal(chosen(".example.com", NULL, NULL), 0);
	assert_int_equal(chosen("b.example.com.evil", NULL, NULL), 0);
	assert_int_equal(chosen(NULL, NULL, NULL), 0);
	/* Capitals, a port and the dot of the root change nothing. */
	assert_int_equal(chosen("A.EU.Example.COM:8443", NULL, NULL), 3);
	assert_int_equal(chosen("a.eu.example.com.", NULL, NULL), 3);
	assert_int_equal(chosen("B.example.com.:80", NULL, NULL), 1);
}

static void an_address_as_host_keeps_its_digits(void **state)
{
	static struct rule rules[2] = { { .host = "10.0.0.1" }, { .host = "[::1]" } };

	(void)state;
	make(rules, 2);
	assert_int_equal(chosen("10.0.0.1", NULL, NULL), 0);
	assert_int_equal(chosen("10.0.0.1:80", NULL, NULL), 0);
	assert_int_equal(chosen("10.0.0.12", NULL, NULL), -1);
	assert_int_equal(chosen("[::1]", NULL, NULL), 1);
	assert_int_equal(chosen("[::1]:80", NULL, NULL), 1);
}

static void a_path_matches_on_segment_borders_and_the_longest_wins(void **state)
{
	static struct rule rules[3] = { { .path = "/v1" }, { .path = "/v1/app" }, { .path = "" } };

	(void)state;
	make(rules, 3);
	assert_int_equal(chosen(NULL, "/v1/app/x", NULL), 1);
	assert_int_equal(chosen(NULL, "/v1/app", NULL), 1);
	assert_int_equal(chosen(NULL, "/v1/app/", NULL), 1);
	assert_int_equal(chosen(NULL, "/v1/apple", NULL), 0);
	assert_int_equal(chosen(NULL, "/v1", NULL), 0);
	assert_int_equal(chosen(NULL, "/v", NULL), 2);
	assert_int_equal(chosen(NULL, "/V1/app", NULL), 2);
	assert_int_equal(chosen(NULL, NULL, NULL), 2);
}

static void host_counts_before_path_before_model(void **state)
{
	static struct rule rules[5] = {
		{ .host = "*.x", .path = "/v1/chat/completions", .model = "m" },
		{ .host = "a.x" },
		{ .path = "/v1/chat", .model = "m" },
		{ .path = "/v1/chat/completions" },
		{ .model = "m" },
	};

	(void)state;
	make(rules, 5);
	assert_int_equal(chosen("a.x", "/v1/chat/completions", "m"), 1);
	assert_int_equal(chosen("b.x", "/v1/chat/completions", "m"), 0);
	assert_int_equal(chosen("b.x", "/v1/chat/completions", "n"), 3);
	assert_int_equal(chosen("y", "/v1/chat/completions", "m"), 3);
	assert_int_equal(chosen("y", "/v1/chat/x", "m"), 2);
	assert_int_equal(chosen("y", "/v1", "m"), 4);
	assert_int_equal(chosen("y", "/v1", "n"), -1);
	/* All three must match. */
	assert_int_equal(chosen("b.x", "/v1/completions", "m"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_before_prefix_before_any_before_the_default),
		cmocka_unit_test(a_host_is_exact_or_a_suffix_or_any),
		cmocka_unit_test(an_address_as_host_keeps_its_digits),
		cmocka_unit_test(a_path_matches_on_segment_borders_and_the_longest_wins),
		cmocka_unit_test(host_counts_before_path_before_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
