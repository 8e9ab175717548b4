/* metrics_page.c - one table of names and values; histograms behind it. */
#include "tests/sim/metrics_page.h"

#include <stdio.h>

#include "tests/sim/engine.h"

static void write_value(struct bytes *out, const char *labels, const char *type, const char *name,
                        double value)
{
	bytes_format(out, "# HELP vllm:%s Simulated.\n# TYPE vllm:%s %s\nvllm:%s{%s} %.15g\n", name,
	             name, type, name, labels, value);
}

void metrics_page_write(struct engine *engine, struct bytes *out)
{
	const struct sim_options *options = engine->options;
	struct engine_load load;
	char labels[256];

	engine_catch_up(engine);
	load = engine_load_now(engine);
	(void)snprintf(labels, sizeof(labels), "engine=\"0\",model_name=\"%s\"",
	               options->models.count > 0 ? options->models.texts[0] : "sim");
#define GAUGE(name, value)   write_value(out, labels, "gauge", name, (double)(value))
#define COUNTER(name, value) write_value(out, labels, "counter", name, (double)(value))
	GAUGE("num_requests_running", load.running + engine->hanging);
	GAUGE("num_requests_waiting", load.waiting);
	GAUGE("kv_cache_usage_perc", (double)load.blocks_used / load.blocks_total);
	COUNTER("prompt_tokens_total", load.prompt_tokens);
	COUNTER("generation_tokens_total", load.generated_tokens);
	COUNTER("prefix_cache_queries_total", load.prompt_tokens);
	COUNTER("prefix_cache_hits_total", load.cached_tokens);
#undef GAUGE
#undef COUNTER
	bytes_format(out,
	             "# HELP vllm:request_success_total Simulated.\n"
	             "# TYPE vllm:request_success_total counter\n"
	             "vllm:request_success_total{%s,finished_reason=\"stop\"} %lu\n"
	             "# HELP vllm:cache_config_info Simulated.\n"
	             "# TYPE vllm:cache_config_info gauge\n"
	             "vllm:cache_config_info{block_size=\"%u\",enable_prefix_caching=\"True\","
	             "engine=\"0\",num_gpu_blocks=\"%u\"} 1\n",
	             labels, (unsigned long)engine->counts.served, options->engine.block_tokens,
	             options->engine.kv_blocks);
	buckets_write(&engine->ttft, "vllm:time_to_first_token_seconds", labels, out);
	buckets_write(&engine->itl, "vllm:inter_token_latency_seconds", labels, out);
	buckets_write(&engine->e2e, "vllm:e2e_request_latency_seconds", labels, out);
}
