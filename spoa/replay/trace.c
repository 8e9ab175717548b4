/* trace.c - a file of recorded requests, line by line, and what is made of its blocks. */
#include "spoa/replay/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/rng.h"
#include "spoa/replay/trace_lines.h"

struct trace *trace_new(void)
{
	return calloc(1, sizeof(struct trace));
}

void trace_keep(struct trace *trace, size_t count)
{
	while (trace->count > count) {
		trace->count--;
		free(trace->requests[trace->count].blocks);
		free(trace->requests[trace->count].hashes);
	}
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	trace_keep(trace, 0);
	free(trace->requests);
	free(trace);
}

static bool make_room(struct trace *trace)
{
	size_t room = trace->room > 0 ? 2 * trace->room : 1024;
	struct trace_request *requests;

	if (trace->count < trace->room)
		return true;
	requests = realloc(trace->requests, room * sizeof(*requests));
	if (!requests)
		return false;
	trace->requests = requests;
	trace->room = room;
	return true;
}

bool trace_add(struct trace *trace, uint32_t blocks, uint32_t hashes,
               struct trace_request **ret_request)
{
	struct trace_request request = { .block_count = blocks, .hash_count = hashes };

	if (!make_room(trace))
		return false;
	request.blocks = calloc(blocks > 0 ? blocks : 1, sizeof(uint64_t));
	request.hashes = calloc(hashes > 0 ? hashes : 1, sizeof(uint64_t));
	if (!request.blocks || !request.hashes) {
		free(request.blocks);
		free(request.hashes);
		return false;
	}
	*ret_request = &trace->requests[trace->count++];
	**ret_request = request;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_request *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

void trace_sort(struct trace *trace)
{
	usec_t first;

	if (trace->count == 0)
		return;
	qsort(trace->requests, trace->count, sizeof(*trace->requests), by_time);
	first = trace->requests[0].at;
	for (size_t i = 0; i < trace->count; i++)
		trace->requests[i].at -= first;
}

void trace_spread(struct trace *trace, usec_t jitter, uint64_t seed)
{
	struct rng rng = { seed };

	for (size_t i = 0; i < trace->count; i++)
		trace->requests[i].at += (usec_t)(rng_unit(&rng) * (double)jitter);
	trace_sort(trace);
}

/* A block of the ladder stands for the engine's blocks that it covers, and for where it
 * begins in the first of them. */
static uint64_t hash_of(const struct trace_request *request, uint32_t offset, uint32_t length)
{
	struct rng mix = { offset % TRACE_BLOCK_BYTES };

	for (uint64_t at = offset; at < (uint64_t)offset + length; at += TRACE_BLOCK_BYTES) {
		uint64_t block = at / TRACE_BLOCK_BYTES;

		mix.state = rng_next(&mix) ^
		            (block < request->block_count ? request->blocks[block] : 0);
	}
	return rng_next(&mix);
}

void trace_hash(struct trace_request *request, const struct ladder *ladder)
{
	for (uint32_t i = 0; i < request->hash_count; i++)
		request->hashes[i] = hash_of(request, ladder->offset[i], ladder->length[i]);
}

/* An engine's block is equal where all of the ladder's blocks up to its end are. What
 * lies behind the ladder is nobody else's. */
void trace_cut(struct trace_request *request, const struct ladder *ladder)
{
	struct rng chain = { 1 };
	struct rng own = { request->at + 1 };
	uint32_t used = 0;

	own.state ^= request->bytes;
	for (uint32_t i = 0; i < request->block_count; i++) {
		uint64_t end = (uint64_t)(i + 1) * TRACE_BLOCK_BYTES;
		struct rng mix;

		while (used < request->hash_count && ladder_reach(ladder, used) < end)
			chain.state = rng_next(&chain) ^ request->hashes[used++];
		mix = (struct rng){ chain.state + i };
		if (ladder_reach(ladder, used) < end)
			mix.state ^= rng_next(&own);
		request->blocks[i] = rng_next(&mix);
	}
}

static void note_bad(struct trace *trace, const char *path, size_t number, const char *expected)
{
	if (trace->bad++ == 0)
		(void)snprintf(trace->first_bad, sizeof(trace->first_bad), "%s:%zu: expected %s",
		               path, number, expected);
}

/* False when memory runs out. */
static bool read_lines(FILE *file, const char *path, struct line_reader *reader)
{
	enum line_result result = LINE_PASSED;
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t len;

	while (result != LINE_NO_MEMORY && (len = getline(&line, &room, file)) > 0) {
		number++;
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (line[0] == '\0')
			continue;
		if (reader->kind == TRACE_UNKNOWN)
			reader->kind = trace_kind_of(line);
		result = trace_line(reader, line);
		if (result == LINE_BAD)
			note_bad(reader->trace, path, number, reader->expected);
	}
	free(line);
	return result != LINE_NO_MEMORY;
}

struct trace *trace_load(const char *path, const struct ladder *ladder, struct error *error)
{
	struct line_reader reader = { .ladder = ladder, .kind = TRACE_UNKNOWN };
	FILE *file = fopen(path, "re");
	bool enough;

	if (!file) {
		error_set(error, "%s: %s", path, strerror(errno));
		return NULL;
	}
	reader.trace = trace_new();
	enough = reader.trace && read_lines(file, path, &reader);
	(void)fclose(file);
	if (enough)
		trace_lines_join(&reader);
	free(reader.ids);
	free(reader.answers);
	if (enough && reader.trace->count > 0) {
		trace_sort(reader.trace);
		return reader.trace;
	}
	if (!enough)
		error_set(error, "%s: out of memory", path);
	else if (reader.trace->bad > 0)
		error_set(error, "%s", reader.trace->first_bad);
	else
		error_set(error, "%s: no request in it", path);
	trace_free(reader.trace);
	return NULL;
}
