/* test_engine_names.c - pages of several engines and versions: each role read, or
 * unknown. Proves P057, R102. The pages are made of the names the engines document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "spoa/observe/engine_names.h"
#include "tests/spoa/observe/fixture.h"

/* In the order of ENGINE_FIELDS: running, waiting, kv usage, kv tokens, prompt,
 * generation, cache queries, cache hits. */
static void expect(struct span page, const char *engine, const double *values)
{
	struct engine_reading reading;

	engine_names_read(page, &reading);
	if (engine)
		assert_string_equal(reading.engine, engine);
	else
		assert_null(reading.engine);
	for (size_t role = 0; role <= ENGINE_CACHE_HITS; role++)
		if (fabs(reading.values[role] - values[role]) > 1e-9)
			fail_msg("role %zu is %g, not %g", role, reading.values[role],
			         values[role]);
}

static void pages_of_engines_are_read(void **state)
{
	static const struct {
		const char *file, *engine;
		double values[ENGINE_FIELD_COUNT];
	} known[] = {
		{ "engine-vllm.txt",
		  "vllm",
		  { 17, 3, 0.4125, 640000, 1.5e6, 100000, 2e6, 800000 } },
		{ "engine-vllm-old.txt", "vllm", { 4, 0, 0.75, 120000, 4000, 300, 4000, 1000 } },
		{ "engine-sglang.txt",
		  "sglang",
		  { 9, 4, 0.28, 471258, 8128902, 7557572, 8128902, 2128902 } },
		{ "engine-llamacpp.txt", "llama.cpp", { 4, 46, -1, -1, 5120, 39080, -1, -1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct span page = fixture(known[i].file);

		expect(page, known[i].engine, known[i].values);
		free((void *)(uintptr_t)page.at);
	}
}

static void the_others_are_known_too(void **state)
{
	static const struct {
		const char *page, *engine;
		double values[ENGINE_FIELD_COUNT];
	} known[] = {
		{ "trtllm_num_requests_running 3.0\ntrtllm_num_requests_waiting 1\n"
		  "trtllm_kv_cache_utilization 0.5\ntrtllm_kv_cache_max_blocks 100\n"
		  "trtllm_kv_cache_tokens_per_block 32\ntrtllm_prompt_cached_tokens_total 9\n",
		  "trtllm",
		  { 3, 1, 0.5, 3200, -1, -1, -1, 9 } },
		{ "nv_trt_llm_request_metrics{model=\"m\",request_type=\"scheduled\"} 2\n"
		  "nv_trt_llm_request_metrics{model=\"m\",request_type=\"waiting\"} 5\n"
		  "nv_trt_llm_request_metrics{model=\"m\",request_type=\"context\"} 99\n"
		  "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\"} 0.1\n"
		  "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"max\"} 10\n"
		  "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"tokens_per\"} 64\n",
		  "triton",
		  { 2, 5, 0.1, 640, -1, -1, -1, -1 } },
		{ "tgi_batch_current_size 2\ntgi_queue_size 3\n",
		  "tgi",
		  { 2, 3, -1, -1, -1, -1, -1, -1 } },
		{ "llamacpp:kv_cache_usage_ratio 0.2\n",
		  "llama.cpp",
		  { -1, -1, 0.2, -1, -1, -1, -1, -1 } },
		{ "sglang:num_pages 100\nsglang:page_size 16\n",
		  "sglang",
		  { -1, -1, -1, 1600, -1, -1, -1, -1 } },
		{ "inference_spoa_instance_inflight_requests{instance=\"svc-a\"} 9\n"
		  "inference_spoa_instance_queue_requests{instance=\"svc-a\"} 2\n"
		  "inference_spoa_replica_engine_waiting_requests{replica=\"a0\"} 1\n"
		  "inference_spoa_replica_engine_waiting_requests{replica=\"a1\"} 3\n"
		  "inference_spoa_replica_engine_kv_capacity_tokens{replica=\"a0\"} 1000\n"
		  "inference_spoa_replica_engine_kv_capacity_tokens{replica=\"a1\"} 500\n",
		  "inference-spoa",
		  { 9, 6, -1, 1500, -1, -1, -1, -1 } },
		{ "", NULL, { -1, -1, -1, -1, -1, -1, -1, -1 } },
		{ "go_goroutines 9\n", NULL, { -1, -1, -1, -1, -1, -1, -1, -1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		expect(span_of(known[i].page), known[i].engine, known[i].values);
}

static double read_role(const char *page, enum engine_field role)
{
	struct engine_reading reading;

	engine_names_read(span_of(page), &reading);
	return reading.values[role];
}

/* Unknown is not zero. */
static void a_name_that_is_gone_is_unknown(void **state)
{
	(void)state;
	assert_true(read_role("vllm:num_requests_waiting 1\n", ENGINE_RUNNING) == -1);
	assert_true(read_role("vllm:num_requests_running_v2 1\n", ENGINE_RUNNING) == -1);
	assert_true(read_role("vllm:num_requests_running 0\n", ENGINE_RUNNING) == 0);
	/* What only adds to a role is none without it. */
	assert_true(read_role("sglang:num_grammar_queue_reqs 4\n", ENGINE_WAITING) == -1);
	assert_true(read_role("sglang:num_pages 100\n", ENGINE_KV_TOKENS) == -1);
}

static void the_newer_name_is_preferred(void **state)
{
	(void)state;
	assert_true(read_role("vllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.1\n",
	                      ENGINE_KV_USAGE) == 0.1);
	assert_true(read_role("sglang:num_pages 1\nsglang:page_size 2\n"
	                      "sglang:max_total_num_tokens 50\n",
	                      ENGINE_KV_TOKENS) == 50);
}

static void values_no_engine_can_mean_are_absent(void **state)
{
	(void)state;
	assert_true(read_role("vllm:num_requests_running NaN\n", ENGINE_RUNNING) == -1);
	assert_true(read_role("vllm:num_requests_running -3\n", ENGINE_RUNNING) == -1);
	assert_true(read_role("vllm:num_requests_running +Inf\n", ENGINE_RUNNING) == -1);
	assert_true(read_role("vllm:kv_cache_usage_perc 1.5\n", ENGINE_KV_USAGE) == 1);
	assert_true(
	        read_role("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"None\"} 1\n",
	                  ENGINE_KV_TOKENS) == -1);
	assert_true(read_role("vllm:cache_config_info{block_size=\"16\"} 1\n", ENGINE_KV_TOKENS) ==
	            -1);
	assert_true(read_role("vllm:cache_config_info{block_size=\"\",num_gpu_blocks=\"1\"} 1\n",
	                      ENGINE_KV_TOKENS) == -1);
}

int main(void)
{
	const struct CMUnitTest engine_names[] = {
		cmocka_unit_test(pages_of_engines_are_read),
		cmocka_unit_test(the_others_are_known_too),
		cmocka_unit_test(a_name_that_is_gone_is_unknown),
		cmocka_unit_test(the_newer_name_is_preferred),
		cmocka_unit_test(values_no_engine_can_mean_are_absent),
	};

	return cmocka_run_group_tests(engine_names, NULL, NULL);
}
