/* engine_names.c - which metric of which engine says what.
 *
 * One row a metric. A row of a role's own begins an alternate; PLUS and TIMES
 * belong to the row above and change what it says, where they are on the page.
 * Series of one name are summed, or the largest counts: engines with several
 * ranks have one series for each. Values that no engine can mean (negative, not a
 * number) are as good as absent. */
#include "spoa/observe/engine_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/observe/exposition.h"

enum part {
	FIRST, /* of an alternate: without it there is none */
	PLUS,
	TIMES,
};

enum over { SUM, LARGEST }; /* several series of one name */

struct metric {
	const char *engine;
	enum engine_field role;
	enum part part;
	enum over over;
	const char *name;
	const char *label, *is;  /* only series whose label is this; NULL: all */
	const char *one, *other; /* the value is the product of these labels; NULL: the sample's */
};

#define NAME(name)               (name), NULL, NULL, NULL, NULL
#define SERIES(name, label, is)  (name), (label), (is), NULL, NULL
#define LABELS(name, one, other) (name), NULL, NULL, (one), (other)

static const struct metric metrics[] = {
	{ "vllm", ENGINE_RUNNING, FIRST, SUM, NAME("vllm:num_requests_running") },
	{ "vllm", ENGINE_WAITING, FIRST, SUM, NAME("vllm:num_requests_waiting") },
	{ "vllm", ENGINE_KV_USAGE, FIRST, LARGEST, NAME("vllm:kv_cache_usage_perc") },
	{ "vllm", ENGINE_KV_USAGE, FIRST, LARGEST, NAME("vllm:gpu_cache_usage_perc") },
	{ "vllm", ENGINE_KV_USAGE, PLUS, LARGEST, NAME("vllm:cpu_cache_usage_perc") },
	{ "vllm", ENGINE_KV_TOKENS, FIRST, SUM,
	  LABELS("vllm:cache_config_info", "block_size", "num_gpu_blocks") },
	{ "vllm", ENGINE_PROMPT_TOKENS, FIRST, SUM, NAME("vllm:prompt_tokens_total") },
	{ "vllm", ENGINE_GENERATION_TOKENS, FIRST, SUM, NAME("vllm:generation_tokens_total") },
	{ "vllm", ENGINE_CACHE_QUERIES, FIRST, SUM, NAME("vllm:prefix_cache_queries_total") },
	{ "vllm", ENGINE_CACHE_QUERIES, FIRST, SUM, NAME("vllm:gpu_prefix_cache_queries_total") },
	{ "vllm", ENGINE_CACHE_HITS, FIRST, SUM, NAME("vllm:prefix_cache_hits_total") },
	{ "vllm", ENGINE_CACHE_HITS, FIRST, SUM, NAME("vllm:gpu_prefix_cache_hits_total") },

	{ "sglang", ENGINE_RUNNING, FIRST, SUM, NAME("sglang:num_running_reqs") },
	{ "sglang", ENGINE_WAITING, FIRST, SUM, NAME("sglang:num_queue_reqs") },
	{ "sglang", ENGINE_WAITING, PLUS, SUM, NAME("sglang:num_grammar_queue_reqs") },
	{ "sglang", ENGINE_WAITING, PLUS, SUM, NAME("sglang:num_prefill_prealloc_queue_reqs") },
	{ "sglang", ENGINE_WAITING, PLUS, SUM, NAME("sglang:num_prefill_inflight_queue_reqs") },
	{ "sglang", ENGINE_WAITING, PLUS, SUM, NAME("sglang:num_decode_prealloc_queue_reqs") },
	{ "sglang", ENGINE_WAITING, PLUS, SUM, NAME("sglang:num_decode_transfer_queue_reqs") },
	{ "sglang", ENGINE_KV_USAGE, FIRST, LARGEST, NAME("sglang:token_usage") },
	{ "sglang", ENGINE_KV_TOKENS, FIRST, SUM, NAME("sglang:max_total_num_tokens") },
	{ "sglang", ENGINE_KV_TOKENS, FIRST, SUM, NAME("sglang:num_pages") },
	{ "sglang", ENGINE_KV_TOKENS, TIMES, LARGEST, NAME("sglang:page_size") },
	{ "sglang", ENGINE_PROMPT_TOKENS, FIRST, SUM, NAME("sglang:prompt_tokens_total") },
	{ "sglang", ENGINE_GENERATION_TOKENS, FIRST, SUM, NAME("sglang:generation_tokens_total") },
	{ "sglang", ENGINE_CACHE_QUERIES, FIRST, SUM, NAME("sglang:prompt_tokens_total") },
	{ "sglang", ENGINE_CACHE_HITS, FIRST, SUM, NAME("sglang:cached_tokens_total") },

	{ "trtllm", ENGINE_RUNNING, FIRST, SUM, NAME("trtllm_num_requests_running") },
	{ "trtllm", ENGINE_WAITING, FIRST, SUM, NAME("trtllm_num_requests_waiting") },
	{ "trtllm", ENGINE_KV_USAGE, FIRST, LARGEST, NAME("trtllm_kv_cache_utilization") },
	{ "trtllm", ENGINE_KV_TOKENS, FIRST, SUM, NAME("trtllm_kv_cache_max_blocks") },
	{ "trtllm", ENGINE_KV_TOKENS, TIMES, LARGEST, NAME("trtllm_kv_cache_tokens_per_block") },
	{ "trtllm", ENGINE_CACHE_HITS, FIRST, SUM, NAME("trtllm_prompt_cached_tokens_total") },

	{ "triton", ENGINE_RUNNING, FIRST, SUM,
	  SERIES("nv_trt_llm_request_metrics", "request_type", "scheduled") },
	{ "triton", ENGINE_WAITING, FIRST, SUM,
	  SERIES("nv_trt_llm_request_metrics", "request_type", "waiting") },
	{ "triton", ENGINE_KV_USAGE, FIRST, LARGEST,
	  SERIES("nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction") },
	{ "triton", ENGINE_KV_TOKENS, FIRST, SUM,
	  SERIES("nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "max") },
	{ "triton", ENGINE_KV_TOKENS, TIMES, LARGEST,
	  SERIES("nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "tokens_per") },

	{ "llama.cpp", ENGINE_RUNNING, FIRST, SUM, NAME("llamacpp:requests_processing") },
	{ "llama.cpp", ENGINE_WAITING, FIRST, SUM, NAME("llamacpp:requests_deferred") },
	{ "llama.cpp", ENGINE_KV_USAGE, FIRST, LARGEST, NAME("llamacpp:kv_cache_usage_ratio") },
	{ "llama.cpp", ENGINE_PROMPT_TOKENS, FIRST, SUM, NAME("llamacpp:prompt_tokens_total") },
	{ "llama.cpp", ENGINE_GENERATION_TOKENS, FIRST, SUM,
	  NAME("llamacpp:tokens_predicted_total") },

	{ "tgi", ENGINE_RUNNING, FIRST, SUM, NAME("tgi_batch_current_size") },
	{ "tgi", ENGINE_WAITING, FIRST, SUM, NAME("tgi_queue_size") },

	/* An agent of our own that chooses the engines of a cluster below. */
	{ "inference-spoa", ENGINE_RUNNING, FIRST, SUM,
	  NAME("inference_spoa_instance_inflight_requests") },
	{ "inference-spoa", ENGINE_WAITING, FIRST, SUM,
	  NAME("inference_spoa_instance_queue_requests") },
	{ "inference-spoa", ENGINE_WAITING, PLUS, SUM,
	  NAME("inference_spoa_replica_engine_waiting_requests") },
	{ "inference-spoa", ENGINE_KV_TOKENS, FIRST, SUM,
	  NAME("inference_spoa_replica_engine_kv_capacity_tokens") },
};
#undef NAME
#undef SERIES
#undef LABELS

enum { METRIC_COUNT = sizeof(metrics) / sizeof(metrics[0]) };

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

static bool wanted(void *data, struct span name)
{
	(void)data;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (is(name, metrics[i].name))
			return true;
	return false;
}

/* A label that is a number; false for "None" and the like. */
static bool label_number(struct span labels, const char *name, double *ret_number)
{
	char text[32];
	struct span value;
	char *end;

	if (!exposition_label(labels, name, &value) || value.len == 0 || value.len >= sizeof(text))
		return false;
	memcpy(text, value.at, value.len);
	text[value.len] = 0;
	*ret_number = strtod(text, &end);
	return *end == 0;
}

static bool value_of(const struct metric *metric, const struct exposition_sample *sample,
                     double *ret_value)
{
	double value = sample->value, factors[2];
	struct span label;

	if (!is(sample->name, metric->name))
		return false;
	if (metric->label &&
	    !(exposition_label(sample->labels, metric->label, &label) && is(label, metric->is)))
		return false;
	if (metric->one) {
		if (!label_number(sample->labels, metric->one, &factors[0]) ||
		    !label_number(sample->labels, metric->other, &factors[1]))
			return false;
		value = factors[0] * factors[1];
	}
	if (!isfinite(value) || value < 0)
		return false;
	*ret_value = value;
	return true;
}

/* values: -1 where nothing was found. */
static void collect(struct span page, double *values)
{
	struct exposition exposition = { .rest = page, .wanted = wanted };
	struct exposition_sample sample;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		values[i] = -1;
	while (exposition_next(&exposition, &sample)) {
		for (size_t i = 0; i < METRIC_COUNT; i++) {
			double value;

			if (!value_of(&metrics[i], &sample, &value))
				continue;
			if (values[i] < 0)
				values[i] = value;
			else if (metrics[i].over == SUM)
				values[i] += value;
			else
				values[i] = fmax(values[i], value);
		}
	}
}

/* The alternate that begins at row `first`; -1 when it is not on the page. */
static double alternate(const double *values, size_t first)
{
	double value = values[first];

	for (size_t i = first + 1; i < METRIC_COUNT && metrics[i].part != FIRST; i++) {
		if (metrics[i].part == TIMES && values[i] < 0)
			return -1;
		if (metrics[i].part == TIMES)
			value *= values[i];
		else if (value >= 0 && values[i] > 0)
			value += values[i];
	}
	return value;
}

void engine_names_read(struct span page, struct engine_reading *ret_reading)
{
	double values[METRIC_COUNT];

	collect(page, values);
	ret_reading->engine = NULL;
	for (size_t role = 0; role < ENGINE_FIELD_COUNT; role++)
		ret_reading->values[role] = -1;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		double *value = &ret_reading->values[metrics[i].role];

		if (metrics[i].part != FIRST || values[i] < 0)
			continue;
		if (!ret_reading->engine)
			ret_reading->engine = metrics[i].engine;
		if (*value < 0)
			*value = alternate(values, i);
	}
	if (ret_reading->values[ENGINE_KV_USAGE] > 1)
		ret_reading->values[ENGINE_KV_USAGE] = 1;
}
