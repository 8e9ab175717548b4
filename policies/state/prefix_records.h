/* prefix_records.h - the memory of the prefix index: records in buckets by their
 * block, and in a list by age for each holder. Only the files prefix_*.c look in here.
 *
 * Place 0 is nobody's, so that fresh zeroed memory is an empty index. */
#pragma once

#include "policies/state/prefix_index.h"

enum {
	RECORD_PROVISIONAL = 1,
	RECORD_HAS_CHILD = 2,
	RECORD_LINKED = 4, /* found by its bucket, alive or dead */
};

struct record {
	uint32_t low, high; /* of the block's chained hash */
	uint32_t next;      /* in the bucket */
	uint32_t newer;     /* in the holder's list */
	uint32_t older;     /* in the holder's list, or of the free */
	uint32_t stamp;     /* tick of the last confirmation, or of the insertion */
	uint16_t holder;
	uint8_t depth; /* block number */
	uint8_t state;
};
_Static_assert(sizeof(struct record) == 28, "28 bytes, with a bucket head 32");

struct holder {
	uint32_t newest, oldest;
	uint32_t born; /* records stamped before are dead, and free already */
	uint32_t count;
	uint64_t bytes;  /* of the prompts' blocks it holds */
	uint64_t budget; /* 0: the default */
};

struct prefix_index {
	struct prefix_limits limits;
	uint64_t default_budget;
	uint32_t ttl, provisional_ttl; /* ticks */
	struct ladder ladder;          /* of all records */
	bool started;
	usec_t base;     /* TICK_ZERO: when the first record came */
	uint32_t latest; /* tick of the newest stamp */
	uint32_t mask;   /* of heads */
	uint32_t *heads;
	struct record *records;
	uint32_t touched; /* records 1..touched were used at some time */
	uint32_t free;
	uint32_t in_use;
	struct holder *holders;
	uint32_t live_holders; /* that have a record */
	uint32_t largest;      /* holder of the most records, as of some steps ago */
	uint32_t largest_age;
	uint32_t *places; /* by holder: scratch of a match */
	struct prefix_counts counts;
};

/* 16 ms each, so that 32 bits last two years. They begin so late that what was confirmed before
 * the first record came, by others, has a tick, too. */
#define TICK_ZERO (1u << 23) /* 37 hours */
static inline uint32_t tick_of(const struct prefix_index *index, usec_t now)
{
	return TICK_ZERO + (now > index->base ? (uint32_t)((now - index->base) / (16 * MSEC)) : 0);
}

static inline bool is_block(const struct record *record, uint64_t chain)
{
	return record->low == (uint32_t)chain && record->high == (uint32_t)(chain >> 32);
}

/* Of a holder as it is now, not of one that was forgotten. */
static inline bool is_of_now(const struct prefix_index *index, const struct record *record)
{
	return record->stamp >= index->holders[record->holder].born;
}

static inline bool has_expired(const struct prefix_index *index, const struct record *record,
                               uint32_t tick)
{
	uint32_t ttl = record->state & RECORD_PROVISIONAL ? index->provisional_ttl : index->ttl;

	return tick > record->stamp && tick - record->stamp > ttl;
}

/* The bucket of a block; of its chained hash the lower half is enough. */
static inline uint32_t *head_of(const struct prefix_index *index, uint32_t low)
{
	return &index->heads[low & index->mask];
}

/* So that it comes from memory before it is needed. */
static inline void prefix_records_expect_bucket(const struct prefix_index *index, uint64_t chain)
{
	__builtin_prefetch(head_of(index, (uint32_t)chain));
}

/* The first of a bucket that was asked for some time ago. */
static inline void prefix_records_expect(const struct prefix_index *index, uint64_t chain)
{
	__builtin_prefetch(&index->records[*head_of(index, (uint32_t)chain)]);
}

/* The holder's record of this block, expired or not; 0 when there is none. */
static inline uint32_t prefix_records_find(const struct prefix_index *index, uint32_t holder,
                                           uint64_t chain)
{
	uint32_t place = *head_of(index, (uint32_t)chain);

	while (place != 0) {
		const struct record *record = &index->records[place];

		if (is_block(record, chain) && record->holder == holder && is_of_now(index, record))
			break;
		place = record->next;
	}
	return place;
}

/* prefix_index.c: the index is of this ladder now. */
void prefix_index_use(struct prefix_index *index, const struct ladder *ladder);
/* prefix_index.c: the tick of now. */
uint32_t prefix_index_begin(struct prefix_index *index, uint32_t holder, usec_t now);
/* prefix_index.c: all of the chain is the holder's; now: tick of now, tick: when it was so. */
void prefix_index_hold(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                       uint32_t blocks, bool confirmed, uint32_t tick);

/* A new record at the head of the holder's list; what must go for it goes. state: of the bits
 * above, but that it is linked. */
void prefix_records_insert(struct prefix_index *index, uint32_t holder, uint64_t chain,
                           uint32_t depth, uint8_t state, uint32_t tick);
/* To the head of its holder's list. */
void prefix_records_touch(struct prefix_index *index, uint32_t place);
/* Who pays when the table is full: this holder, or the one with the most. */
uint32_t prefix_records_payer(struct prefix_index *index, uint32_t holder);
void prefix_records_remove(struct prefix_index *index, uint32_t place);
/* A few of the holder's oldest, if they have expired. */
void prefix_records_expire(struct prefix_index *index, uint32_t holder, uint32_t tick);
