/* prefix_index.c - finding, binding and unbinding chains of blocks.
 *
 * A chain is always touched from its deepest block to its root: an ancestor is
 * more recent than its descendants, so what is evicted is a tail and what is
 * left matches from the root. */
#include "policies/state/prefix_index.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/state/prefix_records.h"

struct prefix_index *prefix_index_new(const struct prefix_limits *limits)
{
	struct prefix_index *index;
	uint32_t buckets = 1;

	BUG_ON(limits->records == 0 || limits->records > 1u << 24);
	BUG_ON(limits->holders == 0 || limits->holders > UINT16_MAX);
	/* Rounded down: a bucket head for each record at most, whatever the number. */
	while (buckets <= limits->records / 2)
		buckets *= 2;
	index = calloc(1, sizeof(*index));
	if (!index)
		return NULL;
	index->mask = buckets - 1;
	index->heads = calloc(buckets, sizeof(*index->heads));
	index->records = calloc((size_t)limits->records + 1, sizeof(*index->records));
	index->holders = calloc(limits->holders, sizeof(*index->holders));
	index->places = calloc(limits->holders, sizeof(*index->places));
	if (!index->heads || !index->records || !index->holders || !index->places) {
		prefix_index_free(index);
		return NULL;
	}
	index->limits.records = limits->records;
	index->limits.holders = limits->holders;
	prefix_index_tune(index, limits);
	return index;
}

void prefix_index_free(struct prefix_index *index)
{
	if (!index)
		return;
	free(index->places);
	free(index->holders);
	free(index->records);
	free(index->heads);
	free(index);
}

void prefix_index_tune(struct prefix_index *index, const struct prefix_limits *limits)
{
	index->default_budget = (uint64_t)limits->holder_bytes;
	index->ttl = (uint32_t)(limits->ttl / (16 * MSEC));
	index->provisional_ttl = (uint32_t)(limits->provisional_ttl / (16 * MSEC));
}

/* One after the other, each would be waited for. */
static void expect(const struct prefix_index *index, const uint64_t *chain, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++)
		prefix_records_expect_bucket(index, chain[i]);
	for (uint32_t i = 0; i < blocks; i++)
		prefix_records_expect(index, chain[i]);
}

/* Where in the matches the holder is; count when it is not. What is left in
 * places from an earlier match is told by the match itself. */
static size_t place_in(const struct prefix_index *index, const struct prefix_match *matches,
                       size_t count, uint32_t holder)
{
	size_t place = index->places[holder];

	return place < count && matches[place].holder == holder ? place : count;
}

/* The live record's holder holds block i; it counts if it held all before. */
static size_t note_match(const struct prefix_index *index, const struct record *record, uint32_t i,
                         struct prefix_match *matches, size_t count, size_t room)
{
	size_t place = place_in(index, matches, count, record->holder);

	if (place == count) {
		if (i > 0 || count == room)
			return count;
		index->places[record->holder] = (uint32_t)count;
		matches[count++] = (struct prefix_match){ .holder = record->holder };
	}
	if (matches[place].blocks != i)
		return count;
	matches[place].blocks = i + 1;
	matches[place].continued = record->state & RECORD_HAS_CHILD;
	return count;
}

size_t prefix_index_match(const struct prefix_index *index, const uint64_t *chain, uint32_t blocks,
                          usec_t now, struct prefix_match *ret_matches, size_t room)
{
	uint32_t tick = tick_of(index, now);
	size_t count = 0;

	for (uint32_t i = 0; i < blocks; i++) {
		bool any = false;

		for (uint32_t place = *head_of(index, (uint32_t)chain[i]); place != 0;
		     place = index->records[place].next) {
			const struct record *record = &index->records[place];

			if (!is_block(record, chain[i]) || !is_of_now(index, record) ||
			    has_expired(index, record, tick))
				continue;
			any = true;
			count = note_match(index, record, i, ret_matches, count, room);
		}
		if (!any)
			break;
	}
	return count;
}

/* The lengths of blocks belong to the ladder, and so do all hashes. */
void prefix_index_use(struct prefix_index *index, const struct ladder *ladder)
{
	if (strcmp(index->ladder.id, ladder->id) == 0)
		return;
	for (uint32_t i = 0; i < index->limits.holders; i++)
		prefix_index_forget(index, i);
	index->ladder = *ladder;
}

uint32_t prefix_index_begin(struct prefix_index *index, uint32_t holder, usec_t now)
{
	uint32_t tick;

	BUG_ON(holder >= index->limits.holders);
	if (!index->started)
		index->base = now;
	index->started = true;
	tick = tick_of(index, now);
	if (tick < index->holders[holder].born)
		tick = index->holders[holder].born; /* forgotten within this tick */
	if (tick > index->latest)
		index->latest = tick;
	return tick;
}

/* Those that are there, and to the head of the list with them: what is inserted
 * next must not push out a part of the same chain. How many are missing. */
static uint32_t find_all(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                         uint32_t blocks, uint32_t *ret_found)
{
	uint32_t missing = 0;

	for (uint32_t i = blocks; i-- > 0;) {
		ret_found[i] = prefix_records_find(index, holder, chain[i]);
		if (ret_found[i] != 0)
			prefix_records_touch(index, ret_found[i]);
		else
			missing++;
	}
	return missing;
}

static bool is_still(const struct prefix_index *index, uint32_t place, uint32_t holder,
                     uint64_t chain)
{
	const struct record *record = &index->records[place];

	return place != 0 && (record->state & RECORD_LINKED) && is_block(record, chain) &&
	       record->holder == holder && is_of_now(index, record);
}

/* One that is there: state, as a new one would have it. */
static void renew(const struct prefix_index *index, struct record *record, uint8_t state,
                  uint32_t tick)
{
	bool confirmed = !(state & RECORD_PROVISIONAL);

	if (has_expired(index, record, tick))
		record->state = RECORD_LINKED | RECORD_PROVISIONAL;
	if (confirmed)
		record->state &= (uint8_t)~RECORD_PROVISIONAL;
	record->state |= state & RECORD_HAS_CHILD;
	if ((record->state & RECORD_PROVISIONAL || confirmed) && tick > record->stamp)
		record->stamp = tick;
}

/* Where some are missing all come into the order of age once more. Where the budget is less than
 * the chain, its tail goes again for its head. */
void prefix_index_hold(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                       uint32_t blocks, bool confirmed, uint32_t tick)
{
	uint8_t state = confirmed ? 0 : RECORD_PROVISIONAL;
	uint32_t found[LADDER_BLOCKS_MAX];
	uint32_t missing;

	BUG_ON(blocks > index->ladder.count);
	missing = find_all(index, holder, chain, blocks, found);
	if (missing > 0)
		prefix_records_expire(index, holder, tick);
	for (uint32_t i = blocks; i-- > 0; state |= RECORD_HAS_CHILD) {
		if (missing > 0 && !is_still(index, found[i], holder, chain[i])) {
			prefix_records_insert(index, holder, chain[i], i, state, tick);
			continue;
		}
		if (missing > 0)
			prefix_records_touch(index, found[i]);
		renew(index, &index->records[found[i]], state, tick);
	}
}

void prefix_index_bind(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                       uint32_t blocks, const struct ladder *ladder, usec_t now)
{
	prefix_index_use(index, ladder);
	prefix_index_hold(index, holder, chain, blocks, false,
	                  prefix_index_begin(index, holder, now));
}

void prefix_index_confirm(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                          uint32_t blocks, const struct ladder *ladder, usec_t now)
{
	prefix_index_use(index, ladder);
	expect(index, chain, blocks);
	prefix_index_hold(index, holder, chain, blocks, true,
	                  prefix_index_begin(index, holder, now));
}

/* Tails first: never a block without its parent on the way. */
static uint32_t release(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                        uint32_t blocks, uint8_t state)
{
	uint32_t gone = 0;

	BUG_ON(holder >= index->limits.holders);
	for (uint32_t i = blocks; i-- > 0;) {
		uint32_t place = prefix_records_find(index, holder, chain[i]);

		if (place == 0 || (index->records[place].state & state) != state)
			continue;
		prefix_records_remove(index, place);
		gone++;
	}
	return gone;
}

void prefix_index_withdraw(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                           uint32_t blocks)
{
	(void)release(index, holder, chain, blocks, RECORD_PROVISIONAL);
}

uint32_t prefix_index_evict(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                            uint32_t blocks)
{
	uint32_t gone = release(index, holder, chain, blocks, 0);

	index->counts.evicted_failed += gone;
	return gone;
}

void prefix_index_forget(struct prefix_index *index, uint32_t holder)
{
	struct holder *of;

	BUG_ON(holder >= index->limits.holders);
	of = &index->holders[holder];
	if (of->count > 0) {
		index->records[of->oldest].older = index->free;
		index->free = of->newest;
		index->in_use -= of->count;
		index->live_holders--;
		index->counts.evicted_holder += of->count;
	}
	*of = (struct holder){ .born = index->latest + 1, .budget = of->budget };
}

void prefix_index_budget(struct prefix_index *index, uint32_t holder, double bytes)
{
	BUG_ON(holder >= index->limits.holders);
	index->holders[holder].budget = bytes > 0 ? (uint64_t)bytes : 0;
}

uint32_t prefix_index_capacity(const struct prefix_index *index)
{
	return index->limits.records;
}

struct prefix_counts prefix_index_counts(const struct prefix_index *index)
{
	struct prefix_counts counts = index->counts;

	counts.records = index->in_use;
	return counts;
}

uint32_t prefix_index_held(const struct prefix_index *index, uint32_t holder)
{
	BUG_ON(holder >= index->limits.holders);
	return index->holders[holder].count;
}
