/* store_clock.c - the difference of two clocks, halfway between question and answer. */
#include "redis/store_clock.h"

#include "redis/entry_id.h"

/* Later than that a 64-bit number of microseconds has no room for what is done with it. */
enum { YEARS_MAX = 10000 };
static const uint64_t seconds_max = (uint64_t)YEARS_MAX * 366 * 86400;

static bool read_number(const struct redis_reply *reply, uint64_t *ret_number)
{
	struct span text = redis_reply_text(reply);
	uint64_t number = 0;

	if (text.len == 0 || text.len > 12)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text.at[i] - '0');
	}
	*ret_number = number;
	return true;
}

bool store_clock_read(struct store_clock *clock, const struct redis_reply *reply, usec_t asked,
                      usec_t now)
{
	const struct redis_reply *parts[] = { redis_reply_at(reply, 0), redis_reply_at(reply, 1) };
	uint64_t seconds, microseconds;

	if (!parts[0] || !parts[1] || !read_number(parts[0], &seconds) ||
	    !read_number(parts[1], &microseconds) || seconds > seconds_max ||
	    microseconds >= 1000000)
		return false;
	clock->ahead =
	        (int64_t)(seconds * SECOND + microseconds) - (int64_t)(asked + (now - asked) / 2);
	clock->known = true;
	return true;
}

uint64_t store_clock_ms(const struct store_clock *clock, usec_t now)
{
	int64_t time = (int64_t)now + clock->ahead;

	return clock->known && time > 0 ? (uint64_t)time / MSEC : 0;
}

usec_t store_clock_age(const struct store_clock *clock, struct entry_id id, usec_t now)
{
	uint64_t ms = store_clock_ms(clock, now);

	return ms > id.ms ? (ms - id.ms) * MSEC : 0;
}
