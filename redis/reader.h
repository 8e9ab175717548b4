/* reader.h - bytes from a store in, whole replies out; the only way they come in.
 *
 * Memory is bounded whatever comes: a reply and its texts are laid into one block of
 * reply_max bytes, and what waits to be whole is never more than that and a read. */
#pragma once

#include "redis/reply.h"

struct redis_reader;

enum redis_reading {
	REDIS_READ_REPLY,
	REDIS_READ_MORE,    /* not whole yet */
	REDIS_READ_BROKEN,  /* no RESP2 */
	REDIS_READ_TOO_BIG, /* larger than reply_max, or says that it will be */
	REDIS_READ_MEMORY,
};

enum { REDIS_DEPTH_MAX = 7 /* arrays in arrays */ };

/* NULL: out of memory. */
struct redis_reader *redis_reader_new(size_t reply_max);
void redis_reader_free(struct redis_reader *reader);

/* For a new connection: forgets what is unread. False: out of memory. */
MUST_CHECK bool redis_reader_clear(struct redis_reader *reader);

/* At most some 16 KiB at once, and then redis_reader_next() until it wants more. False:
 * out of memory. */
MUST_CHECK bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len);
/* A reply is good until the next call. After a failure only clear and free are left. */
enum redis_reading redis_reader_next(struct redis_reader *reader,
                                     const struct redis_reply **ret_reply);
/* What was wrong with a broken one, in words. */
const char *redis_reader_problem(const struct redis_reader *reader);
