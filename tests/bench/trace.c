/* trace.c - reads a trace, a line at a time. */
#include "tests/bench/trace.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "policies/core/rng.h"

static uint64_t spread(uint64_t id)
{
	struct rng rng = { id };

	return rng_next(&rng);
}

static int read_request(json_t *line, struct trace_request *ret)
{
	json_t *ids = json_object_get(line, "hash_ids");
	size_t count = json_array_size(ids);

	*ret = (struct trace_request){
		.at = (uint64_t)json_integer_value(json_object_get(line, "timestamp")) * 1000,
		.input_tokens = (uint32_t)json_integer_value(json_object_get(line, "input_length")),
		.output_tokens =
		        (uint32_t)json_integer_value(json_object_get(line, "output_length")),
		.block_count = (uint32_t)count,
		.blocks = calloc(count ? count : 1, sizeof(uint64_t)),
	};
	if (!ret->blocks || ret->input_tokens == 0)
		return 0;
	if (ret->output_tokens == 0)
		ret->output_tokens = 1;
	for (size_t i = 0; i < count; i++)
		ret->blocks[i] = spread((uint64_t)json_integer_value(json_array_get(ids, i)));
	return 1;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_request *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int read_all(FILE *file, struct trace *trace)
{
	size_t room = 0;
	char *text = NULL;
	size_t text_room = 0;
	int good = 1;

	while (good && getline(&text, &text_room, file) > 0) {
		json_t *line = json_loads(text, 0, NULL);

		if (trace->count == room) {
			room = room ? 2 * room : 4096;
			trace->requests = realloc(trace->requests, room * sizeof(*trace->requests));
		}
		good = line && trace->requests &&
		       read_request(line, &trace->requests[trace->count]);
		trace->count += (size_t)good;
		json_decref(line);
	}
	free(text);
	return good && trace->count > 0;
}

struct trace *trace_load(const char *path, uint64_t jitter_us, uint64_t seed)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	FILE *file = fopen(path, "r");
	struct rng rng = { seed };
	int good = trace && file && read_all(file, trace);

	if (file)
		(void)fclose(file);
	if (!good) {
		(void)fprintf(stderr, "%s: expected a trace of JSON lines\n", path);
		trace_free(trace);
		return NULL;
	}
	for (size_t i = 0; i < trace->count; i++)
		trace->requests[i].at += (uint64_t)(rng_unit(&rng) * (double)jitter_us);
	qsort(trace->requests, trace->count, sizeof(*trace->requests), by_time);
	return trace;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->count; i++)
		free(trace->requests[i].blocks);
	free(trace->requests);
	free(trace);
}
