/* test_explain.c - why a request went where it did, or where one would go now; the prompt in a
 * body as HAProxy cuts and hashes it. Proves P074, R030. */
#include "spoa/admin/explain.h"

#include "spoa/admin/body.h"
#include "spoa/admin/decision_log.h"
#include "spoa/admin/show.h"
#include "spoa/web/listen.h"
#include "tests/spoa/admin/admin_world.h"
#include "tests/spoa/admin/printed.h"

static struct world *world;
static struct sources sources;

static int begin(void **state)
{
	(void)state;
	world = world_new(2, 2);
	sources = sources_of(world);
	sources.decider = world->decider;
	sources.decisions = decision_log_new(16);
	return 0;
}

static int end(void **state)
{
	(void)state;
	decision_log_free(sources.decisions);
	world_free(world);
	return 0;
}

static void expect_prompt(const char *body, const char *prompt)
{
	struct span found = body_prompt(SPAN(body));

	assert_int_equal(found.len, strlen(prompt));
	assert_memory_equal(found.at, prompt, found.len);
}

static void the_prompt_begins_behind_the_first_key_of_it(void **state)
{
	(void)state;
	expect_prompt("{\"model\":\"m\",\"messages\" :\n [1]}", "[1]}");
	expect_prompt("{\"prompt\":\"x\",\"messages\":[]}", "\"x\",\"messages\":[]}");
	expect_prompt("{\"input\":  \"x\"}", "\"x\"}");
	expect_prompt("{\"inputs\":\"x\"}", "{\"inputs\":\"x\"}");
	expect_prompt("{\"messages\"}", "{\"messages\"}");
	expect_prompt("{\"messages\"", "{\"messages\"");
	expect_prompt("{\"messages\":", "");
	expect_prompt("\"", "\"");
	expect_prompt("", "");
}

/* The vectors of docs/strategies.md. */
static void blocks_hash_as_haproxy_hashes_them(void **state)
{
	static char prompt[8292];
	uint64_t hashes[LADDER_BLOCKS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(prompt); i++)
		prompt[i] = (char)(i % 251);
	assert_int_equal(
	        body_hashes((struct span){ prompt, sizeof(prompt) }, &world->policy.ladder, hashes),
	        5);
	assert_true(hashes[0] == 0x138e26c65048ce29);
	assert_true(hashes[3] == 0x6a26576f94a215b2);
	assert_true(hashes[4] == 0x7f59f82b7d94eff7);
	assert_int_equal(body_hashes((struct span){ prompt, 1023 }, &world->policy.ladder, hashes),
	                 0);
	assert_int_equal(body_hashes((struct span){ NULL, 0 }, &world->policy.ladder, hashes), 0);
}

static char body[20000];

/* A body whose prompt has 12 000 bytes of which number 5000 is the given one. */
static size_t make_body(char letter)
{
	static const char head[] = "{\"model\":\"llama70b\",\"prompt\":";
	size_t len = sizeof(head) - 1 + 12000;

	memcpy(body, head, sizeof(head) - 1);
	memset(body + sizeof(head) - 1, 'a', 12000);
	body[sizeof(head) - 1] = body[len - 2] = '"';
	body[len - 1] = '}';
	body[sizeof(head) - 1 + 5000] = letter;
	return len;
}

static json_t *dry(size_t len)
{
	struct web_request asked = { .method = "POST",
		                     .body = len > 0 ? body : NULL,
		                     .body_len = len,
		                     .arguments = { { "whole", "1" }, { "tenant", "acme" } },
		                     .argument_count = 2 };
	json_t *object = explain_dry(&sources, &asked);

	assert_non_null(object);
	return object;
}

/* What HAProxy would have sent of the body. */
static struct request request_of(size_t len)
{
	struct request request = world_ask(world);
	struct span prompt = body_prompt((struct span){ body, len });

	request.model = SPAN("llama70b");
	request.has_prompt = true;
	request.prompt_bytes = prompt.len;
	request.body_bytes = request.body_total = len;
	request.hash_count = body_hashes(prompt, &world->policy.ladder, request.hashes);
	return request;
}

static json_int_t number(const json_t *object, const char *name)
{
	assert_true(json_is_integer(json_object_get(object, name)));
	return json_integer_value(json_object_get(object, name));
}

static void the_first_differing_block_is_told(void **state)
{
	struct request first = request_of(make_body('a'));
	struct decision decision = world_decide(world, first);
	json_t *object, *prefix, *holder;

	(void)state;
	decision_log_decided(sources.decisions, &first, &decision, world->now, 3);
	world_first_byte(world, first.id);

	object = dry(make_body('b'));
	prefix = json_object_get(object, "prefix");
	assert_int_equal(number(prefix, "usable"), 5);
	assert_int_equal(json_array_size(json_object_get(prefix, "chain")), 5);
	assert_int_equal(json_array_size(json_object_get(prefix, "holders")), 1);
	holder = json_array_get(json_object_get(prefix, "holders"), 0);
	assert_string_equal(json_string_value(json_object_get(holder, "target")),
	                    decision.replica->target->label);
	assert_int_equal(number(holder, "blocks"), 4);
	assert_int_equal(number(holder, "bytes"), 4096);
	assert_int_equal(number(json_object_get(prefix, "differs"), "block"), 4);
	assert_int_equal(number(json_object_get(prefix, "differs"), "from"), 4096);
	assert_int_equal(number(json_object_get(prefix, "differs"), "to"), 8191);
	json_decref(object);

	object = dry(make_body('a'));
	prefix = json_object_get(object, "prefix");
	assert_true(json_is_null(json_object_get(prefix, "differs")));
	assert_string_equal(json_string_value(json_object_get(object, "model")), "llama70b");
	json_decref(object);

	/* The one that was sent, by its id. */
	object = explain_past(&sources, first.id);
	assert_non_null(object);
	assert_null(json_object_get(object, "dry"));
	prefix = json_object_get(object, "prefix");
	assert_int_equal(json_array_size(json_object_get(prefix, "holders")), 1);
	assert_true(json_is_null(json_object_get(prefix, "differs")));
	json_decref(object);
	assert_null(explain_past(&sources, SPAN("never seen")));
}

static void a_dry_run_says_what_the_next_decision_is_and_changes_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct counters before = *world->facts->counters;
		json_t *object = dry(make_body((char)('a' + i)));
		struct decision decision;

		object = (json_decref(object), dry(make_body((char)('a' + i))));
		assert_true(world->facts->counters->decisions == before.decisions);
		assert_true(json_is_true(json_object_get(object, "dry")));
		assert_true(json_is_false(json_object_get(object, "slot")));
		assert_true(inflight_count(world->facts->inflight) == (uint32_t)i);
		decision = world_decide(world, request_of(make_body((char)('a' + i))));
		assert_string_equal(json_string_value(json_object_get(object, "instance")),
		                    decision.instance->name);
		assert_string_equal(json_string_value(json_object_get(object, "addr")),
		                    decision.replica->target->label);
		json_decref(object);
	}
}

static json_t *level_of(const json_t *object, size_t i)
{
	return json_array_get(json_object_get(object, "levels"), i);
}

static void counts_after_each_stage_and_numbers_of_each_candidate_are_there(void **state)
{
	static struct affinity affinity;
	static char only[1][NAME_MAX_BYTES] = { "b" }, values[1][NAME_MAX_BYTES] = { "acme" };
	json_t *object, *stages, *candidate;

	(void)state;
	affinity = (struct affinity){ .match = AFFINITY_ONE_OF,
		                      .values = values,
		                      .value_count = 1,
		                      .only = only,
		                      .only_count = 1 };
	world->policy.affinities = &affinity;
	world->policy.affinity_count = 1;
	world_busy(world, "b", "s1", 3);
	object = dry(0);
	stages = json_object_get(level_of(object, 0), "stages");
	for (size_t i = 0; pipeline_stage(i); i++) {
		json_t *stage = json_array_get(stages, i);

		assert_string_equal(json_string_value(json_object_get(stage, "stage")),
		                    pipeline_stage(i)->name);
		assert_int_equal(number(stage, "stood"), i < 3 ? 2 : 1);
	}
	candidate = json_array_get(json_object_get(level_of(object, 0), "candidates"), 1);
	assert_string_equal(json_string_value(json_object_get(candidate, "dropped_by")),
	                    "affinity");
	candidate = json_array_get(json_object_get(level_of(object, 1), "candidates"), 1);
	assert_true(json_real_value(json_object_get(candidate, "running")) == 3);
	assert_true(json_is_null(json_object_get(candidate, "ttft_ms")));
	json_decref(object);
}

/* A level with one candidate reads no numbers: what was not read is not zero. */
static void a_level_that_chose_early_has_no_numbers(void **state)
{
	static struct affinity affinity;
	static char only[1][NAME_MAX_BYTES] = { "b" };
	struct request request = request_of(make_body('a'));
	struct decision decision;
	json_t *object, *level, *candidate;

	(void)state;
	affinity = (struct affinity){ .match = AFFINITY_NONE_OF, .only = only, .only_count = 1 };
	world->policy.affinities = &affinity;
	world->policy.affinity_count = 1;
	decision = world_decide(world, request);
	decision_log_decided(sources.decisions, &request, &decision, world->now, 3);
	object = explain_past(&sources, request.id);
	level = level_of(object, 0);
	assert_int_equal(json_array_size(json_object_get(level, "stages")), 6);
	assert_int_equal(number(json_object_get(level, "dropped"), "affinity"), 1);
	assert_null(json_object_get(json_object_get(level, "dropped"), "measure"));
	candidate = json_array_get(json_object_get(level, "candidates"), 0);
	assert_true(json_is_null(json_object_get(candidate, "running")));
	assert_true(json_is_null(json_object_get(candidate, "score")));
	json_decref(object);
}

static void people_read_it(void **state)
{
	struct request first = request_of(make_body('a'));
	json_t *object;
	char *text;

	(void)state;
	(void)world_decide(world, first);
	world_first_byte(world, first.id);
	object = dry(make_body('b'));
	text = printed_by(show_explain, object);
	json_decref(object);
	assert_ptr_equal(strstr(text, "dry run -  model llama70b  tenant acme  prompt 12000 B  "
	                              "blocks 5 of 5 usable"),
	                 text);
	assert_non_null(strstr(text, "\nlevel 1, strategy least-work: collect 2, role 2, health 2, "
	                             "affinity 2, retried 2, limits 2, measure 2"));
	assert_non_null(strstr(text, "\nlevel 2 of "));
	assert_non_null(strstr(text, "<- chosen, reason "));
	assert_non_null(strstr(text, "first differing block: 4 (bytes 4096-8191 of the prompt)"));
	free(text);
}

static void people_read_where_a_session_is(void **state)
{
	struct web_request asked = { .method = "POST",
		                     .arguments = { { "session", "s-1" } },
		                     .argument_count = 1 };
	json_t *object, *session;
	char *text;

	(void)state;
	world_strategy(world, "session-affinity");
	object = explain_dry(&sources, &asked);
	session = json_object_get(level_of(object, 1), "session");
	assert_string_equal(json_string_value(json_object_get(session, "found")), "new");
	assert_true(json_is_true(json_object_get(session, "kept")));
	assert_false(json_is_true(json_object_get(session, "spilled")));
	text = printed_by(show_explain, object);
	assert_non_null(strstr(text, "\n  session: new, target s"));
	assert_non_null(strstr(text, ", kept\n"));
	free(text);
	json_decref(object);
	asked.argument_count = 0;
	object = explain_dry(&sources, &asked);
	assert_null(json_object_get(level_of(object, 1), "session"));
	json_decref(object);
}

static void a_header_and_a_prompt_alone_can_be_given(void **state)
{
	struct web_request asked = { .method = "POST",
		                     .body = body,
		                     .body_len = 12000,
		                     .arguments = { { "model", "m" },
		                                    { "header", "x-app:search" },
		                                    { "header", "bad" } },
		                     .argument_count = 3 };
	json_t *object;

	(void)state;
	memset(body, 'a', sizeof(body));
	object = explain_dry(&sources, &asked);
	assert_int_equal(number(object, "plen"), 12000);
	assert_string_equal(json_string_value(json_object_get(object, "model")), "m");
	json_decref(object);
	sources.decider = NULL;
	assert_null(explain_dry(&sources, &asked));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_prompt_begins_behind_the_first_key_of_it),
		TEST(blocks_hash_as_haproxy_hashes_them),
		TEST(the_first_differing_block_is_told),
		TEST(a_dry_run_says_what_the_next_decision_is_and_changes_nothing),
		TEST(counts_after_each_stage_and_numbers_of_each_candidate_are_there),
		TEST(a_level_that_chose_early_has_no_numbers),
		TEST(people_read_it),
		TEST(people_read_where_a_session_is),
		TEST(a_header_and_a_prompt_alone_can_be_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
