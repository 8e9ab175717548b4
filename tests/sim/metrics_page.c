/* metrics_page.c - one table of values, each with its name in either engine; histograms
 * behind it. */
#include "tests/sim/metrics_page.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/engine.h"

enum value {
	RUNNING,
	WAITING,
	USAGE,
	TOKENS,
	PAGE_SIZE,
	PROMPT,
	GENERATED,
	QUERIES,
	CACHED,
	SERVED,
	ABORTED,
	SEQUENCES,
	VALUE_COUNT
};

static const struct row {
	enum value value;
	const char *type, *name;
} of_vllm[] = {
	{ RUNNING, "gauge", "num_requests_running" },
	{ WAITING, "gauge", "num_requests_waiting" },
	{ USAGE, "gauge", "kv_cache_usage_perc" },
	{ PROMPT, "counter", "prompt_tokens_total" },
	{ GENERATED, "counter", "generation_tokens_total" },
	{ QUERIES, "counter", "prefix_cache_queries_total" },
	{ CACHED, "counter", "prefix_cache_hits_total" },
	{ 0 },
}, of_sglang[] = {
	{ RUNNING, "gauge", "num_running_reqs" },
	{ WAITING, "gauge", "num_queue_reqs" },
	{ USAGE, "gauge", "token_usage" },
	{ TOKENS, "gauge", "max_total_num_tokens" },
	{ PAGE_SIZE, "gauge", "page_size" },
	{ PROMPT, "counter", "prompt_tokens_total" },
	{ GENERATED, "counter", "generation_tokens_total" },
	{ CACHED, "counter", "cached_tokens_total" },
	{ SERVED, "counter", "num_requests_total" },
	{ ABORTED, "counter", "num_aborted_requests_total" },
	{ 0 },
}, of_generic[] = { /* as an exporter beside an engine of no known kind would say it */
	{ RUNNING, "gauge", "running_requests" },
	{ WAITING, "gauge", "waiting_requests" },
	{ SEQUENCES, "gauge", "max_sequences" },
	{ USAGE, "gauge", "kv_cache_usage_ratio" },
	{ TOKENS, "gauge", "kv_cache_tokens" },
	{ PROMPT, "counter", "prompt_tokens_total" },
	{ GENERATED, "counter", "generation_tokens_total" },
	{ SERVED, "counter", "finished_requests_total" },
	{ 0 },
};

/* prefix: with what parts it from the name. */
static void write_rows(struct bytes *out, const char *prefix, const char *labels,
                       const struct row *rows, const double *values)
{
	for (; rows->name; rows++)
		bytes_format(out, "# HELP %s%s Simulated.\n# TYPE %s%s %s\n%s%s{%s} %.15g\n",
		             prefix, rows->name, prefix, rows->name, rows->type, prefix, rows->name,
		             labels, values[rows->value]);
}

static void write_histograms(struct bytes *out, const struct engine *engine, const char *prefix,
                             const char *labels)
{
	const struct {
		const struct buckets *buckets;
		const char *name;
	} all[] = { { &engine->ttft, "time_to_first_token_seconds" },
		    { &engine->itl, "inter_token_latency_seconds" },
		    { &engine->e2e, "e2e_request_latency_seconds" } };
	char name[64];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s:%s", prefix, all[i].name);
		buckets_write(all[i].buckets, name, labels, out);
	}
}

/* What vLLM says with labels of its own. */
static void write_infos(struct bytes *out, const struct engine *engine, const char *labels)
{
	bytes_format(out,
	             "# HELP vllm:request_success_total Simulated.\n"
	             "# TYPE vllm:request_success_total counter\n"
	             "vllm:request_success_total{%s,finished_reason=\"stop\"} %lu\n"
	             "vllm:request_success_total{%s,finished_reason=\"abort\"} %lu\n"
	             "# HELP vllm:cache_config_info Simulated.\n"
	             "# TYPE vllm:cache_config_info gauge\n"
	             "vllm:cache_config_info{block_size=\"%u\",enable_prefix_caching=\"True\","
	             "engine=\"0\",num_gpu_blocks=\"%u\"} 1\n",
	             labels, (unsigned long)engine->counts.served, labels,
	             (unsigned long)engine->counts.aborted, engine->options->engine.block_tokens,
	             engine->options->engine.kv_blocks);
}

static void measure(const struct engine *engine, const struct engine_load *of, double *values)
{
	struct engine_load load = *of;

	values[RUNNING] = (double)load.running + engine->hanging;
	values[WAITING] = load.waiting;
	values[USAGE] = (double)load.blocks_used / load.blocks_total;
	values[TOKENS] = (double)load.blocks_total * engine->options->engine.block_tokens;
	values[PAGE_SIZE] = engine->options->engine.block_tokens;
	values[PROMPT] = values[QUERIES] = (double)load.prompt_tokens;
	values[GENERATED] = (double)load.generated_tokens;
	values[CACHED] = (double)load.cached_tokens;
	values[SERVED] = (double)engine->counts.served;
	values[ABORTED] = (double)engine->counts.aborted;
	values[SEQUENCES] = engine->options->engine.max_running;
}

/* Of each rank the same names, with its number as label engine. */
static void write_ranks(struct bytes *out, const struct engine *engine, const char *model)
{
	for (const struct row *row = of_vllm; row->name; row++) {
		bytes_format(out, "# HELP vllm:%s Simulated.\n# TYPE vllm:%s %s\n", row->name,
		             row->name, row->type);
		for (uint32_t rank = 0; rank < engine->options->ranks; rank++) {
			struct engine_load load = engine_load_of(engine, rank);
			double values[VALUE_COUNT];

			measure(engine, &load, values);
			bytes_format(out, "vllm:%s{engine=\"%u\",model_name=\"%s\"} %.15g\n",
			             row->name, rank, model, values[row->value]);
		}
	}
}

bool metrics_page_write(struct engine *engine, struct bytes *out)
{
	const struct sim_options *options = engine->options;
	const char *model = options->models.count > 0 ? options->models.texts[0] : "sim";
	struct engine_load load;
	double values[VALUE_COUNT];
	char labels[256];

	if (strcmp(options->page, "none") == 0)
		return false;
	engine_catch_up(engine);
	load = engine_load_now(engine);
	measure(engine, &load, values);
	if (strcmp(options->page, "generic") == 0) {
		(void)snprintf(labels, sizeof(labels), "model=\"%s\"", model);
		write_rows(out, "inference_engine_", labels, of_generic, values);
		return true;
	}
	if (strcmp(options->page, "sglang") == 0) {
		(void)snprintf(
		        labels, sizeof(labels),
		        "engine_type=\"unified\",model_name=\"%s\",pp_rank=\"0\",tp_rank=\"0\"",
		        model);
		write_rows(out, "sglang:", labels, of_sglang, values);
		loras_write(&engine->loras, options, labels, out);
		write_histograms(out, engine, "sglang", labels);
		return true;
	}
	(void)snprintf(labels, sizeof(labels), "engine=\"0\",model_name=\"%s\"", model);
	write_ranks(out, engine, model);
	write_infos(out, engine, labels);
	loras_write(&engine->loras, options, labels, out);
	write_histograms(out, engine, "vllm", labels);
	return true;
}
