/* test_profiles.c - kinds of engines as data: the program's own, the operator's, and what
 * is said of a bad file. Proves B036 in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spoa/engines/engine_files.h"
#include "spoa/engines/reader.h"
#include "tests/spoa/observe/fixture.h"

static struct problems *problems;
static char folder[64];

static int open_folder(void **state)
{
	(void)state;
	problems = problems_new();
	(void)snprintf(folder, sizeof(folder), "/tmp/infer-profiles-XXXXXX");
	return problems && mkdtemp(folder) ? 0 : -1;
}

static int close_folder(void **state)
{
	char command[128];

	(void)state;
	problems_free(problems);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static const struct engine_profile *named(const struct engine_profiles *profiles, const char *name)
{
	for (size_t i = 0; i < engine_profiles_count(profiles); i++)
		if (strcmp(engine_profiles_at(profiles, i)->name, name) == 0)
			return engine_profiles_at(profiles, i);
	return NULL;
}

static void the_program_knows_these_engines(void **state)
{
	static const char *const names[] = { "vllm",   "sglang",         "trtllm",
		                             "triton", "llama.cpp",      "tgi",
		                             "ollama", "inference-spoa", "generic" };
	struct engine_profiles *profiles = engine_profiles_load(NULL, problems);
	size_t files = 0;

	(void)state;
	assert_non_null(profiles);
	while (engine_files[files].name)
		files++;
	assert_int_equal(engine_profiles_count(profiles), sizeof(names) / sizeof(names[0]));
	assert_int_equal(files, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < files; i++)
		assert_non_null(named(profiles, names[i]));
	assert_string_equal(named(profiles, "triton")->health, "/v2/health/ready");
	assert_string_equal(named(profiles, "vllm")->models, "/v1/models");
	assert_int_equal(engine_profiles_pages(profiles).count, 2);
	engine_profiles_free(profiles);
}

static void who_has_no_page_is_known_by_the_owner_of_its_models(void **state)
{
	struct engine_profiles *profiles = engine_profiles_load(NULL, problems);
	const struct engine_profile *ollama = engine_profiles_owner(profiles, span_of("library"));

	(void)state;
	assert_non_null(ollama);
	assert_string_equal(ollama->name, "ollama");
	assert_string_equal(ollama->health, "/");
	assert_int_equal(ollama->pages.count, 0);
	assert_null(engine_profiles_owner(profiles, span_of("vllm")));
	assert_null(engine_profiles_owner(profiles, (struct span){ NULL, 0 }));
	engine_profiles_free(profiles);
}

static void the_operator_adds_and_replaces(void **state)
{
	struct engine_profiles *profiles;
	struct engine_reader *reader;
	struct engine_reading reading;

	(void)state;
	write_file("mine.json", "{\"engine\": \"mine\", \"recognise\": [\"my_\"], \"pages\": "
	                        "[\"/numbers\"], \"models\": \"\", \"metrics\": {\"running\": "
	                        "[\"my_busy\"]}}");
	write_file("newer.json", "{\"engine\": \"vLLM\", \"recognise\": [\"vllm:\"], \"pages\": "
	                         "[\"/metrics\"], \"metrics\": {\"running\": "
	                         "[\"vllm:in_flight\"]}}");
	write_file("readme.txt", "no profile");
	profiles = engine_profiles_load(folder, problems);
	assert_non_null(profiles);
	assert_int_equal(engine_profiles_count(profiles), 10);
	assert_int_equal(engine_profiles_pages(profiles).count, 3);
	assert_string_equal(named(profiles, "mine")->models, "");
	assert_null(named(profiles, "vllm"));
	reader = engine_reader_new(profiles);
	engine_reader_feed(reader, span_of("vllm:in_flight 5\nvllm:num_requests_running 3\n"
	                                   "vllm:num_requests_waiting 3\n"));
	engine_reader_end(reader, &reading);
	assert_true(reading.values[ENGINE_RUNNING] == 5);
	assert_true(reading.values[ENGINE_WAITING] == -1);
	engine_reader_feed(reader, span_of("my_busy 8\n"));
	engine_reader_end(reader, &reading);
	assert_true(reading.values[ENGINE_RUNNING] == 8);
	engine_reader_free(reader);
	engine_profiles_free(profiles);
}

/* What stands around the part that is wrong. */
#define FRAME(metrics)                                                                             \
	"{\n\"engine\": \"e\",\n\"recognise\": [\"e_\"],\n\"pages\": [\"/m\"],\n\"metrics\": "     \
	"{\n" metrics "\n}\n}\n"

static const struct bad {
	const char *text;
	unsigned line;
	const char *says;
} bad[] = {
	{ "[]", 1, "expected an object" },
	{ "{", 1, "" },
	{ "{}", 1, "expected \"engine\"" },
	{ "{\"engine\": 3, \"recognise\": [], \"pages\": [], \"metrics\": {}}", 1,
	  "expected a text" },
	{ "{\"engine\": \"a-name-that-is-longer-than-thirty-one\", \"recognise\": [], \"pages\": "
	  "[], \"metrics\": {}}",
	  1, "expected a name of at most 31 bytes" },
	{ "{\"engine\": \"e\", \"recognise\": \"e_\", \"pages\": [], \"metrics\": {}}", 1,
	  "expected a list" },
	{ "{\"engine\": \"e\", \"recognise\": [],\n\"pages\": [\"metrics\"], \"metrics\": {}}", 2,
	  "expected a path that begins with /" },
	{ "{\"engine\": \"e\", \"recognise\": [], \"pages\": [],\n\"helth\": \"/\", \"metrics\": "
	  "{}}",
	  2, "did you mean \"health\"" },
	{ "{\"engine\": \"e\", \"recognise\": [], \"pages\": [], \"metrics\": []}", 1,
	  "expected an object" },
	{ FRAME("\"runing\": [\"e_x\"]"), 6, "did you mean \"running\"" },
	{ FRAME("\"running\": \"e_x\""), 6, "expected a list of metrics" },
	{ FRAME("\"running\": [\"e_x\"],\n\"running\": [\"e_y\"]"), 7, "" }, /* twice */
	{ FRAME("\"running\": []"), 6, "expected a list of metrics" },
	{ FRAME("\"running\": [7]"), 6, "expected a text" },
	{ FRAME("\"running\": [{}]"), 6, "expected \"name\"" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"over\": 1}]"), 7, "unknown key" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"series\": \"mean\"}]"), 7,
	  "expected \"sum\" or \"largest\"" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"scale\": 0}]"), 7,
	  "expected a number above 0" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"label\": \"a\"}]"), 7, "go together" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"labels\": [\"a\"]}]"), 7,
	  "expected two names of labels" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"plus\": \"a\"}]"), 7, "expected a list" },
	{ FRAME("\"running\": [\n{\"name\": \"e_x\", \"times\": {\"name\": \"e_y\", \"plus\": "
	        "[\"a\"]}}]"),
	  7, "is of an alternate only" },
	{ "{\"engine\": \"e\", \"recognise\": [], \"pages\": [], \"metrics\": {},\n\"adapters\": "
	  "{\"name\": \"x\"}}",
	  2, "expected an object with \"name\"" },
};

static void a_bad_file_is_told_with_its_line_and_what_was_expected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct problems *own = problems_new();
		const struct problem *first;

		assert_null(
		        engine_profiles_parse("my.json", bad[i].text, strlen(bad[i].text), own));
		first = problems_at(own, 0);
		assert_non_null(first);
		assert_string_equal(first->place.file, "my.json");
		if (first->place.line != bad[i].line || !strstr(first->text, bad[i].says))
			fail_msg("%zu: line %u: %s", i, first->place.line, first->text);
		problems_free(own);
	}
}

static void a_bad_file_among_good_ones_stops_all(void **state)
{
	char path[128];

	(void)state;
	write_file("a.json", FRAME("\"running\": [\"e_x\"]"));
	write_file("b.json", FRAME("\"running\": [7]"));
	assert_null(engine_profiles_load(folder, problems));
	assert_int_equal(problems_count(problems, SEVERITY_ERROR), 1);
	(void)snprintf(path, sizeof(path), "%s/b.json", folder);
	assert_string_equal(problems_at(problems, 0)->place.file, path);
	assert_int_equal(problems_at(problems, 0)->place.line, 6);
}

static void a_directory_that_is_not_there_is_told(void **state)
{
	(void)state;
	assert_null(engine_profiles_load("/nowhere/at/all", problems));
	assert_true(strstr(problems_at(problems, 0)->text, "cannot read") != NULL);
}

static void there_is_a_most_of_metrics(void **state)
{
	static char text[80000];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s",
	                               "{\"engine\": \"e\", \"recognise\": [], \"pages\": [], "
	                               "\"metrics\": {\"running\": [\"e_0\"");

	(void)state;
	for (int i = 0; i < PROFILE_TERMS_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ",\"e_%d\"", i);
	(void)snprintf(text + used, sizeof(text) - used, "]}}");
	assert_null(engine_profiles_parse("my.json", text, strlen(text), problems));
	assert_true(strstr(problems_at(problems, 0)->text, "more than") != NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_program_knows_these_engines),
		TEST(who_has_no_page_is_known_by_the_owner_of_its_models),
		TEST(the_operator_adds_and_replaces),
		TEST(a_bad_file_is_told_with_its_line_and_what_was_expected),
		TEST(a_bad_file_among_good_ones_stops_all),
		TEST(a_directory_that_is_not_there_is_told),
		TEST(there_is_a_most_of_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
