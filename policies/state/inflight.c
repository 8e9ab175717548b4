/* inflight.c - two tables of fixed size: who is open, and who ended lately.
 *
 * Both are chained by the id's hash. Open records also lie in a list by age, so
 * that expiry looks at the oldest only; free ones in a stack, so that a quiet
 * agent touches the same few pages of a large table again and again. Tombstones
 * are a ring: the newest takes the place of the oldest. */
#include "policies/state/inflight.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/state/lookup.h"

#define NOBODY UINT32_MAX /* beyond what an enum may hold */

struct record {
	uint32_t next; /* in the chain, or of the free */
	uint32_t older, newer;
	usec_t opened_at;
	struct flight flight;
};

struct tombstone {
	struct flight_id id;
	usec_t ended_at;
	uint32_t next;
	bool used;
};

struct inflight {
	uint32_t capacity, count;
	uint32_t free, oldest, newest;
	uint32_t mask; /* of heads */
	uint32_t *heads;
	struct record *records;
	uint32_t graves, next_grave;
	uint32_t grave_mask;
	uint32_t *grave_heads;
	struct tombstone *tombstones;
	usec_t tombstone_ttl;
};

/* Two hashes of different seeds. Ids are HAProxy's own: nobody tries to make
 * them collide. */
struct flight_id flight_id_of(struct span unique_id)
{
	return (struct flight_id){ .high = lookup_hash(unique_id, 0),
		                   .low = lookup_hash(unique_id, 1) };
}

static bool same(struct flight_id a, struct flight_id b)
{
	return a.high == b.high && a.low == b.low;
}

static uint32_t power_of_two(uint32_t least)
{
	uint32_t size = 1;

	while (size < least)
		size *= 2;
	return size;
}

struct inflight *inflight_new(uint32_t open, uint32_t tombstones, usec_t tombstone_ttl)
{
	struct inflight *inflight;

	BUG_ON(open == 0 || open > 1u << 30 || tombstones == 0 || tombstones > 1u << 30);
	inflight = calloc(1, sizeof(*inflight));
	if (!inflight)
		return NULL;
	inflight->capacity = open;
	inflight->graves = tombstones;
	inflight->tombstone_ttl = tombstone_ttl;
	inflight->mask = power_of_two(open) - 1;
	inflight->grave_mask = power_of_two(tombstones) - 1;
	inflight->heads = calloc(inflight->mask + 1, sizeof(*inflight->heads));
	inflight->records = calloc(open, sizeof(*inflight->records));
	inflight->grave_heads = calloc(inflight->grave_mask + 1, sizeof(*inflight->grave_heads));
	inflight->tombstones = calloc(tombstones, sizeof(*inflight->tombstones));
	if (!inflight->heads || !inflight->records || !inflight->grave_heads ||
	    !inflight->tombstones) {
		inflight_free(inflight);
		return NULL;
	}
	memset(inflight->heads, 0xff, (inflight->mask + 1) * sizeof(*inflight->heads));
	memset(inflight->grave_heads, 0xff,
	       (inflight->grave_mask + 1) * sizeof(*inflight->grave_heads));
	inflight->oldest = inflight->newest = NOBODY;
	inflight->free = NOBODY;
	return inflight;
}

void inflight_free(struct inflight *inflight)
{
	if (!inflight)
		return;
	free(inflight->tombstones);
	free(inflight->grave_heads);
	free(inflight->records);
	free(inflight->heads);
	free(inflight);
}

static uint32_t record_of(const struct inflight *inflight, struct flight_id id)
{
	uint32_t at = inflight->heads[id.low & inflight->mask];

	while (at != NOBODY && !same(inflight->records[at].flight.id, id))
		at = inflight->records[at].next;
	return at;
}

static bool ended_lately(const struct inflight *inflight, struct flight_id id, usec_t now)
{
	uint32_t at = inflight->grave_heads[id.low & inflight->grave_mask];

	while (at != NOBODY && !same(inflight->tombstones[at].id, id))
		at = inflight->tombstones[at].next;
	return at != NOBODY && now - inflight->tombstones[at].ended_at <= inflight->tombstone_ttl;
}

static void forget_tombstone(struct inflight *inflight, uint32_t grave)
{
	uint64_t chain = inflight->tombstones[grave].id.low & inflight->grave_mask;
	uint32_t *link = &inflight->grave_heads[chain];

	while (*link != grave)
		link = &inflight->tombstones[*link].next;
	*link = inflight->tombstones[grave].next;
}

/* A newer tombstone of the same id comes first in its chain, so it is found. */
static void bury(struct inflight *inflight, struct flight_id id, usec_t now)
{
	uint32_t grave = inflight->next_grave;
	struct tombstone *tombstone = &inflight->tombstones[grave];
	uint32_t *head;

	if (tombstone->used)
		forget_tombstone(inflight, grave);
	head = &inflight->grave_heads[id.low & inflight->grave_mask];
	*tombstone = (struct tombstone){ .id = id, .ended_at = now, .next = *head, .used = true };
	*head = grave;
	inflight->next_grave = (grave + 1) % inflight->graves;
}

/* From the stack of the free; the never used are those behind count when it is empty. */
static uint32_t take_free(struct inflight *inflight)
{
	uint32_t at = inflight->free;

	if (at == NOBODY)
		return inflight->count;
	inflight->free = inflight->records[at].next;
	return at;
}

enum inflight_status inflight_open(struct inflight *inflight, struct flight_id id, usec_t now,
                                   struct flight **ret_flight)
{
	uint32_t *head = &inflight->heads[id.low & inflight->mask];
	struct record *record;
	uint32_t at;

	if (record_of(inflight, id) != NOBODY)
		return INFLIGHT_OPEN;
	if (ended_lately(inflight, id, now))
		return INFLIGHT_ENDED;
	if (inflight->count == inflight->capacity)
		return INFLIGHT_FULL;
	at = take_free(inflight);
	inflight->count++;
	record = &inflight->records[at];
	memset(record, 0, sizeof(*record));
	record->opened_at = now;
	record->next = *head;
	*head = at;
	record->newer = NOBODY;
	record->older = inflight->newest;
	if (inflight->newest != NOBODY)
		inflight->records[inflight->newest].newer = at;
	else
		inflight->oldest = at;
	inflight->newest = at;
	record->flight.id = id;
	record->flight.decided_at = now;
	record->flight.instance = record->flight.chosen = record->flight.prefill = TARGET_NONE;
	record->flight.instance_slot.target = record->flight.replica_slot.target = TARGET_NONE;
	record->flight.prefill_slot.target = TARGET_NONE;
	*ret_flight = &record->flight;
	return INFLIGHT_OK;
}

struct flight *inflight_find(struct inflight *inflight, struct flight_id id)
{
	uint32_t at = record_of(inflight, id);

	return at == NOBODY ? NULL : &inflight->records[at].flight;
}

static void close_record(struct inflight *inflight, uint32_t at)
{
	struct record *record = &inflight->records[at];
	uint32_t *link = &inflight->heads[record->flight.id.low & inflight->mask];

	while (*link != at)
		link = &inflight->records[*link].next;
	*link = record->next;
	if (record->older != NOBODY)
		inflight->records[record->older].newer = record->newer;
	else
		inflight->oldest = record->newer;
	if (record->newer != NOBODY)
		inflight->records[record->newer].older = record->older;
	else
		inflight->newest = record->older;
	record->next = inflight->free;
	inflight->free = at;
	inflight->count--;
}

enum inflight_end inflight_end(struct inflight *inflight, struct flight_id id, usec_t now,
                               struct flight *ret_flight)
{
	uint32_t at = record_of(inflight, id);

	if (at == NOBODY) {
		if (ended_lately(inflight, id, now))
			return INFLIGHT_END_DUPLICATE;
		bury(inflight, id, now);
		return INFLIGHT_END_UNKNOWN;
	}
	*ret_flight = inflight->records[at].flight;
	close_record(inflight, at);
	bury(inflight, id, now);
	return INFLIGHT_END_OPEN;
}

bool inflight_ended(const struct inflight *inflight, struct flight_id id, usec_t now)
{
	return ended_lately(inflight, id, now);
}

uint32_t inflight_count(const struct inflight *inflight)
{
	return inflight->count;
}

uint32_t inflight_capacity(const struct inflight *inflight)
{
	return inflight->capacity;
}

void inflight_older(struct inflight *inflight, usec_t before, uint32_t most,
                    void (*visit)(void *data, const struct flight *flight), void *data)
{
	uint32_t at = inflight->oldest;

	while (at != NOBODY && most > 0 && inflight->records[at].opened_at < before) {
		uint32_t newer = inflight->records[at].newer;

		visit(data, &inflight->records[at].flight);
		at = newer;
		most--;
	}
}
