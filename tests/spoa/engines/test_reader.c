/* test_reader.c - pages of engines of named versions: each field read, or unknown.
 * Proves P057, R102, B036, B030 in part. The pages are made of the names that engines
 * document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "spoa/engines/reader.h"
#include "tests/spoa/observe/fixture.h"

static struct engine_profiles *profiles;
static struct engine_reader *reader;

static int open_reader(void **state)
{
	struct problems *problems = problems_new();

	(void)state;
	profiles = engine_profiles_load(NULL, problems);
	problems_free(problems);
	reader = profiles ? engine_reader_new(profiles) : NULL;
	return reader ? 0 : -1;
}

static int close_reader(void **state)
{
	(void)state;
	engine_reader_free(reader);
	engine_profiles_free(profiles);
	return 0;
}

static struct engine_reading read_page(struct span page)
{
	struct engine_reading reading;

	engine_reader_feed(reader, page);
	engine_reader_end(reader, &reading);
	return reading;
}

/* In the order of ENGINE_FIELDS: running, waiting, kv usage, kv tokens, prompt, generation,
 * cache queries, cache hits, finished, token seconds, gaps, utilization, sequences, LoRA slots,
 * used. */
static const struct page {
	const char *file, *engine;
	double values[ENGINE_FIELD_COUNT];
} pages[] = {
	{ "engine-vllm-0.33.txt",
	  "vllm",
	  { 17, 3, 0.4125, 640000, 1.5e6, 100000, 2e6, 800000, 900, 2000, 100000, -1, -1, 4, 2 } },
	{ "engine-vllm-0.6.txt",
	  "vllm",
	  { 4, 0, 0.75, 120000, 4000, 300, 4000, 1000, 10, 6, 300, -1, -1, -1, -1 } },
	{ "engine-sglang-0.5.23.txt",
	  "sglang",
	  { 9, 4, 0.28, 471258, 8128902, 7557572, 8128902, 2128902, 41230, 150000.25, 7500000, -1,
	    -1, 8, 3 } },
	{ "engine-trtllm-1.2.txt",
	  "trtllm",
	  { 3, 1, 0.5, 192000, 18000, 25000, 18000, 7200, 100, 1.5, 100, -1, -1, -1, -1 } },
	{ "engine-triton-25.04.txt",
	  "triton",
	  { 2, 5, 0.102459, 312320, -1, -1, -1, -1, -1, -1, -1, -1, 64, -1, -1 } },
	{ "engine-llamacpp-b8000.txt",
	  "llama.cpp",
	  { 4, 46, -1, -1, 5120, 39080, -1, -1, -1, 1235.5, 39080, -1, -1, -1, -1 } },
	{ "engine-tgi-3.3.txt",
	  "tgi",
	  { 4, 7, -1, -1, 21000, 8123, -1, -1, 44, 0.88, 44, -1, -1, -1, -1 } },
	{ "engine-generic.txt",
	  "generic",
	  { 2, 1, 0.415, 64000, 1000, 2000, 1000, 250, 10, 40, 2000, 0.75, 16, 3, 2 } },
};

static void expect(const struct page *page, const struct engine_reading *reading)
{
	assert_non_null(reading->profile);
	assert_string_equal(reading->profile->name, page->engine);
	for (size_t i = 0; i < ENGINE_FIELD_COUNT; i++)
		if (fabs(reading->values[i] - page->values[i]) > 1e-9)
			fail_msg("%s: %s is %g, not %g", page->file, engine_field_name(i),
			         reading->values[i], page->values[i]);
}

static void pages_of_engines_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct span text = fixture(pages[i].file);
		struct engine_reading reading = read_page(text);

		expect(&pages[i], &reading);
		free((void *)(uintptr_t)text.at);
	}
}

/* However the network cuts it. */
static void pieces_make_the_same_page(void **state)
{
	static const size_t steps[] = { 1, 2, 7, 64, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct span text = fixture(pages[i].file);

		for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
			struct engine_reading reading;

			for (size_t at = 0; at < text.len; at += steps[k]) {
				size_t left = text.len - at;

				engine_reader_feed(
				        reader, (struct span){ text.at + at,
				                               left < steps[k] ? left : steps[k] });
			}
			engine_reader_end(reader, &reading);
			expect(&pages[i], &reading);
		}
		free((void *)(uintptr_t)text.at);
	}
}

static double read_field(const char *page, enum engine_field field)
{
	return read_page(span_of(page)).values[field];
}

static void older_names_and_our_own_agents_are_known(void **state)
{
	static const char below[] =
	        "inference_spoa_instance_inflight_requests{instance=\"svc-a\"} 9\n"
	        "inference_spoa_instance_queue_requests{instance=\"svc-a\"} 2\n"
	        "inference_spoa_replica_engine_waiting_requests{replica=\"a0\"} 1\n"
	        "inference_spoa_replica_engine_waiting_requests{replica=\"a1\"} 3\n"
	        "inference_spoa_replica_engine_kv_capacity_tokens{replica=\"a0\"} 1000\n"
	        "inference_spoa_replica_engine_kv_capacity_tokens{replica=\"a1\"} 500\n";

	(void)state;
	assert_true(read_field("llamacpp:kv_cache_usage_ratio 0.2\n", ENGINE_KV_USAGE) == 0.2);
	assert_true(read_field("sglang:num_pages 100\nsglang:page_size 16\n", ENGINE_KV_TOKENS) ==
	            1600);
	assert_true(read_field(below, ENGINE_RUNNING) == 9);
	assert_true(read_field(below, ENGINE_WAITING) == 6);
	assert_true(read_field(below, ENGINE_KV_TOKENS) == 1500);
	assert_null(read_page(span_of("")).profile);
	assert_null(read_page(span_of("go_goroutines 9\n")).profile);
}

static void of_one_rank_only_its_own_series_count(void **state)
{
	static const char page[] = "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 5\n"
	                           "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 2\n"
	                           "vllm:num_requests_waiting{model_name=\"m\"} 4\n"
	                           "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\n";

	(void)state;
	assert_true(read_field(page, ENGINE_RUNNING) == 7);
	engine_reader_of_rank(reader, 1);
	assert_true(read_field(page, ENGINE_RUNNING) == 2);
	assert_true(read_field(page, ENGINE_WAITING) == 4); /* of no rank */
	assert_true(read_field(page, ENGINE_KV_USAGE) == -1);
	assert_true(read_field("sglang:num_running_reqs{dp_rank=\"0\"} 5\n"
	                       "sglang:num_running_reqs{dp_rank=\"1\"} 3\n"
	                       "sglang:num_running_reqs{dp_rank=\"11\"} 1\n",
	                       ENGINE_RUNNING) == 3);
	engine_reader_of_rank(reader, 0);
	assert_true(read_field(page, ENGINE_RUNNING) == 5);
	assert_true(read_field(page, ENGINE_KV_USAGE) == 0.5);
	engine_reader_of_rank(reader, -1);
	assert_true(read_field(page, ENGINE_RUNNING) == 7);
}

/* Unknown is not zero, and the engine is known all the same. */
static void a_name_that_is_gone_is_unknown(void **state)
{
	(void)state;
	assert_true(read_field("vllm:num_requests_waiting 1\n", ENGINE_RUNNING) == -1);
	assert_true(read_field("vllm:num_requests_running_v2 1\n", ENGINE_RUNNING) == -1);
	assert_string_equal(read_page(span_of("vllm:num_requests_running_v2 1\n")).profile->name,
	                    "vllm");
	assert_true(read_field("vllm:num_requests_running 0\n", ENGINE_RUNNING) == 0);
	/* What only adds to a field is none without it. */
	assert_true(read_field("sglang:num_grammar_queue_reqs 4\n", ENGINE_WAITING) == -1);
	assert_true(read_field("sglang:num_pages 100\n", ENGINE_KV_TOKENS) == -1);
	/* Names of another engine are none of this one's. */
	assert_true(read_field("vllm:x 1\nsglang:num_running_reqs 4\n", ENGINE_RUNNING) == -1);
}

static void the_newer_name_is_preferred(void **state)
{
	(void)state;
	assert_true(read_field("vllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.1\n",
	                       ENGINE_KV_USAGE) == 0.1);
	assert_true(read_field("sglang:num_pages 1\nsglang:page_size 2\n"
	                       "sglang:max_total_num_tokens 50\n",
	                       ENGINE_KV_TOKENS) == 50);
}

static void values_no_engine_can_mean_are_absent(void **state)
{
	(void)state;
	assert_true(read_field("vllm:num_requests_running NaN\n", ENGINE_RUNNING) == -1);
	assert_true(read_field("vllm:num_requests_running -3\n", ENGINE_RUNNING) == -1);
	assert_true(read_field("vllm:num_requests_running +Inf\n", ENGINE_RUNNING) == -1);
	assert_true(read_field("vllm:kv_cache_usage_perc 1.5\n", ENGINE_KV_USAGE) == 1);
	assert_true(
	        read_field("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"None\"} 1\n",
	                   ENGINE_KV_TOKENS) == -1);
	assert_true(read_field("vllm:cache_config_info{block_size=\"16\"} 1\n", ENGINE_KV_TOKENS) ==
	            -1);
	assert_true(read_field("vllm:cache_config_info{block_size=\"\",num_gpu_blocks=\"1\"} 1\n",
	                       ENGINE_KV_TOKENS) == -1);
	assert_true(
	        read_field("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"inf\"} 1\n",
	                   ENGINE_KV_TOKENS) == -1);
}

/* Sum over data-parallel ranks, once over tensor-parallel ones. */
static void ranks_that_repeat_count_once(void **state)
{
	(void)state;
	assert_true(read_field("sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"0\"} 5\n"
	                       "sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"1\"} 5\n"
	                       "sglang:num_running_reqs{dp_rank=\"1\",tp_rank=\"0\"} 2\n"
	                       "sglang:num_running_reqs{dp_rank=\"1\",tp_rank=\"1\"} 2\n"
	                       "sglang:num_running_reqs{dp_rank=\"2\"} 1\n",
	                       ENGINE_RUNNING) == 8);
}

static void the_newest_list_of_adapters_counts(void **state)
{
	struct span text = fixture("engine-vllm-0.33.txt");
	struct engine_reading reading = read_page(text);

	(void)state;
	assert_true(reading.loras.at != 0);
	assert_int_equal(reading.loras.active_count, 2);
	assert_int_equal(reading.loras.active[0], lora_id(span_of("sql-expert")));
	assert_int_equal(reading.loras.active[1], lora_id(span_of("tone-b")));
	assert_int_equal(reading.loras.waiting_count, 1);
	assert_int_equal(reading.loras.waiting[0], lora_id(span_of("legal")));
	free((void *)(uintptr_t)text.at);
	reading = read_page(span_of("vllm:num_requests_running 1\n"));
	assert_true(reading.loras.at == 0);
	reading = read_page(span_of("inference_engine_lora_info{running=\"a, b\"} 1\n"));
	assert_int_equal(reading.loras.active[1], lora_id(span_of("b")));
	assert_true(reading.values[ENGINE_LORA_SLOTS] == -1);
}

static void more_adapters_than_there_is_room_for_are_left_out(void **state)
{
	char page[1024] = "vllm:lora_requests_info{running_lora_adapters=\"";
	struct engine_reading reading;

	(void)state;
	for (int i = 0; i < ENGINE_LORAS_MAX + 5; i++)
		(void)snprintf(page + strlen(page), sizeof(page) - strlen(page), "a%d,", i);
	(void)strcat(page, "\"} 1\n");
	reading = read_page(span_of(page));
	assert_int_equal(reading.loras.active_count, ENGINE_LORAS_MAX);
}

/* It is passed over, and the next one is read. */
static void a_line_that_is_too_long_is_no_line(void **state)
{
	static char text[30000];
	struct engine_reading reading;

	(void)state;
	memset(text, 'x', sizeof(text));
	engine_reader_feed(reader, span_of("vllm:num_requests_waiting"));
	for (int i = 0; i < 3; i++)
		engine_reader_feed(reader, (struct span){ text, sizeof(text) });
	engine_reader_feed(reader, span_of(" 7\nvllm:num_requests_running 7\nvllm:num_requ"));
	engine_reader_end(reader, &reading);
	assert_true(reading.values[ENGINE_WAITING] == -1);
	assert_true(reading.values[ENGINE_RUNNING] == 7);
	engine_reader_feed(reader, span_of("vllm:num_requests_waiting 4")); /* no newline */
	engine_reader_end(reader, &reading);
	assert_true(reading.values[ENGINE_WAITING] == 4);
	assert_true(reading.values[ENGINE_RUNNING] == -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_reader, close_reader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pages_of_engines_are_read),
		TEST(pieces_make_the_same_page),
		TEST(older_names_and_our_own_agents_are_known),
		TEST(of_one_rank_only_its_own_series_count),
		TEST(a_name_that_is_gone_is_unknown),
		TEST(the_newer_name_is_preferred),
		TEST(values_no_engine_can_mean_are_absent),
		TEST(ranks_that_repeat_count_once),
		TEST(the_newest_list_of_adapters_counts),
		TEST(more_adapters_than_there_is_room_for_are_left_out),
		TEST(a_line_that_is_too_long_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
