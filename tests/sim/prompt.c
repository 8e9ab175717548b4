/* prompt.c - one pass over the outer object of a JSON text.
 *
 * A whole JSON parser would cost more than all else an engine without a cost model does; long
 * strings are stepped over with memchr(). */
#include "tests/sim/prompt.h"

#include <string.h>

#include <xxhash.h>

#include "tests/sim/http.h"

enum { TOKEN_BYTES = 4 };

static const char *past_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* From an opening quote to behind the closing one; NULL without one. */
static const char *past_string(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		const char *quote = memchr(at, '"', (size_t)(end - at));
		const char *before = quote;

		if (!quote)
			return NULL;
		while (before > at && before[-1] == '\\')
			before--;
		if ((quote - before) % 2 == 0)
			return quote + 1;
		at = quote;
	}
	return NULL;
}

static const char *past_nested(const char *at, const char *end)
{
	int depth = 0;

	while (at < end) {
		switch (*at) {
		case '"':
			at = past_string(at, end);
			if (!at)
				return NULL;
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0)
				return at + 1;
			break;
		default:
			break;
		}
		at++;
	}
	return NULL;
}

static const char *past_value(const char *at, const char *end)
{
	if (at == end)
		return NULL;
	if (*at == '"')
		return past_string(at, end);
	if (*at == '{' || *at == '[')
		return past_nested(at, end);
	while (at < end && !strchr(",}] \n\r\t", *at))
		at++;
	return at;
}

/* Without the quotes or brackets around it. */
static struct span inner(struct span value)
{
	if (value.len >= 2 && strchr("\"[", value.at[0]))
		return (struct span){ value.at + 1, value.len - 2 };
	return value;
}

static void note(struct prompt *prompt, struct span key, struct span value)
{
	if (span_is(key, "messages") || span_is(key, "prompt") || span_is(key, "input")) {
		if (!prompt->text.at)
			prompt->text = inner(value);
	} else if (span_is(key, "model")) {
		prompt->model = inner(value);
	} else if (span_is(key, "stream")) {
		prompt->stream = span_is(value, "true");
	} else if (span_is(key, "stream_options")) {
		const char *usage = memmem(value.at, value.len, "\"include_usage\"", 15);

		prompt->include_usage =
		        usage && memmem(usage, (size_t)(value.at + value.len - usage), "true", 4);
	} else if (span_is(key, "max_tokens") || span_is(key, "max_completion_tokens")) {
		prompt->max_tokens = span_number(value);
	} else if (span_is(key, "min_tokens")) {
		prompt->min_tokens = span_number(value);
	}
}

/* From a key's quote to behind its value; NULL when it is neither. */
static const char *reads_member(struct prompt *prompt, const char *at, const char *end)
{
	const char *key_end = past_string(at, end);
	const char *colon = key_end ? past_blanks(key_end, end) : end;
	const char *value;
	const char *value_end;

	if (colon == end || *colon != ':')
		return NULL;
	value = past_blanks(colon + 1, end);
	value_end = past_value(value, end);
	if (!value_end || value_end == value)
		return NULL;
	note(prompt, (struct span){ at + 1, (size_t)(key_end - at - 2) },
	     (struct span){ value, (size_t)(value_end - value) });
	return value_end;
}

bool prompt_read(struct span body, struct prompt *ret_prompt)
{
	struct prompt prompt = { .max_tokens = -1, .min_tokens = -1 };
	const char *end = body.at + body.len;
	const char *at = past_blanks(body.at, end);

	if (at == end || *at++ != '{')
		return false;
	for (at = past_blanks(at, end); at < end && *at == '"'; at = past_blanks(at + 1, end)) {
		at = reads_member(&prompt, at, end);
		if (!at)
			return false;
		at = past_blanks(at, end);
		if (at == end || *at != ',')
			break;
	}
	if (at == end || *at != '}')
		return false;
	*ret_prompt = prompt;
	return true;
}

uint32_t prompt_tokens(struct span text)
{
	return text.len < TOKEN_BYTES ? 1 : (uint32_t)(text.len / TOKEN_BYTES);
}

uint32_t prompt_blocks(struct span text, uint32_t block_tokens, uint64_t *ret_blocks)
{
	size_t size = (size_t)block_tokens * TOKEN_BYTES;
	uint32_t count = (uint32_t)(text.len / size);
	uint64_t hash = 0;

	for (uint32_t i = 0; i < count; i++)
		ret_blocks[i] = hash = XXH64(text.at + i * size, size, hash);
	return count;
}
