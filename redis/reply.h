/* reply.h - what the store said, as a tree that can only be read, in bounded memory.
 *
 * hiredis' reader splits the bytes; what it finds is laid into one block of memory
 * that is as large as a reply may be, and used anew for the next reply. So a reply
 * costs no allocation, and a header that promises a gigabyte is refused before a
 * byte of it is asked for. */
#pragma once

#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"

enum redis_reply_kind {
	REDIS_NIL, /* also the null array: XREAD that waited in vain */
	REDIS_STATUS,
	REDIS_ERROR,
	REDIS_INTEGER,
	REDIS_STRING,
	REDIS_ARRAY,
};

struct redis_reply {
	enum redis_reply_kind kind;
	uint32_t count;   /* of an array */
	int64_t integer;  /* of an integer */
	struct span text; /* of a status, an error, a string; any bytes */
	const struct redis_reply *elements;
};

/* The text of a string or status; an empty span for everything else. */
struct span redis_reply_text(const struct redis_reply *reply);
/* Element i of an array, or NULL: it is none, or shorter. */
const struct redis_reply *redis_reply_at(const struct redis_reply *reply, size_t i);
