/* test_policy.c - a policy file becomes a policy, or all its mistakes are told.
 * Proves R013, R019, R130, R133, R175, P112, P121, P122. */
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "tests/spoa/config/parsed.h"

static const struct strategy *strategy(const char *name)
{
	return strategy_named((struct span){ name, strlen(name) });
}

static void an_empty_object_is_the_embedded_default(void **state)
{
	struct policy_file *file = good("{}");
	struct problems *problems = problems_new();
	struct policy_file *embedded = policy_load(NULL, problems);

	(void)state;
	assert_non_null(embedded);
	assert_string_equal(policy_file_name(embedded), "default");
	assert_true(policy_file_hash(embedded) == 0);
	assert_true(policy_file_hash(file) == 0x2e1472b57af294d1); /* XXH64 of {} */
	assert_ptr_equal(policy_file_policy(file)->default_rule.chain[0].strategy,
	                 strategy("default"));
	assert_ptr_equal(policy_file_policy(embedded)->default_instance.chain[0].strategy,
	                 strategy("default"));
	assert_true(policy_file_policy(file)->default_rule.chain[0].prefer_serving_below == 1);
	assert_true(policy_file_policy(file)->default_instance.chain[0].prefer_serving_below == 0);
	assert_string_equal(policy_file_policy(file)->ladder.id, LADDER_DEFAULT);
	policy_file_free(file);
	policy_file_free(embedded);
	problems_free(problems);
}

static void every_part_of_a_file_arrives(void **state)
{
	struct policy_file *file = good(
	        "{\"defaults\": {\"levels\": \"replica\", \"stale-after\": \"250ms\","
	        "  \"prefix\": {\"min_match\": \"8k\", \"TTL\": \"1h\"}, \"ladder\": \"2x4k\"},"
	        " \"models\": {\"Qwen2-7B\": {\"aliases\": [\"gpt-4\", \"o1\"]},"
	        "  \"m\": {\"instances\": [\"be_a\"], \"fallback-services\": [\"cloud\"]}},"
	        " \"instances\": {\"be_a\": {\"models\": [\"m\"], \"weight\": 2.5,"
	        "  \"replicas\": {\"gpu1\": {\"weight\": 3}, \"10.0.0.1:8000\": {}}}},"
	        " \"rules\": [{\"model\": \"x*\", \"admit\": {\"max-ttft\": \"3s\"}}],"
	        " \"check\": {\"ignore\": [\"bufsize\", \"regex\"]}}");
	const struct policy *policy = policy_file_policy(file);
	const struct instance_policy *instance = &policy->instances[0];

	(void)state;
	assert_int_equal(policy->levels, LEVELS_REPLICA);
	assert_int_equal(policy->stale_after, 250 * MSEC);
	assert_true(policy->prefix.min_match == 8192);
	assert_int_equal(policy->prefix.ttl, 3600 * SECOND);
	assert_int_equal(policy->ladder.count, 2);
	assert_int_equal(policy->alias_count, 2);
	assert_string_equal(policy->aliases[1].name, "o1");
	assert_string_equal(policy->aliases[1].model, "Qwen2-7B");
	assert_int_equal(policy->rule_count, 2);
	assert_string_equal(policy->rules[0].model, "m");
	assert_string_equal(policy->rules[0].instances[0], "be_a");
	assert_string_equal(policy->rules[0].fallbacks[0], "cloud");
	assert_string_equal(policy->rules[1].model, "x*");
	assert_int_equal(policy->rules[1].instance_count, 0);
	assert_true(policy->rules[1].chain[0].admit.ttft_ms == 3000);
	assert_int_equal(policy->instance_count, 1);
	assert_string_equal(instance->name, "be_a");
	assert_string_equal(instance->models[0], "m");
	assert_true(instance->weight == 2.5);
	assert_int_equal(instance->replica_count, 2);
	assert_string_equal(instance->replicas[0].name, "gpu1");
	assert_true(instance->replicas[0].weight == 3);
	assert_true(instance->replicas[1].weight == 1);
	assert_string_equal(policy_file_ignored(file, 1), "regex");
	assert_null(policy_file_ignored(file, 2));
	policy_file_free(file);
}

static void what_is_set_nearer_wins(void **state)
{
	struct policy_file *file = good(
	        "{\"defaults\": {\"strategy\": \"Soft_K_Choice\", \"k\": 3, \"max-share\": 0.5,"
	        "  \"admit\": {\"max-running\": 10, \"max-pending\": 7},"
	        "  \"level2\": {\"k\": 5, \"weight\": 3}},"
	        " \"instances\": {\"a\": {\"admit\": {\"max-running\": 20}},"
	        "  \"b\": {\"strategy\": \"p2c\", \"weight\": 1},"
	        "  \"c\": {\"max-share\": 0.4, \"chain\": [{\"max-share\": 0.3}, {\"k\": 1}]}}}");
	const struct policy *policy = policy_file_policy(file);
	const struct entry_policy *rule = &policy->default_rule.chain[0];
	const struct instance_policy *a = &policy->instances[0];
	const struct instance_policy *b = &policy->instances[1];
	const struct instance_policy *c = &policy->instances[2];

	(void)state;
	assert_ptr_equal(rule->strategy, strategy("soft-k-choice"));
	assert_int_equal(*(const uint32_t *)rule->picker_settings, 3);
	assert_int_equal(*(const uint32_t *)a->chain[0].picker_settings, 5);
	assert_true(a->chain[0].admit.running == 20);
	assert_true(a->chain[0].admit.pending == 7);
	assert_true(a->weight == 3);
	assert_ptr_equal(b->chain[0].strategy, strategy("p2c"));
	assert_true(b->chain[0].max_share == 0.5);
	assert_true(b->weight == 1);
	assert_int_equal(c->chain_count, 2);
	assert_true(c->chain[0].max_share == 0.3);
	assert_true(c->chain[1].max_share == 0.4);
	assert_int_equal(*(const uint32_t *)c->chain[0].picker_settings, 5);
	assert_int_equal(*(const uint32_t *)c->chain[1].picker_settings, 1);
	policy_file_free(file);
}

static void a_chain_is_inherited_and_its_entries_are_changed(void **state)
{
	struct policy_file *file =
	        good("{\"defaults\": {\"level1\": {\"chain\": [{\"strategy\": \"p2c\"}, {}]}},"
	             " \"rules\": [{\"model\": \"a\", \"min-score\": 0.5},"
	             "  {\"model\": \"b\", \"strategy\": \"random\"}]}");
	const struct policy *policy = policy_file_policy(file);

	(void)state;
	assert_int_equal(policy->default_rule.chain_count, 2);
	assert_int_equal(policy->default_instance.chain_count, 1);
	assert_int_equal(policy->rules[0].chain_count, 2);
	assert_ptr_equal(policy->rules[0].chain[0].strategy, strategy("p2c"));
	assert_ptr_equal(policy->rules[0].chain[1].strategy, strategy("default"));
	assert_true(policy->rules[0].chain[1].min_score == 0.5);
	assert_int_equal(policy->rules[1].chain_count, 1);
	assert_ptr_equal(policy->rules[1].chain[0].strategy, strategy("random"));
	policy_file_free(file);
}

static void a_recipe_of_ones_own_needs_json_only(void **state)
{
	struct policy_file *file =
	        good("{\"strategies\": {\"My_Mix\": {\"signals\": {\"running\": 1, \"kv-usage\": 0,"
	             "   \"prefix\": {\"weight\": 5, \"min-spread\": 2}}, \"picker\": \"soft_k\","
	             "   \"k\": 4, \"prefix-mode\": \"sole\", \"gate\": true, \"falls-to\": "
	             "\"random\", \"help\": \"Ours.\"}},"
	             " \"rules\": [{\"model\": \"a\", \"Strategy\": \"My_Mix\"},"
	             "  {\"model\": \"b\", \"strategy\": \"my-mix\", \"k\": 7},"
	             "  {\"model\": \"c\", \"strategy\": {\"signals\": {\"work\": 1}}}]}");
	const struct policy *policy = policy_file_policy(file);
	const struct strategy *mine = policy->rules[0].chain[0].strategy;

	(void)state;
	assert_string_equal(mine->name, "my-mix");
	/* A header may name it. */
	assert_ptr_equal(strategy_named_in(policy, (struct span){ "MY-mix", 6 }), mine);
	assert_ptr_equal(strategy_named_in(policy, (struct span){ "p2c", 3 }), strategy("p2c"));
	assert_null(strategy_named_in(policy, (struct span){ "my-mi", 5 }));
	assert_string_equal(mine->help, "Ours.");
	assert_string_equal(mine->weighings[0].signal->name, "running");
	assert_true(mine->weighings[0].min_spread < 0);
	assert_string_equal(mine->weighings[1].signal->name, "prefix");
	assert_true(mine->weighings[1].weight == 5);
	assert_true(mine->weighings[1].min_spread == 2);
	assert_null(mine->weighings[2].signal);
	assert_ptr_equal(mine->picker, &picker_soft_k);
	assert_int_equal(mine->prefix, PREFIX_SOLE);
	assert_true(mine->gate);
	assert_ptr_equal(mine->falls_to, strategy("random"));
	assert_int_equal(*(const uint32_t *)policy->rules[0].chain[0].picker_settings, 4);
	assert_ptr_equal(policy->rules[1].chain[0].strategy, mine);
	assert_int_equal(*(const uint32_t *)policy->rules[1].chain[0].picker_settings, 7);
	assert_ptr_equal(policy->rules[2].chain[0].strategy->picker, &picker_best);
	policy_file_free(file);
}

static void all_mistakes_of_a_file_are_told_at_once(void **state)
{
	(void)state;
	assert_says(
	        "{\n"
	        "  \"defaults\": {\n"
	        "    \"levels\": \"bothh\",\n"
	        "    \"strategy\": \"prefix-cach\",\n"
	        "    \"stale-after\": 3,\n"
	        "    \"prefx\": {},\n"
	        "    \"prefix\": { \"min-match\": \"4x\", \"hold-share\": 1.5 }\n"
	        "  },\n"
	        "  \"instances\": {\n"
	        "    \"be_a\": { \"models\": \"m\", \"replicas\": { \"gpu1\": { \"weigth\": 2 } } "
	        "},\n"
	        "    \"be_b\": { \"strategy\": { \"signals\": { \"runing\": 1, \"prefix\": -1 } } "
	        "},\n"
	        "    \"be_a\": { \"weight\": \"2\" }\n"
	        "  },\n"
	        "  \"models\": { \"m\": { \"aliases\": [\"x\", \"n\"], \"instances\": [\"be_aa\"] "
	        "},\n"
	        "              \"n\": { \"aliases\": [\"x\"], \"engine\": \"vllm\" } },\n"
	        "  \"rules\": [\n"
	        "    { \"model\": \"m\", \"strategy\": \"soft-k-choice\", \"k\": 0 },\n"
	        "    { \"strategy\": \"p2c\", \"k\": 2, \"instances\": [],\n"
	        "      \"admit\": { \"max-running\": 10, \"max_running\": 10, \"max-ttft\": \"2\" "
	        "},\n"
	        "      \"hard-limits\": { \"max-running\": 5 } },\n"
	        "    { \"model\": \"*\", \"chain\": [{}, {}, {}, {}, {}, {}, {}, {}, {}] }\n"
	        "  ],\n"
	        "  \"headers\": {}\n"
	        "}\n",
	        "policy.json:3:15: error: defaults.levels: \"bothh\" is none of "
	        "both|instance|replica (did you mean \"both\"?) [range]\n"
	        "policy.json:4:17: error: defaults.strategy: unknown name \"prefix-cach\" (did "
	        "you mean \"prefix-cache\"?) [unknown-strategy]\n"
	        "policy.json:5:20: error: defaults.stale-after: 3 needs a unit, as in \"250ms\" "
	        "or \"30s\" [type]\n"
	        "policy.json:6:5: error: defaults.prefx: unknown key (did you mean \"prefix\"?) "
	        "[unknown-key]\n"
	        "policy.json:7:30: error: defaults.prefix.min-match: \"4x\" needs a unit, b, k, "
	        "m or g [range]\n"
	        "policy.json:7:50: error: defaults.prefix.hold-share: 1.5 is not between 0 and "
	        "1 [range]\n"
	        "policy.json:11:42: error: instances.be_b.strategy.signals.runing: unknown name "
	        "(did you mean \"running\"?) [unknown-signal]\n"
	        "policy.json:11:65: error: instances.be_b.strategy.signals.prefix: -1 is not "
	        "between 0 and 1000 [range]\n"
	        "policy.json:12:5: error: instances.be_a: is here again, first at line 10, "
	        "column 5 [duplicate]\n"
	        "policy.json:12:25: error: instances.be_a.weight: is a text, not a number "
	        "[type]\n"
	        "policy.json:14:39: error: models.m.aliases[1]: \"n\" is the name of a model "
	        "itself [duplicate]\n"
	        "policy.json:14:59: warning: models.m.instances[0]: \"be_aa\" is not under "
	        "instances (did you mean \"be_a\"?) [unknown-backend]\n"
	        "policy.json:15:34: error: models.n.aliases[0]: \"x\" is an alias already, of m "
	        "[duplicate]\n"
	        "policy.json:15:40: error: models.n.engine: unknown key [unknown-key]\n"
	        "policy.json:17:7: error: rules[0].model: there is a rule for \"m\" already, at "
	        "line 14 [equal-rules]\n"
	        "policy.json:17:55: error: rules[0].k: 0 is not between 1 and 16 targets "
	        "[range]\n"
	        "policy.json:18:26: error: rules[1].k: the picker p2c of strategy p2c has no "
	        "such option [unknown-key]\n"
	        "policy.json:18:47: error: rules[1].instances: 0 elements, at least 1 must be "
	        "there [range]\n"
	        "policy.json:19:37: error: rules[1].admit.max_running: is the same as "
	        "\"max-running\" at line 19, column 18 [duplicate]\n"
	        "policy.json:19:68: error: rules[1].admit.max-ttft: \"2\" needs a unit, us, ms, "
	        "s, m, h or d [range]\n"
	        "policy.json:20:39: error: rules[1].hard-limits.max-running: 5 is below the 10 "
	        "of admit [range]\n"
	        "policy.json:21:7: error: rules[2].model: there is a rule for \"*\" already, at "
	        "line 18 [equal-rules]\n"
	        "policy.json:21:30: error: rules[2].chain: 9 elements, at most 8 can be there "
	        "[range]\n"
	        "policy.json:23:3: error: headers: is not supported by this version "
	        "[unknown-key]\n"
	        "23 errors, 1 warning\n");
}

static void types_and_units_are_told_one_by_one(void **state)
{
	(void)state;
	assert_says("[]", "policy.json:1:1: error: is a list, not an object [type]\n1 error\n");
	assert_says("{\"rules\": {}}",
	            "policy.json:1:11: error: rules: is an object, not a list [type]\n1 error\n");
	assert_says("{\"rules\": [1], \"models\": 2}",
	            "policy.json:1:12: error: rules[0]: is a number, not an object [type]\n"
	            "policy.json:1:26: error: models: is a number, not an object [type]\n"
	            "2 errors\n");
	assert_says("{\"defaults\": {\"strategy\": 1, \"max-inflight\": 1.5e4, \"prefix\": null,"
	            "\"lock-strategy\": \"yes\", \"levels\": true, \"stale-after\": {}}}",
	            "policy.json:1:27: error: defaults.strategy: is a number, not the name of a "
	            "strategy or a recipe [type]\n"
	            "policy.json:1:63: error: defaults.prefix: is null, not an object [type]\n"
	            "policy.json:1:85: error: defaults.lock-strategy: is a text, not true or false "
	            "[type]\n"
	            "policy.json:1:102: error: defaults.levels: is true or false, not one of the "
	            "names [type]\n"
	            "policy.json:1:123: error: defaults.stale-after: is an object, not a duration "
	            "like \"250ms\" [type]\n"
	            "5 errors\n");
	assert_says("{\"defaults\": {\"overload-status\": 430, \"ledger-ttl\": \"601s\"}}",
	            "policy.json:1:34: error: defaults.overload-status: 430 is neither 429 nor 503 "
	            "[range]\n"
	            "policy.json:1:53: error: defaults.ledger-ttl: ledger-ttl is not a multiple of "
	            "ledger-width [range]\n"
	            "2 errors\n");
	assert_says("{\"models\": {\"\": {}}, \"rules\": [{\"model\": \"\"}]}",
	            "policy.json:1:13: error: models.: 0 bytes are not between 1 and 127 [range]\n"
	            "policy.json:1:42: error: rules[0].model: 0 bytes are not between 1 and 127 "
	            "[range]\n"
	            "2 errors\n");
}

static void options_stand_beside_the_strategy_they_belong_to(void **state)
{
	(void)state;
	assert_says("{\"defaults\": {\"k\": 2}}",
	            "policy.json:1:15: error: defaults.k: the picker best of strategy least-work "
	            "has no such option [unknown-key]\n1 error\n");
	assert_says("{\"rules\": [{\"strategy\": \"soft-k-choice\", \"Epsilon\": 1, \"k\": 17}]}",
	            "policy.json:1:42: error: rules[0].Epsilon: the picker soft-k of strategy "
	            "soft-k-choice has no such option [unknown-key]\n"
	            "policy.json:1:61: error: rules[0].k: 17 is not between 1 and 16 targets "
	            "[range]\n2 errors\n");
	/* k belongs to the defaults' strategy and stays behind with it. */
	policy_file_free(good("{\"defaults\": {\"strategy\": \"soft-k-choice\", \"k\": 3},"
	                      " \"rules\": [{\"strategy\": \"p2c\"}]}"));
	assert_says("{\"strategies\": {\"x\": {\"picker\": \"best\", \"k\": 2}}, \"rules\": "
	            "[{\"strategy\": \"x\"}, {\"model\": \"m\", \"strategy\": \"x\"}]}",
	            "policy.json:1:22: error: strategies.x: no signals; the picker best needs one "
	            "with a weight above 0 [range]\n"
	            "policy.json:1:41: error: strategies.x.k: the picker best of strategy x has no "
	            "such option [unknown-key]\n2 errors\n");
}

static void a_recipe_says_what_is_wrong_in_it(void **state)
{
	(void)state;
	assert_says("{\"strategies\": {\"x\": {\"signals\": {\"work\": 1}, \"picker\": \"bets\"},"
	            " \"y\": {\"picker\": {}, \"prefix-mode\": \"soul\", \"signals\": []}}}",
	            "policy.json:1:57: error: strategies.x.picker: unknown name \"bets\" (did you "
	            "mean \"best\"?) [unknown-picker]\n"
	            "policy.json:1:82: error: strategies.y.picker: is an object, not the name of a "
	            "picker [type]\n"
	            "policy.json:1:101: error: strategies.y.prefix-mode: \"soul\" is none of "
	            "off|score|sole (did you mean \"sole\"?) [range]\n"
	            "policy.json:1:120: error: strategies.y.signals: is a list, not an object "
	            "[type]\n4 errors\n");
	assert_says("{\"rules\": [{\"strategy\": {\"signals\": {\"e2e\": 1, \"failures\": 1,"
	            " \"kv-usage\": 1, \"pending\": 1, \"prefix\": 1, \"running\": 1,"
	            " \"tokens\": 1, \"ttft\": 1, \"work\": 1}}}]}",
	            "policy.json:1:37: error: rules[0].strategy.signals: 9 names, at most 8 can be "
	            "there [range]\n1 error\n");
}

static void a_hard_limit_is_not_below_the_soft_one(void **state)
{
	(void)state;
	policy_file_free(good("{\"defaults\": {\"admit\": {\"max-running\": 2, \"max-pending\": 3},"
	                      " \"hard-limits\": {\"max-running\": 2, \"max-pending\": 0}}}"));
	assert_says(
	        "{\"defaults\": {\"admit\": {\"max-ttft\": \"2s\"}}, \"rules\": [{},"
	        " {\"model\": \"m\", \"chain\": [{\"hard-limits\": {\"max-ttft\": \"1ms\"}}]}]}",
	        "policy.json:1:113: error: rules[1].chain[0].hard-limits.max-ttft: 1 is below "
	        "the 2000 of admit [range]\n1 error\n");
}

static void a_recipe_that_nobody_uses_is_checked_too(void **state)
{
	(void)state;
	assert_says("{\"strategies\": {\"x\": {}}}",
	            "policy.json:1:22: error: strategies.x: no signals; the picker best needs one "
	            "with a weight above 0 [range]\n1 error\n");
	assert_says("{\"strategies\": {\"x\": {\"picker\": \"random\", \"falls-to\":"
	            " \"soft-k-choice\"}}}",
	            "policy.json:1:55: error: strategies.x.falls-to: \"soft-k-choice\" is no "
	            "built-in strategy whose picker has no options [unknown-strategy]\n1 error\n");
	assert_says("{\"strategies\": {\"a-b\": {\"picker\": \"random\"}, \"A_B\": {\"picker\": "
	            "\"random\"}}}",
	            "policy.json:1:46: error: strategies.A_B: is the same as \"a-b\" [duplicate]\n"
	            "1 error\n");
	assert_says("{\"strategies\": {\"P2C\": {\"picker\": \"random\"}}}",
	            "policy.json:1:17: error: strategies.P2C: is the name of a built-in strategy "
	            "[duplicate]\n1 error\n");
}

static void what_is_no_json_or_no_file_is_told(void **state)
{
	struct problems *problems = problems_new();

	(void)state;
	assert_says("{} x", "policy.json:1:4: error: end of file expected near 'x' [syntax]\n"
	                    "1 error\n");
	assert_null(policy_load("/nonexistent/policy.json", problems));
	assert_string_equal(problems_at(problems, 0)->text,
	                    "cannot open: No such file or directory");
	problems_free(problems);
}

static void a_file_without_end_is_refused(void **state)
{
	struct problems *problems = problems_new();

	(void)state;
	assert_null(policy_load("/dev/zero", problems));
	assert_string_equal(problems_at(problems, 0)->text, "more than 8388608 bytes");
	problems_free(problems);
}

static void zero_needs_no_unit(void **state)
{
	struct policy_file *file = good("{ \"defaults\": { \"prefix\": { \"min-match\": 0 },"
	                                " \"admit\": { \"max-ttft\": 0 } } }");

	(void)state;
	assert_true(policy_file_policy(file)->prefix.min_match == 0);
	policy_file_free(file);
}

static void a_file_larger_than_the_limit_is_refused(void **state)
{
	char name[] = "/tmp/test_policy_XXXXXX";
	int fd = mkstemp(name);
	FILE *file = fdopen(fd, "w");
	struct problems *problems = problems_new();

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < POLICY_FILE_MAX / 64 + 1; i++)
		(void)fprintf(file, "%64s", "");
	(void)fclose(file);
	assert_null(policy_load(name, problems));
	assert_string_equal(problems_at(problems, 0)->text, "more than 8388608 bytes");
	(void)remove(name);
	problems_free(problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_object_is_the_embedded_default),
		cmocka_unit_test(every_part_of_a_file_arrives),
		cmocka_unit_test(what_is_set_nearer_wins),
		cmocka_unit_test(a_chain_is_inherited_and_its_entries_are_changed),
		cmocka_unit_test(a_recipe_of_ones_own_needs_json_only),
		cmocka_unit_test(all_mistakes_of_a_file_are_told_at_once),
		cmocka_unit_test(types_and_units_are_told_one_by_one),
		cmocka_unit_test(options_stand_beside_the_strategy_they_belong_to),
		cmocka_unit_test(a_recipe_says_what_is_wrong_in_it),
		cmocka_unit_test(a_hard_limit_is_not_below_the_soft_one),
		cmocka_unit_test(a_recipe_that_nobody_uses_is_checked_too),
		cmocka_unit_test(what_is_no_json_or_no_file_is_told),
		cmocka_unit_test(a_file_without_end_is_refused),
		cmocka_unit_test(zero_needs_no_unit),
		cmocka_unit_test(a_file_larger_than_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
