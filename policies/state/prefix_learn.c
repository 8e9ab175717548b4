/* prefix_learn.c - what others found out about a holder, some time ago.
 *
 * Records of a chain are as old as the youngest of those below them at most, so what is
 * confirmed later than an eviction is a head of the chain, and stays whole. */
#include "policies/state/prefix_records.h"

#include "policies/core/bug.h"

/* Ticks. */
enum {
	KNOWN_ABOUT = 10 * 1000 / 16, /* who look at the same engine see it in that time */
	AS_FRESH = 1000 / 16,         /* what is heard twice differs in age by less */
};

/* False when it is before all that can be kept. */
static bool tick_at(struct prefix_index *index, uint32_t holder, usec_t at, usec_t now,
                    uint32_t *ret_tick)
{
	usec_t age = (now - at) / (16 * MSEC);
	uint32_t tick = prefix_index_begin(index, holder, now);

	if (age >= tick)
		return false;
	*ret_tick = tick - (uint32_t)age;
	return true;
}

/* Of the blocks that the holder lacks. */
static uint64_t bytes_missing(const struct prefix_index *index, uint32_t holder,
                              const uint64_t *chain, uint32_t blocks, uint32_t *ret_missing)
{
	uint64_t bytes = 0;

	*ret_missing = 0;
	for (uint32_t i = 0; i < blocks; i++) {
		if (prefix_records_find(index, holder, chain[i]) != 0)
			continue;
		bytes += index->ladder.length[i];
		++*ret_missing;
	}
	return bytes;
}

static bool is_fresher(const struct prefix_index *index, uint32_t holder, uint32_t tick)
{
	uint32_t oldest = index->holders[holder].oldest;

	return oldest != 0 && index->records[oldest].stamp > tick;
}

/* What would have to go for it was confirmed later. */
static bool costs_fresher(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                          uint32_t blocks, uint32_t tick)
{
	const struct holder *of = &index->holders[holder];
	uint64_t budget = of->budget > 0 ? of->budget : index->default_budget;
	uint32_t missing;
	uint64_t bytes = bytes_missing(index, holder, chain, blocks, &missing);

	if (missing == 0)
		return false;
	if (of->bytes + bytes > budget && is_fresher(index, holder, tick))
		return true;
	return index->in_use + missing > index->limits.records &&
	       is_fresher(index, prefix_records_payer(index, holder), tick);
}

/* NULL: the holder is not known to have it, or not by a good answer. */
static const struct record *confirmed(const struct prefix_index *index, uint32_t holder,
                                      uint64_t chain)
{
	uint32_t place = prefix_records_find(index, holder, chain);
	const struct record *record = &index->records[place];

	return place == 0 || record->state & RECORD_PROVISIONAL ? NULL : record;
}

/* All of it is known, and as fresh: that it was told again makes nothing newer than it is. */
static bool is_known(const struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                     uint32_t blocks, uint32_t tick)
{
	for (uint32_t i = 0; i < blocks; i++) {
		const struct record *record = confirmed(index, holder, chain[i]);

		if (!record || record->stamp + AS_FRESH < tick)
			return false;
	}
	return true;
}

bool prefix_index_learn(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                        uint32_t blocks, const struct ladder *ladder, usec_t at, usec_t now)
{
	uint32_t tick;

	prefix_index_use(index, ladder);
	BUG_ON(blocks > index->ladder.count);
	if (!tick_at(index, holder, at, now, &tick) || tick < index->holders[holder].born ||
	    tick_of(index, now) - tick > index->ttl ||
	    is_known(index, holder, chain, blocks, tick) ||
	    costs_fresher(index, holder, chain, blocks, tick))
		return false;
	prefix_index_hold(index, holder, chain, blocks, true, tick);
	return true;
}

uint32_t prefix_index_unlearn(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                              uint32_t blocks, usec_t at, usec_t now)
{
	uint32_t gone = 0, tick;

	if (!tick_at(index, holder, at, now, &tick))
		return 0;
	for (uint32_t i = blocks; i-- > 0;) {
		uint32_t place = prefix_records_find(index, holder, chain[i]);

		if (place == 0 || index->records[place].stamp > tick)
			continue;
		prefix_records_remove(index, place);
		gone++;
	}
	index->counts.evicted_failed += gone;
	return gone;
}

uint32_t prefix_index_confirmed(const struct prefix_index *index, uint32_t holder,
                                const uint64_t *chain, uint32_t blocks, usec_t now)
{
	uint32_t tick = tick_of(index, now);

	BUG_ON(holder >= index->limits.holders);
	for (uint32_t i = 0; i < blocks; i++) {
		const struct record *record = confirmed(index, holder, chain[i]);

		if (!record || has_expired(index, record, tick))
			return i;
	}
	return blocks;
}

bool prefix_index_forget_told(struct prefix_index *index, uint32_t holder, usec_t at, usec_t now)
{
	uint32_t tick;

	if (!tick_at(index, holder, at, now, &tick) ||
	    index->holders[holder].born + KNOWN_ABOUT > tick)
		return false;
	prefix_index_forget(index, holder);
	return true;
}
