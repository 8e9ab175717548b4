/* prefix_records.c - one array, taken at start; records move between lists.
 *
 * A forgotten holder's list becomes free in one step. Its records stay in their
 * buckets until they are used again: they are older than their holder's birth,
 * so nobody takes them for alive. */
#include "policies/state/prefix_records.h"

#include "policies/core/bug.h"

enum {
	LARGEST_EVERY = 64, /* how often the largest holder is looked for */
	EXPIRE_AT_ONCE = 4,
};

static void unlink_from_bucket(struct prefix_index *index, uint32_t place)
{
	uint32_t *link = head_of(index, index->records[place].low);

	while (*link != place)
		link = &index->records[*link].next;
	*link = index->records[place].next;
}

static void unlink_from_list(struct prefix_index *index, uint32_t place)
{
	const struct record *record = &index->records[place];
	struct holder *holder = &index->holders[record->holder];

	if (record->newer != 0)
		index->records[record->newer].older = record->older;
	else
		holder->newest = record->older;
	if (record->older != 0)
		index->records[record->older].newer = record->newer;
	else
		holder->oldest = record->newer;
}

static void push_newest(struct prefix_index *index, uint32_t place)
{
	struct record *record = &index->records[place];
	struct holder *holder = &index->holders[record->holder];

	record->newer = 0;
	record->older = holder->newest;
	if (holder->newest != 0)
		index->records[holder->newest].newer = place;
	else
		holder->oldest = place;
	holder->newest = place;
}

void prefix_records_touch(struct prefix_index *index, uint32_t place)
{
	if (index->records[place].newer == 0)
		return;
	unlink_from_list(index, place);
	push_newest(index, place);
}

void prefix_records_remove(struct prefix_index *index, uint32_t place)
{
	struct record *record = &index->records[place];
	struct holder *holder = &index->holders[record->holder];

	unlink_from_bucket(index, place);
	unlink_from_list(index, place);
	BUG_ON(holder->count == 0);
	holder->count--;
	holder->bytes -= index->ladder.length[record->depth];
	index->live_holders -= holder->count == 0;
	index->in_use--;
	record->state = 0;
	record->older = index->free;
	index->free = place;
}

static void drop_oldest(struct prefix_index *index, uint32_t holder, uint32_t tick,
                        uint64_t *counter)
{
	uint32_t place = index->holders[holder].oldest;

	if (has_expired(index, &index->records[place], tick))
		counter = &index->counts.evicted_expired;
	(*counter)++;
	__builtin_prefetch(head_of(index, index->records[index->records[place].newer].low));
	prefix_records_remove(index, place);
}

void prefix_records_expire(struct prefix_index *index, uint32_t holder, uint32_t tick)
{
	const struct holder *of = &index->holders[holder];

	for (int i = 0; i < EXPIRE_AT_ONCE && of->oldest != 0; i++) {
		if (!has_expired(index, &index->records[of->oldest], tick))
			break;
		drop_oldest(index, holder, tick, &index->counts.evicted_expired);
	}
}

static uint32_t largest_holder(struct prefix_index *index)
{
	if (index->largest_age++ % LARGEST_EVERY != 0 && index->holders[index->largest].count > 0)
		return index->largest;
	for (uint32_t i = 0; i < index->limits.holders; i++)
		if (index->holders[i].count > index->holders[index->largest].count)
			index->largest = i;
	return index->largest;
}

/* The table is full. A holder with its fair share or more pays itself; one with
 * less, else a newcomer would never get beyond its first block, takes from the
 * largest. */
uint32_t prefix_records_payer(struct prefix_index *index, uint32_t holder)
{
	uint64_t held = index->holders[holder].count;

	if (held == 0 || held * index->live_holders < index->limits.records)
		return largest_holder(index);
	return holder;
}

static uint32_t take_place(struct prefix_index *index, uint32_t holder, uint32_t tick)
{
	uint32_t place;

	if (index->free == 0 && index->touched < index->limits.records)
		return ++index->touched;
	if (index->free == 0)
		drop_oldest(index, prefix_records_payer(index, holder), tick,
		            &index->counts.evicted_full);
	place = index->free;
	index->free = index->records[place].older;
	if (index->records[place].state & RECORD_LINKED)
		unlink_from_bucket(index, place);
	return place;
}

void prefix_records_insert(struct prefix_index *index, uint32_t holder, uint64_t chain,
                           uint32_t depth, uint8_t state, uint32_t tick)
{
	struct holder *of = &index->holders[holder];
	uint64_t budget = of->budget > 0 ? of->budget : index->default_budget;
	uint32_t place = take_place(index, holder, tick);
	uint32_t *head = head_of(index, (uint32_t)chain);

	index->records[place] = (struct record){ .low = (uint32_t)chain,
		                                 .high = (uint32_t)(chain >> 32),
		                                 .next = *head,
		                                 .stamp = tick,
		                                 .holder = (uint16_t)holder,
		                                 .depth = (uint8_t)depth,
		                                 .state = RECORD_LINKED | state };
	*head = place;
	push_newest(index, place);
	index->live_holders += of->count == 0;
	of->count++;
	of->bytes += index->ladder.length[depth];
	index->in_use++;
	while (of->bytes > budget && of->oldest != place)
		drop_oldest(index, holder, tick, &index->counts.evicted_budget);
}
