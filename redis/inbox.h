/* inbox.h - what the store gave, copied, until it is applied.
 *
 * A reply is good for the length of its callback only, and applying it may take several turns
 * of the loop. The memory grows to the largest reply, which the link bounds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "redis/entry_id.h"
#include "redis/keys.h"
#include "redis/reply.h"

struct inbox_item {
	enum keys_stream stream;
	struct entry_id id;
	struct span batch; /* at NULL: an entry without one */
};

struct inbox {
	char *bytes;
	size_t size, room;
	struct inbox_place {
		enum keys_stream stream;
		struct entry_id id;
		size_t at, len;
		bool whole;
	} * places;
	uint32_t count, places_room, next;
};

void inbox_done(struct inbox *inbox);
/* The reply to XREAD of both streams: [[key, [[id, [field, value, ...]], ...]], ...]. What is
 * before is thrown away. False: it is none, or memory ran out; there is nothing in it then. */
MUST_CHECK bool inbox_take(struct inbox *inbox, const struct redis_reply *reply,
                           const struct keys *keys);
/* The next; false after the last. The span is good until the next inbox_take(). */
bool inbox_next(struct inbox *inbox, struct inbox_item *ret_item);
uint32_t inbox_left(const struct inbox *inbox);
