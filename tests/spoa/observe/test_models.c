/* test_models.c - which models an engine serves, by its own word. Proves R100 (what
 * a replica is, is asked of it). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "spoa/observe/models.h"
#include "tests/spoa/observe/engines.h"

static struct engines_stage stage;
static struct scraper *scraper; /* is never started */
static struct models *models;

static void open_models(void)
{
	struct models_options options = {
		.interval = 50 * MSEC, .deadline = 300 * MSEC, .backoff_max = 10 * SECOND, .seed = 1
	};

	struct scraper_options scraping = { .seed = 1 };

	engines_open(&stage);
	scraper = scraper_new(&stage.observe, stage.fetch, stage.profiles, &scraping);
	models = models_new(&stage.observe, stage.fetch, scraper, &options);
	assert_non_null(models);
}

static void close_models(void)
{
	models_free(models);
	scraper_free(scraper);
	engines_close(&stage);
}

static const struct replica *replica(const char *name)
{
	const struct fleet *fleet = stage.world.facts->fleet;

	return fleet_replica_named(fleet, fleet_instance_at(fleet, 0), 0, span_of(name));
}

/* Ollama has no page of metrics, and another one for its health. */
static void who_owns_the_models_tells_what_kind_it_is(void **state)
{
	(void)state;
	open_models();
	engines_answer(&stage, 0, 200,
	               "{\"object\":\"list\",\"data\":[{\"id\":\"llama3.2:latest\",\"object\":"
	               "\"model\",\"owned_by\":\"library\"}]}");
	engines_answer(&stage, 1, 200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"somebody\"}]}");
	models_start(models);
	engines_wait(&stage, 2);
	assert_string_equal(scraper_engine(scraper, stage.ids[0])->name, "ollama");
	assert_null(scraper_engine(scraper, stage.ids[1]));
	close_models();
}

static void a_list_of_models_makes_them_known(void **state)
{
	(void)state;
	open_models();
	engines_answer(&stage, 0, 200,
	               "{\"object\":\"list\",\"data\":[{\"id\":\"llama\",\"object\":\"model\"},"
	               "{\"id\":\"llama-lora\",\"parent\":\"llama\"}]}");
	engines_answer(&stage, 1, 404, "no");
	models_start(models);
	engines_wait(&stage, 1);
	assert_int_equal(strncmp(stage.peers[0].last, "GET /v1/models HTTP/1.1", 23), 0);
	assert_true(replica("s1")->models_known);
	assert_false(replica("s2")->models_known);
	assert_int_not_equal(fleet_model_id(stage.world.facts->fleet, span_of("llama-lora")),
	                     TARGET_NONE);
	assert_string_equal(fleet_model_name(stage.world.facts->fleet,
	                                     fleet_base(stage.world.facts->fleet,
	                                                fleet_model_id(stage.world.facts->fleet,
	                                                               span_of("llama-lora")))),
	                    "llama");
	assert_int_equal(models_counts(models).changed, 1);
	assert_int_equal(models_counts(models).no_page, 1);
	/* The same again is no change. */
	engines_wait(&stage, 3);
	assert_int_equal(models_counts(models).changed, 1);
	assert_int_equal(stage.peers[1].requests, 1);
	close_models();
}

/* Not before its time, nor again and again. */
static void one_that_is_doubted_is_asked_at_once(void **state)
{
	struct scraper_options scraping = { .seed = 1 };
	struct models_options options = { .interval = 60 * SECOND, .seed = 1 };

	(void)state;
	engines_open(&stage);
	scraper = scraper_new(&stage.observe, stage.fetch, stage.profiles, &scraping);
	models = models_new(&stage.observe, stage.fetch, scraper, &options);
	assert_non_null(models);
	engines_answer(&stage, 0, 200, "{\"data\":[{\"id\":\"llama\"}]}");
	models_hurry(models, stage.ids[0]); /* new, and not even looked at */
	models_start(models);
	engines_wait(&stage, 1);
	loop_for(stage.loop, 0.3);
	assert_int_equal(stage.peers[0].requests, 1);
	for (int i = 0; i < 5; i++) {
		models_hurry(models, stage.ids[0]);
		loop_for(stage.loop, 0.02);
	}
	assert_int_equal(stage.peers[0].requests, 1); /* asked a second ago at most */
	engines_wait(&stage, 2);
	assert_int_equal(stage.peers[1].requests, 1);
	close_models();
}

static void a_list_once_known_is_kept(void **state)
{
	(void)state;
	open_models();
	engines_answer(&stage, 0, 200, "{\"data\":[{\"id\":\"llama\"}]}");
	models_start(models);
	engines_wait(&stage, 1);
	engines_answer(&stage, 0, 500, "");
	engines_wait(&stage, stage.peers[0].requests + 1);
	engines_answer(&stage, 0, 200, "{\"data\":[]}");
	engines_wait(&stage, stage.peers[0].requests + 1);
	engines_answer(&stage, 0, 200, "not even JSON");
	engines_wait(&stage, stage.peers[0].requests + 1);
	assert_true(replica("s1")->models_known);
	assert_true(models_counts(models).failed >= 1);
	assert_true(models_counts(models).malformed >= 1);
	close_models();
}

static size_t count_of(const char *body, size_t room)
{
	struct span names[4];
	json_t *tree = NULL;
	size_t count = 99;

	if (!models_read(span_of(body), room, names, NULL, &count, &tree))
		return 99;
	json_decref(tree);
	return count;
}

/* A parent that is null, no text, or no name. */
static void who_has_a_parent_is_its_adapter(void **state)
{
	static const char body[] =
	        "{\"data\":[{\"id\":\"m\",\"parent\":null},{\"parent\":\"m\"},"
	        "{\"id\":\"a\",\"parent\":\"m\"},{\"id\":\"b\",\"parent\":7},{\"id\":\"c\"}]}";
	struct span names[4], bases[4];
	json_t *tree = NULL;
	size_t count;

	(void)state;
	assert_true(models_read(span_of(body), 4, names, bases, &count, &tree));
	assert_int_equal(count, 4);
	assert_int_equal(bases[0].len, 0);
	assert_memory_equal(names[1].at, "a", 1);
	assert_int_equal(bases[1].len, 1);
	assert_memory_equal(bases[1].at, "m", 1);
	assert_int_equal(bases[2].len, 0);
	assert_int_equal(bases[3].len, 0);
	json_decref(tree);
}

static void only_a_list_is_a_list(void **state)
{
	static const char *const bad[] = { "",
		                           "{",
		                           "[]",
		                           "{}",
		                           "null",
		                           "\"data\"",
		                           "{\"data\":{}}",
		                           "{\"data\":null}",
		                           "{\"data\":[]} trailing" };
	char deep[8192], longest[600];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(count_of(bad[i], 4), 99);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	assert_int_equal(count_of(deep, 4), 99);
	assert_int_equal(count_of("{\"data\":[]}", 4), 0);
	assert_int_equal(
	        count_of("{\"data\":[1,null,{},{\"id\":5},{\"id\":\"\"},{\"id\":\"a\"}]}", 4), 1);
	assert_int_equal(count_of("{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"}]}", 2),
	                 2);
	for (int length = NAME_MAX_BYTES - 1; length <= NAME_MAX_BYTES; length++) {
		(void)snprintf(longest, sizeof(longest), "{\"data\":[{\"id\":\"%0*d\"}]}", length,
		               1);
		assert_int_equal(count_of(longest, 4), length < NAME_MAX_BYTES ? 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_owns_the_models_tells_what_kind_it_is),
		cmocka_unit_test(a_list_of_models_makes_them_known),
		cmocka_unit_test(one_that_is_doubted_is_asked_at_once),
		cmocka_unit_test(a_list_once_known_is_kept),
		cmocka_unit_test(who_has_a_parent_is_its_adapter),
		cmocka_unit_test(only_a_list_is_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
