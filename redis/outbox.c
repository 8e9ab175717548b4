/* outbox.c - a ring for each stream, and a small table of what was told last.
 *
 * The table is direct-mapped: two chains that meet in one place are told more often than
 * needed, which does no harm. An eviction makes everything void that was told of its holder,
 * so that the next confirmation is told at once. */
#include "redis/outbox_parts.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE_BYTES = 65536 };

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t outbox_key(const struct outbox *outbox, uint32_t holder, const uint64_t *chain,
                    uint32_t blocks)
{
	return mixed(chain[blocks - 1] ^ mixed((uint64_t)outbox->epochs[holder] << 32 | holder));
}

/* Told just now; false: it was already, a short time ago. */
static bool is_due(struct outbox *outbox, uint64_t key)
{
	struct last_told *last = &outbox->last[key % LAST_TOLD];

	if (last->key == key && outbox->now - last->at < OUTBOX_REFRESH) {
		outbox->spared++;
		return false;
	}
	*last = (struct last_told){ key, outbox->now };
	return true;
}

static usec_t since_of(const struct outbox *outbox, uint32_t target)
{
	const struct target *known =
	        target == TARGET_NONE ? NULL : fleet_target(outbox->facts->fleet, target);

	return known ? known->since : 0;
}

static struct waiting *push(struct outbox *outbox, enum keys_stream stream,
                            const struct waiting *waiting, size_t more)
{
	struct waiting *record =
	        ring_push(outbox->rings[stream], (uint32_t)(sizeof(*waiting) + more));

	if (!record)
		return NULL;
	outbox->told++;
	*record = *waiting;
	record->at = outbox->now;
	record->since = since_of(outbox, waiting->target);
	record->from_since = since_of(outbox, waiting->from);
	return record;
}

static struct waiting waiting_of(enum wire_kind kind, uint32_t target)
{
	return (struct waiting){ .kind = kind, .target = target, .from = TARGET_NONE };
}

static void push_chain(struct outbox *outbox, struct waiting waiting, const uint64_t *chain,
                       uint32_t blocks, const struct ladder *ladder)
{
	size_t bytes = blocks * sizeof(*chain);
	struct waiting *record;

	waiting.blocks = blocks;
	waiting.ladder_len = (uint32_t)strlen(ladder->id);
	record = push(outbox, KEYS_KEPT, &waiting, bytes + waiting.ladder_len);
	if (!record)
		return;
	memcpy(record + 1, chain, bytes);
	memcpy((char *)(record + 1) + bytes, ladder->id, waiting.ladder_len);
}

static void tell_bound(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                       const struct ladder *ladder)
{
	struct outbox *outbox = data;

	if (is_due(outbox, outbox_key(outbox, holder, chain, blocks)))
		push_chain(outbox, waiting_of(WIRE_BOUND, holder), chain, blocks, ladder);
}

static void tell_evicted(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                         const struct ladder *ladder)
{
	struct outbox *outbox = data;

	outbox->epochs[holder]++;
	push_chain(outbox, waiting_of(WIRE_EVICTED, holder), chain, blocks, ladder);
}

static void tell_forgotten(void *data, uint32_t target)
{
	struct outbox *outbox = data;
	struct waiting waiting = waiting_of(WIRE_FORGOTTEN, target);

	outbox->epochs[target]++;
	(void)push(outbox, KEYS_KEPT, &waiting, 0);
}

static void tell_pinned(void *data, const struct pin_key *key, uint32_t from, uint32_t to)
{
	struct waiting waiting = waiting_of(WIRE_PINNED, to);

	waiting.from = from;
	waiting.key = *key;
	(void)push(data, KEYS_KEPT, &waiting, 0);
}

static void tell_ejected(void *data, uint32_t target, usec_t length)
{
	struct waiting waiting = waiting_of(WIRE_EJECTED, target);

	waiting.length = length;
	(void)push(data, KEYS_LIVE, &waiting, 0);
}

static void tell_recovered(void *data, uint32_t target)
{
	struct waiting waiting = waiting_of(WIRE_RECOVERED, target);

	(void)push(data, KEYS_LIVE, &waiting, 0);
}

static const struct share_calls calls = {
	.bound = tell_bound,
	.evicted = tell_evicted,
	.forgotten = tell_forgotten,
	.pinned = tell_pinned,
	.ejected = tell_ejected,
	.recovered = tell_recovered,
};

struct outbox *outbox_new(struct facts *facts, uint32_t kept_bytes)
{
	struct outbox *outbox = calloc(1, sizeof(*outbox));

	if (!outbox)
		return NULL;
	outbox->share = (struct share){ &calls, outbox };
	outbox->facts = facts;
	outbox->epochs = calloc(fleet_targets_max(facts->fleet), sizeof(*outbox->epochs));
	outbox->rings[KEYS_LIVE] = ring_new(LIVE_BYTES);
	outbox->rings[KEYS_KEPT] = ring_new(kept_bytes);
	if (outbox->epochs && outbox->rings[KEYS_LIVE] && outbox->rings[KEYS_KEPT])
		return outbox;
	outbox_free(outbox);
	return NULL;
}

void outbox_free(struct outbox *outbox)
{
	if (!outbox)
		return;
	ring_free(outbox->rings[KEYS_LIVE]);
	ring_free(outbox->rings[KEYS_KEPT]);
	free(outbox->epochs);
	free(outbox);
}

const struct share *outbox_share(const struct outbox *outbox)
{
	return &outbox->share;
}

void outbox_tick(struct outbox *outbox, usec_t now)
{
	outbox->now = now;
}

void outbox_again(struct outbox *outbox, enum keys_stream stream)
{
	ring_again(outbox->rings[stream]);
}

void outbox_done(struct outbox *outbox, enum keys_stream stream, uint64_t position)
{
	ring_done(outbox->rings[stream], position);
}

uint32_t outbox_waiting(const struct outbox *outbox, enum keys_stream stream)
{
	return ring_count(outbox->rings[stream]);
}

struct outbox_counts outbox_counts(const struct outbox *outbox)
{
	return (struct outbox_counts){
		.told = outbox->told,
		.dropped = ring_dropped(outbox->rings[KEYS_LIVE]) +
		           ring_dropped(outbox->rings[KEYS_KEPT]),
		.again = outbox->again,
		.spared = outbox->spared,
		.gone = outbox->gone,
	};
}
