/* trace_lines.c - what one line of a recorded file says of a request. */
#include "spoa/replay/trace_lines.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "policies/core/rng.h"
#include "policies/state/inflight.h"
#include "spoa/observe/log_line.h"

static const char expected_public[] =
        "timestamp (ms), input_length and output_length (tokens, the first above 0) and hash_ids";
static const char expected_decision[] = "a decision: ts, id, total, hashes; or the end of one";

enum trace_kind trace_kind_of(const char *line)
{
	if (strstr(line, "ev=end "))
		return TRACE_ENDS;
	return strstr(line, "\"hash_ids\"") ? TRACE_PUBLIC : TRACE_DECISIONS;
}

static enum line_result bad(struct line_reader *reader, const char *expected)
{
	reader->expected = expected;
	return LINE_BAD;
}

/* A whole number below the most, or -1. */
static int64_t number(const json_t *object, const char *name, int64_t most)
{
	const json_t *value = json_object_get(object, name);
	int64_t number = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;

	return number >= 0 && number < most ? number : -1;
}

/* Ids are small and dense in public traces; ours are spread over 64 bits. */
static uint64_t spread(uint64_t id)
{
	struct rng rng = { id };

	return rng_next(&rng);
}

static enum line_result take_public(struct line_reader *reader, const json_t *object)
{
	const json_t *ids = json_object_get(object, "hash_ids");
	int64_t at = number(object, "timestamp", INT64_MAX / 2000);
	int64_t input = number(object, "input_length", TRACE_TOKENS_MAX);
	int64_t output = number(object, "output_length", TRACE_TOKENS_MAX);
	uint64_t bytes = (uint64_t)input * TRACE_BYTES_PER_TOKEN;
	struct trace_request *request;
	uint32_t blocks;

	if (at < 0 || input < 1 || output < 0 || !json_is_array(ids))
		return bad(reader, expected_public);
	blocks = (uint32_t)(input / TRACE_BLOCK_TOKENS);
	if (blocks > json_array_size(ids))
		blocks = (uint32_t)json_array_size(ids);
	if (!trace_add(reader->trace, blocks, ladder_usable(reader->ladder, bytes), &request))
		return LINE_NO_MEMORY;
	request->at = (usec_t)at * MSEC;
	request->input_tokens = (uint32_t)input;
	request->output_tokens = output > 0 ? (uint32_t)output : 1;
	request->bytes = bytes;
	for (uint32_t i = 0; i < blocks; i++)
		request->blocks[i] = spread((uint64_t)json_integer_value(json_array_get(ids, i)));
	trace_hash(request, reader->ladder);
	reader->trace->has_prompts = true;
	return LINE_TAKEN;
}

static bool read_date(const char *text, usec_t *ret_at)
{
	struct tm date = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &date) : NULL;
	time_t seconds;
	long ms = 0;

	if (!rest)
		return false;
	if (*rest == '.')
		ms = strtol(rest + 1, NULL, 10);
	seconds = timegm(&date);
	if (seconds < 0 || ms < 0 || ms > 999)
		return false;
	*ret_at = (usec_t)seconds * SECOND + (usec_t)ms * MSEC;
	return true;
}

/* Room for one more at the end of a list that doubles. */
static bool grow(void **list, size_t count, size_t *room, size_t each)
{
	size_t more = *room > 0 ? 2 * *room : 1024;
	void *larger;

	if (count < *room)
		return true;
	larger = realloc(*list, more * each);
	if (!larger)
		return false;
	*list = larger;
	*room = more;
	return true;
}

static uint64_t id_of(const json_t *object)
{
	const char *id = json_string_value(json_object_get(object, "id"));

	return id ? flight_id_of((struct span){ id, strlen(id) }).low : 0;
}

static enum line_result take_answer(struct line_reader *reader, uint64_t id, const json_t *end)
{
	int64_t bytes = number(end, "bytes", INT64_MAX);

	if (!grow((void **)&reader->answers, reader->answer_count, &reader->answer_room,
	          sizeof(*reader->answers)))
		return LINE_NO_MEMORY;
	reader->answers[reader->answer_count++] =
	        (struct trace_answer){ id, bytes > 0 ? (uint64_t)bytes : 0 };
	return LINE_PASSED;
}

/* False when one of so many is no hash. ret_hashes may be NULL. */
static bool read_hashes(const json_t *hashes, uint32_t count, uint64_t *ret_hashes)
{
	for (uint32_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(hashes, i));
		char *end = NULL;
		uint64_t hash = text ? strtoull(text, &end, 16) : 0;

		if (!end || end == text || *end != '\0')
			return false;
		if (ret_hashes)
			ret_hashes[i] = hash;
	}
	return true;
}

static enum line_result take_decision(struct line_reader *reader, const json_t *object)
{
	const json_t *hashes = json_object_get(object, "hashes");
	const json_t *end = json_object_get(object, "end");
	uint64_t id = id_of(object);
	int64_t total = number(object, "total", (int64_t)TRACE_TOKENS_MAX * 4);
	int64_t prompt = number(object, "plen", (int64_t)TRACE_TOKENS_MAX * 4);
	struct trace_request *request;
	uint64_t bytes;
	uint32_t usable;
	usec_t at;

	if (total < 0)
		return end ? take_answer(reader, id, end) : bad(reader, expected_decision);
	bytes = (uint64_t)(prompt > 0 ? prompt : total);
	usable = ladder_usable(reader->ladder, bytes);
	if (usable > json_array_size(hashes))
		usable = (uint32_t)json_array_size(hashes);
	if (!read_date(json_string_value(json_object_get(object, "ts")), &at))
		return bad(reader, expected_decision);
	if (!read_hashes(hashes, usable, NULL))
		return bad(reader, "hashes of hexadecimal digits");
	if (!grow((void **)&reader->ids, reader->trace->count, &reader->id_room,
	          sizeof(*reader->ids)) ||
	    !trace_add(reader->trace, (uint32_t)(bytes / TRACE_BLOCK_BYTES), usable, &request))
		return LINE_NO_MEMORY;
	reader->ids[reader->trace->count - 1] = id;
	request->at = at;
	request->bytes = bytes;
	request->input_tokens = (uint32_t)(bytes / TRACE_BYTES_PER_TOKEN + 1);
	request->output_tokens = 1;
	(void)read_hashes(hashes, usable, request->hashes);
	trace_cut(request, reader->ladder);
	reader->trace->has_prompts = reader->trace->has_prompts || usable > 0;
	return end ? take_answer(reader, id, end) : LINE_TAKEN;
}

/* HAProxy's own line: sizes and times, nothing of the prompt. */
static enum line_result take_end(struct line_reader *reader, const char *line)
{
	const char *ours = strstr(line, "infer v=");
	struct trace_request *request;
	struct log_line read;
	uint64_t bytes;

	if (!ours || log_line_read((struct span){ ours, strlen(ours) }, &read) != LOG_LINE_OK)
		return bad(reader, "an end-of-stream line of contract 1");
	if (read.end.decided_ms <= 0)
		return LINE_PASSED;
	bytes = read.end.bytes_in;
	if (bytes >= (uint64_t)TRACE_TOKENS_MAX * TRACE_BYTES_PER_TOKEN)
		return bad(reader, "U below 64 MB");
	if (!trace_add(reader->trace, (uint32_t)(bytes / TRACE_BLOCK_BYTES), 0, &request))
		return LINE_NO_MEMORY;
	request->at = (usec_t)read.end.decided_ms * MSEC;
	request->bytes = bytes;
	request->input_tokens = (uint32_t)(bytes / TRACE_BYTES_PER_TOKEN + 1);
	request->output_tokens =
	        (uint32_t)(read.end.bytes_out / TRACE_STREAM_BYTES_PER_TOKEN % TRACE_TOKENS_MAX +
	                   1);
	trace_cut(request, reader->ladder);
	return LINE_TAKEN;
}

enum line_result trace_line(struct line_reader *reader, const char *line)
{
	enum line_result result;
	json_t *object;

	if (reader->kind == TRACE_ENDS)
		return take_end(reader, line);
	object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object))
		result = bad(reader, "a JSON object");
	else if (reader->kind == TRACE_PUBLIC)
		result = take_public(reader, object);
	else
		result = take_decision(reader, object);
	json_decref(object);
	return result;
}

static int by_id(const void *a, const void *b)
{
	const struct trace_answer *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

void trace_lines_join(struct line_reader *reader)
{
	if (reader->answer_count == 0)
		return;
	qsort(reader->answers, reader->answer_count, sizeof(*reader->answers), by_id);
	for (size_t i = 0; i < reader->trace->count; i++) {
		struct trace_answer sought = { .id = reader->ids[i] };
		const struct trace_answer *found =
		        bsearch(&sought, reader->answers, reader->answer_count,
		                sizeof(*reader->answers), by_id);
		uint64_t tokens = found ? found->bytes / TRACE_STREAM_BYTES_PER_TOKEN : 0;

		if (tokens > 0 && tokens < TRACE_TOKENS_MAX)
			reader->trace->requests[i].output_tokens = (uint32_t)tokens;
	}
}
