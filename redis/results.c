/* results.c - the words, and which error a reply is.
 *
 * An error's first word is its code; where a store has none of its own it says ERR.
 * Compared without case and as a whole word, so that "MOVEDX" is any error. */
#include "redis/results.h"

#include <string.h>
#include <strings.h>

static const char *const result_labels[] = {
#define X(name, label, meaning) [REDIS_RESULT_##name] = label,
	REDIS_RESULTS(X)
#undef X
};

static const char *const result_meanings[] = {
#define X(name, label, meaning) [REDIS_RESULT_##name] = meaning,
	REDIS_RESULTS(X)
#undef X
};

static const char *const fault_labels[] = {
#define X(name, label, meaning) [REDIS_FAULT_##name] = label,
	REDIS_FAULTS(X)
#undef X
};

static const char *const fault_meanings[] = {
#define X(name, label, meaning) [REDIS_FAULT_##name] = meaning,
	REDIS_FAULTS(X)
#undef X
};

const char *redis_result_label(enum redis_result result)
{
	return result_labels[result];
}

const char *redis_result_meaning(enum redis_result result)
{
	return result_meanings[result];
}

const char *redis_fault_label(enum redis_fault fault)
{
	return fault_labels[fault];
}

const char *redis_fault_meaning(enum redis_fault fault)
{
	return fault_meanings[fault];
}

enum redis_result redis_result_of_error(struct span text)
{
	const char *space = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
	size_t len = space ? (size_t)(space - text.at) : text.len;

	if (len == strlen("WRONGPASS") && strncasecmp(text.at, "WRONGPASS", len) == 0)
		return REDIS_RESULT_NOAUTH;
	for (int i = REDIS_RESULT_OK + 1; i < REDIS_RESULT_ERROR; i++) {
		if (strlen(result_labels[i]) == len &&
		    strncasecmp(text.at, result_labels[i], len) == 0)
			return (enum redis_result)i;
	}
	return REDIS_RESULT_ERROR;
}
