/* fuzz_redis_reply.c - any bytes are replies or are not, whole or in parts; what is given
 * out can be read to its last byte, and lies within the memory of one reply. */
#include <stdlib.h>

#include "redis/reader.h"
#include "redis/redirect.h"
#include "redis/results.h"
#include "tests/fuzz/fuzz.h"

enum { ROOM = 4096 };

/* Each byte is touched, so that a sanitizer sees what is not ours. */
static unsigned touch(struct span text)
{
	unsigned sum = 0;

	for (size_t i = 0; i < text.len; i++)
		sum += (unsigned char)text.at[i];
	return sum;
}

/* Arrays lie in arrays seven deep at most. */
static unsigned look(const struct redis_reply *reply, int depth)
{
	struct redis_host me = { "h", 1 }, host;
	unsigned sum = touch(redis_reply_text(reply));

	if (depth > REDIS_DEPTH_MAX || reply->count * sizeof(*reply) > ROOM ||
	    reply->text.len > ROOM)
		abort();
	if (reply->kind == REDIS_ERROR) {
		enum redis_result result = redis_result_of_error(reply->text);

		if (result == REDIS_RESULT_OK || result >= REDIS_RESULT_LATE)
			abort();
		if (redis_redirect_read(reply->text, &me, &host))
			sum += host.port;
	}
	for (size_t i = 0; i < reply->count; i++)
		sum += look(redis_reply_at(reply, i), depth + 1);
	return sum;
}

/* The first byte is how large the parts are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redis_reader *reader = redis_reader_new(ROOM);
	const struct redis_reply *reply = NULL;
	size_t part = size > 0 && data[0] > 0 ? data[0] : 16 * 1024;
	enum redis_reading reading = REDIS_READ_MORE;
	volatile unsigned sum = 0;

	if (!reader)
		return 0;
	for (size_t at = 1; at < size && reading == REDIS_READ_MORE; at += part) {
		size_t len = size - at < part ? size - at : part;

		if (!redis_reader_feed(reader, (const char *)data + at, len))
			break;
		do {
			reading = redis_reader_next(reader, &reply);
			if (reading == REDIS_READ_REPLY)
				sum += look(reply, 0);
		} while (reading == REDIS_READ_REPLY);
	}
	(void)sum;
	redis_reader_free(reader);
	return 0;
}
