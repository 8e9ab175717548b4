/* test_pairs_shown.c - roles, rolesets and who computes the prompt, wherever a decision or a
 * replica is shown. Proves R159. */
#include "spoa/admin/decision_log.h"
#include "spoa/admin/explain.h"
#include "spoa/admin/show.h"
#include "spoa/admin/state.h"
#include "tests/policies/paired.h"
#include "tests/spoa/admin/admin_world.h"
#include "tests/spoa/admin/printed.h"

enum { PROMPT = 40000 };

static struct paired *paired;
static struct sources sources;

static int begin(void **state)
{
	(void)state;
	paired = paired_new("p:one d:one c");
	paired_strategy(paired, "pd");
	sources = sources_of(paired->world);
	sources.decider = paired->world->decider;
	sources.decisions = decision_log_new(16);
	return 0;
}

static int end(void **state)
{
	(void)state;
	decision_log_free(sources.decisions);
	paired_free(paired);
	return 0;
}

/* As the log has it; to be released. */
static json_t *decided(uint64_t bytes)
{
	struct request request =
	        world_ask_long(paired->world, bytes, bytes > PROMPT ? PROMPT : bytes, 1, 0);
	struct decision decision;

	request.backend = SPAN("a");
	decision = world_decide(paired->world, request);
	decision_log_decided(sources.decisions, &request, &decision, paired->world->now, 3);
	return explain_past(&sources, request.id);
}

static void expect_text(const json_t *object, const char *name, const char *text)
{
	const char *found = json_string_value(json_object_get(object, name));

	if (!text)
		assert_null(found);
	else
		assert_string_equal(found, text);
}

static void expect_words(void (*show)(const json_t *, FILE *), const json_t *object,
                         const char *const *words)
{
	char *text = printed_by(show, object);

	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("%s is not in:\n%s", *words, text);
	free(text);
}

static void a_pair_is_told_whole(void **state)
{
	static const char *const explained[] = {
		"route: a/s2 10.0.0.2:8000, pair remote, prompt computed by s1 10.0.0.1:8000, "
		"reason load",
		"<- chosen, reason load, decode of one", "<- computes the prompt, prefill of one",
		"standing, combined\n", NULL
	};
	static const char *const listed[] = { "prompt computed by s1 10.0.0.1:8000\n",
		                              "<- chosen, decode of one",
		                              "<- computes the prompt, prefill of one",
		                              "standing, combined\n", NULL };
	json_t *object = decided(PROMPT);
	json_t *level = json_array_get(json_object_get(object, "levels"), 0);
	json_t *candidates = json_object_get(level, "candidates");

	(void)state;
	expect_text(object, "replica", "s2");
	expect_text(object, "prefill", "s1");
	expect_text(object, "prefill_addr", "10.0.0.1:8000");
	expect_text(level, "pair", "remote");
	assert_int_equal(json_array_size(candidates), 3);
	assert_true(json_is_true(json_object_get(json_array_get(candidates, 0), "chosen")));
	assert_null(json_object_get(json_array_get(candidates, 0), "prefill"));
	expect_text(json_array_get(candidates, 0), "role", "decode");
	expect_text(json_array_get(candidates, 0), "roleset", "one");
	assert_true(json_is_true(json_object_get(json_array_get(candidates, 1), "prefill")));
	expect_text(json_array_get(candidates, 1), "name", "s1");
	expect_text(json_array_get(candidates, 1), "role", "prefill");
	expect_text(json_array_get(candidates, 2), "role", "combined");
	expect_text(json_array_get(candidates, 2), "roleset", NULL);
	expect_words(show_explain, object, explained);
	expect_words(show_decisions, object, listed);
	json_decref(object);
}

static void a_short_prompt_has_no_second_engine(void **state)
{
	static const char *const explained[] = { "10.0.0.2:8000, pair local, reason load", NULL };
	json_t *object = decided(1000);
	json_t *level = json_array_get(json_object_get(object, "levels"), 0);

	(void)state;
	expect_text(object, "replica", "s2");
	expect_text(object, "prefill", NULL);
	expect_text(object, "prefill_addr", NULL);
	expect_text(level, "pair", "local");
	expect_words(show_explain, object, explained);
	json_decref(object);
}

static void who_makes_no_pairs_says_nothing_of_them(void **state)
{
	json_t *object, *level, *candidate;

	(void)state;
	paired_strategy(paired, "least-work");
	object = decided(PROMPT);
	level = json_array_get(json_object_get(object, "levels"), 0);
	candidate = json_array_get(json_object_get(level, "candidates"), 0);
	expect_text(level, "pair", NULL);
	assert_non_null(json_object_get(candidate, "role"));
	json_decref(object);
}

static void replicas_have_roles(void **state)
{
	static const char *const shown[] = { "  ROLE  ", "  prefill:one  ", "  decode:one  ",
		                             "  combined  ", NULL };
	json_t *object = state_replicas(&sources, NULL);
	json_t *list = json_object_get(object, "replicas");

	(void)state;
	expect_text(json_array_get(list, 0), "role", "prefill");
	expect_text(json_array_get(list, 0), "roleset", "one");
	expect_text(json_array_get(list, 2), "role", "combined");
	expect_text(json_array_get(list, 2), "roleset", NULL);
	expect_words(show_replicas, object, shown);
	json_decref(object);
}

static void a_rank_is_told_where_there_are_several(void **state)
{
	static const char *const explained[] = { "route: a/s2 10.0.0.2:8000, rank 0, pair remote, "
		                                 "prompt computed by s1 10.0.0.1:8000, ",
		                                 "reason load, rank 0, decode of one",
		                                 "standing, rank 1, decode of one", NULL };
	static const char *const listed[] = { "route: a/s2 10.0.0.2:8000, rank 0, reason load",
		                              NULL };
	static const char *const shown[] = { "10.0.0.2:8000#0  10.0.0.2:8000#0",
		                             "10.0.0.2:8000#1  10.0.0.2:8000#1", NULL };
	json_t *object, *list;

	(void)state;
	paired->replicas[1].ranks = 2;
	paired_apply(paired);
	world_apply(paired->world);
	fleet_target_at(paired->world->facts->fleet, SPAN("10.0.0.2:8000#1"))->chosen = 9;
	object = decided(PROMPT);
	assert_int_equal(json_integer_value(json_object_get(object, "rank")), 0);
	expect_text(object, "addr", "10.0.0.2:8000");
	expect_text(object, "replica", "s2");
	expect_words(show_explain, object, explained);
	expect_words(show_decisions, object, listed);
	json_decref(object);
	object = state_replicas(&sources, NULL);
	list = json_object_get(object, "replicas");
	assert_int_equal(json_array_size(list), 4);
	assert_null(json_object_get(json_array_get(list, 0), "rank"));
	expect_words(show_replicas, object, shown);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pair_is_told_whole, begin, end),
		cmocka_unit_test_setup_teardown(a_short_prompt_has_no_second_engine, begin, end),
		cmocka_unit_test_setup_teardown(who_makes_no_pairs_says_nothing_of_them, begin,
		                                end),
		cmocka_unit_test_setup_teardown(replicas_have_roles, begin, end),
		cmocka_unit_test_setup_teardown(a_rank_is_told_where_there_are_several, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
