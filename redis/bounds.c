/* bounds.c - walks msgpack's headers without keeping anything.
 *
 * No recursion: `open` counts the values still owed at each depth. An array's elements
 * are promised all at once, so that what is owed to all depths together never exceeds
 * the bytes left. Formats are of the msgpack specification; ext and timestamps are none
 * of ours and refused. */
#include "redis/bounds.h"

#include <stdint.h>

enum { DEPTH_MAX = 8 };

struct walk {
	const unsigned char *at, *end;
	size_t owed; /* values promised and not yet seen, over all depths */
	size_t open[DEPTH_MAX + 1];
	unsigned depth, most;
};

static size_t left(const struct walk *walk)
{
	return (size_t)(walk->end - walk->at);
}

/* A big-endian number of so many bytes. */
static bool take_number(struct walk *walk, unsigned bytes, size_t *ret_number)
{
	size_t number = 0;

	if (left(walk) < bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		number = number << 8 | *walk->at++;
	*ret_number = number;
	return true;
}

static bool skip(struct walk *walk, size_t bytes)
{
	if (left(walk) < bytes)
		return false;
	walk->at += bytes;
	return true;
}

static bool skip_counted(struct walk *walk, unsigned length_bytes)
{
	size_t bytes;

	return take_number(walk, length_bytes, &bytes) && skip(walk, bytes);
}

static bool begin(struct walk *walk, size_t values)
{
	if (values == 0)
		return true;
	if (walk->depth == walk->most || walk->owed + values > left(walk))
		return false;
	walk->owed += values;
	walk->open[walk->depth++] = values;
	return true;
}

static bool begin_counted(struct walk *walk, unsigned length_bytes, size_t each)
{
	size_t count;

	return take_number(walk, length_bytes, &count) && begin(walk, count * each);
}

/* The rest of a value whose first byte is this one, 0xc0..0xdf. */
static bool take_long(struct walk *walk, unsigned char first)
{
	switch (first) {
	case 0xc0: /* nil, false, true */
	case 0xc2:
	case 0xc3:
		return true;
	case 0xc4: /* bin 8, 16, 32 */
	case 0xc5:
	case 0xc6:
		return skip_counted(walk, 1u << (first - 0xc4));
	case 0xca: /* float 32, 64 */
	case 0xcb:
		return skip(walk, 4u << (first - 0xca));
	case 0xcc: /* uint 8..64 */
	case 0xcd:
	case 0xce:
	case 0xcf:
		return skip(walk, 1u << (first - 0xcc));
	case 0xd0: /* int 8..64 */
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return skip(walk, 1u << (first - 0xd0));
	case 0xd9: /* str 8, 16, 32 */
	case 0xda:
	case 0xdb:
		return skip_counted(walk, 1u << (first - 0xd9));
	case 0xdc: /* array 16, 32 */
	case 0xdd:
		return begin_counted(walk, 2u << (first - 0xdc), 1);
	case 0xde: /* map 16, 32 */
	case 0xdf:
		return begin_counted(walk, 2u << (first - 0xde), 2);
	default:
		return false;
	}
}

static bool take(struct walk *walk)
{
	unsigned char first = *walk->at++;

	if (first <= 0x7f || first >= 0xe0) /* small integers */
		return true;
	if (first <= 0x8f)
		return begin(walk, (size_t)(first & 0x0f) * 2);
	if (first <= 0x9f)
		return begin(walk, first & 0x0f);
	if (first <= 0xbf)
		return skip(walk, first & 0x1f);
	return take_long(walk, first);
}

/* A value is over: so are those that it was the last of. */
static void close_all(struct walk *walk)
{
	while (walk->depth > 0 && walk->open[walk->depth - 1] == 0)
		walk->depth--;
}

bool bounds_hold(const void *bytes, size_t size, unsigned depth)
{
	struct walk walk = { .at = bytes,
		             .end = (const unsigned char *)bytes + size,
		             .owed = 1,
		             .open = { 1 },
		             .depth = 1,
		             .most = depth < DEPTH_MAX ? depth : DEPTH_MAX };

	while (walk.depth > 0 && walk.at < walk.end) {
		walk.open[walk.depth - 1]--;
		walk.owed--;
		if (!take(&walk))
			return false;
		close_all(&walk);
	}
	return walk.depth == 0 && walk.at == walk.end;
}
