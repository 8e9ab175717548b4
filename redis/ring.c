/* ring.c - records one behind the other in a block of memory.
 *
 * A record never wraps: where it does not fit before the end, the rest of the block is
 * passed over, marked by a length of 0 (or by being too short for a length). */
#include "redis/ring.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"

enum { ALIGN = 8 };

struct head {
	uint32_t size; /* of the record with its head, a multiple of ALIGN; 0: go on at the start */
	uint32_t unused;
};

struct ring {
	uint32_t bytes;
	uint32_t behind, count; /* records: done with, and waiting */
	/* Bytes since the start: the oldest record, the first that waits, behind the last; and
	 * behind the last that was ever done with. */
	uint64_t oldest, first, newest, arrived;
	uint64_t dropped;
	_Alignas(ALIGN) char at[];
};

struct ring *ring_new(uint32_t bytes)
{
	struct ring *ring;

	BUG_ON(bytes < 256 || bytes > 1u << 30 || (bytes & (bytes - 1)) != 0);
	ring = calloc(1, sizeof(*ring) + bytes);
	if (ring)
		ring->bytes = bytes;
	return ring;
}

void ring_free(struct ring *ring)
{
	free(ring);
}

static uint32_t offset_of(const struct ring *ring, uint64_t position)
{
	return (uint32_t)(position & (ring->bytes - 1));
}

static struct head head_at(const struct ring *ring, uint64_t position)
{
	struct head head;

	memcpy(&head, ring->at + offset_of(ring, position), sizeof(head));
	return head;
}

/* Where the record begins that stands at a position, or behind the end of the block. */
static uint64_t begin_at(const struct ring *ring, uint64_t position)
{
	if (position < ring->newest && head_at(ring, position).size == 0)
		position += ring->bytes - offset_of(ring, position);
	return position;
}

/* Behind the record at a position; the end of all where there is none. */
static uint64_t behind(const struct ring *ring, uint64_t position)
{
	uint64_t begin = begin_at(ring, position);

	return begin < ring->newest ? begin + head_at(ring, begin).size : ring->newest;
}

static void drop(struct ring *ring)
{
	bool waits = ring->oldest == ring->first;

	ring->oldest = behind(ring, ring->oldest);
	if (!waits) {
		ring->behind--;
		return;
	}
	ring->first = ring->oldest;
	ring->count--;
	ring->dropped += ring->oldest > ring->arrived;
}

void *ring_push(struct ring *ring, uint32_t size)
{
	struct head head = { (uint32_t)((size + sizeof(head) + ALIGN - 1) / ALIGN * ALIGN), 0 };
	const struct head end = { 0, 0 };
	uint32_t left = ring->bytes - offset_of(ring, ring->newest);
	uint32_t needed = head.size <= left ? head.size : left + head.size;
	char *at;

	if (size > ring->bytes / 4) {
		ring->dropped++;
		return NULL;
	}
	while (ring->newest + needed - ring->oldest > ring->bytes)
		drop(ring);
	if (needed > head.size) {
		memcpy(ring->at + offset_of(ring, ring->newest), &end, sizeof(end));
		ring->newest += left;
	}
	at = ring->at + offset_of(ring, ring->newest);
	memcpy(at, &head, sizeof(head));
	ring->newest += head.size;
	ring->count++;
	return at + sizeof(head);
}

const void *ring_at(const struct ring *ring, uint64_t position, uint64_t *ret_next)
{
	position = begin_at(ring, position > ring->first ? position : ring->first);
	if (position >= ring->newest)
		return NULL;
	*ret_next = position + head_at(ring, position).size;
	return ring->at + offset_of(ring, position) + sizeof(struct head);
}

void ring_done(struct ring *ring, uint64_t position)
{
	while (ring->first < position && ring->count > 0) {
		ring->first = behind(ring, ring->first);
		ring->count--;
		ring->behind++;
	}
	if (ring->first > ring->arrived)
		ring->arrived = ring->first;
}

void ring_again(struct ring *ring)
{
	ring->count += ring->behind;
	ring->behind = 0;
	ring->first = ring->oldest;
}

uint64_t ring_arrived(const struct ring *ring)
{
	return ring->arrived;
}

uint32_t ring_count(const struct ring *ring)
{
	return ring->count;
}

uint64_t ring_dropped(const struct ring *ring)
{
	return ring->dropped;
}
