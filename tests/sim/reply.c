/* reply.c - looks for a few keys; an answer of an engine has no strings that look like them. */
#include "tests/sim/reply.h"

#include <string.h>

static const char *find(const char *at, const char *end, const char *what)
{
	return at < end ? memmem(at, (size_t)(end - at), what, strlen(what)) : NULL;
}

/* The last one counts: usage comes at the end of a stream. */
static int64_t number_of(struct span body, const char *key)
{
	const char *end = body.at + body.len;
	const char *at = body.at;
	const char *found = NULL;
	int64_t number = 0;

	while ((at = find(at, end, key)) != NULL) {
		at += strlen(key);
		found = at;
	}
	if (!found || found == end || *found < '0' || *found > '9')
		return -1;
	for (; found < end && *found >= '0' && *found <= '9' && number < INT64_MAX / 20; found++)
		number = 10 * number + (*found - '0');
	return number;
}

void reply_read(struct span body, bool stream, struct reply *ret_reply, struct bytes *ret_text)
{
	static const char opening[] = "\"content\":\"";
	const char *end = body.at + body.len;
	const char *at = body.at;

	while ((at = find(at, end, opening)) != NULL) {
		const char *from = at + sizeof(opening) - 1;

		for (at = from; at < end && *at != '"'; at++)
			at += *at == '\\' && at + 1 < end;
		bytes_add(ret_text, from, (size_t)(at - from));
	}
	*ret_reply = (struct reply){
		.prompt_tokens = number_of(body, "\"prompt_tokens\":"),
		.cached_tokens = number_of(body, "\"cached_tokens\":"),
		.output_tokens = number_of(body, "\"completion_tokens\":"),
		.whole = stream ? find(body.at, end, "data: [DONE]") != NULL
		                : body.len > 1 && body.at[0] == '{' && end[-1] == '}',
	};
}
