/* outbox.c - a ring for each stream, and a small table of what was told last.
 *
 * The table is direct-mapped: two chains that meet in one place are told more often than
 * needed, which does no harm. An eviction makes everything void that was told of its holder,
 * so that the next confirmation is told at once. */
#include "redis/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "redis/ring.h"

enum {
	LIVE_BYTES = 65536,
	LAST_TOLD = 8192,    /* places; 16 bytes each */
	AGAIN_AT_ONCE = 128, /* of what arrived once, in one batch: each is looked up */
};

/* What waited for less is told as it is: others know from the entry itself when that was. */
#define AGE_TOLD (1 * SECOND)

/* What waits in a ring; behind it the hashes, and the ladder's id. */
struct waiting {
	usec_t at;
	enum wire_kind kind;
	uint32_t target, from; /* TARGET_NONE: nowhere */
	uint32_t blocks, ladder_len;
	usec_t since, from_since; /* tell a target from another of its id */
	usec_t length;
	struct pin_key key;
};

struct last_told {
	uint64_t key;
	usec_t at;
};

struct outbox {
	struct share share;
	struct facts *facts;
	struct ring *rings[KEYS_STREAMS];
	usec_t now;
	uint64_t spared, gone, told, again;
	uint32_t *epochs; /* by target: how often it was voided */
	struct last_told last[LAST_TOLD];
};

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
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

	if (is_due(outbox, mixed(chain[blocks - 1] ^
	                         mixed((uint64_t)outbox->epochs[holder] << 32 | holder))))
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

/* False: it is not there any more. */
static bool name_of(const struct outbox *outbox, uint32_t id, usec_t since,
                    char text[WIRE_NAME_MAX], struct span *ret_name)
{
	const struct target *target = fleet_target(outbox->facts->fleet, id);

	if (!target || target->since != since)
		return false;
	*ret_name = wire_name_of(target, text);
	return true;
}

static bool is_chain(enum wire_kind kind)
{
	return kind == WIRE_BOUND || kind == WIRE_EVICTED;
}

/* By what we know now; of a chain as many blocks. 0: there is nothing to tell again. */
static uint32_t still_so(const struct outbox *outbox, const struct waiting *waiting)
{
	const struct facts *facts = outbox->facts;
	struct pin pin;

	if (waiting->kind == WIRE_BOUND)
		return prefix_index_confirmed(facts->prefix, waiting->target,
		                              (const uint64_t *)(waiting + 1), waiting->blocks,
		                              outbox->now);
	if (waiting->kind == WIRE_EVICTED)
		return waiting->blocks;
	if (waiting->kind == WIRE_PINNED)
		return pins_find(facts->sessions, waiting->key, outbox->now, &pin) &&
		       pin.target == waiting->target;
	return outbox->now - waiting->at < OUTBOX_REFRESH;
}

/* False: there is no room. */
static bool put(struct outbox *outbox, const struct waiting *waiting, uint32_t blocks,
                struct span name, struct wire_writer *writer)
{
	char from[WIRE_NAME_MAX];
	usec_t age = outbox->now - waiting->at;
	struct wire_entry entry;

	entry.kind = waiting->kind;
	entry.name = name;
	entry.age = age < AGE_TOLD ? 0 : age;
	entry.length = waiting->length;
	entry.pin.key = waiting->key;
	entry.pin.from = (struct span){ NULL, 0 };
	/* Whoever was pinned to one that is gone is pinned nowhere. */
	if (waiting->from != TARGET_NONE)
		(void)name_of(outbox, waiting->from, waiting->from_since, from, &entry.pin.from);
	if (is_chain(waiting->kind)) {
		const uint64_t *hashes = (const uint64_t *)(waiting + 1);

		entry.chain.blocks = blocks;
		memcpy(entry.chain.hashes, hashes, blocks * sizeof(*hashes));
		entry.chain.ladder = (struct span){ (const char *)(hashes + waiting->blocks),
			                            waiting->ladder_len };
	}
	return wire_put(writer, &entry);
}

static bool tell(struct outbox *outbox, const struct waiting *waiting, struct wire_writer *writer)
{
	char text[WIRE_NAME_MAX];
	struct span name;

	if (name_of(outbox, waiting->target, waiting->since, text, &name))
		return put(outbox, waiting, waiting->blocks, name, writer);
	outbox->gone++;
	return true;
}

/* What arrived already. */
static bool tell_again(struct outbox *outbox, const struct waiting *waiting,
                       struct wire_writer *writer)
{
	char text[WIRE_NAME_MAX];
	struct span name;
	uint32_t blocks = 0;

	if (name_of(outbox, waiting->target, waiting->since, text, &name))
		blocks = still_so(outbox, waiting);
	if (blocks == 0)
		return true;
	if (!put(outbox, waiting, blocks, name, writer))
		return false;
	outbox->again++;
	if (waiting->kind == WIRE_PINNED)
		pins_told_again(outbox->facts->sessions, waiting->key);
	return true;
}

uint64_t outbox_fill(struct outbox *outbox, enum keys_stream stream, uint64_t position,
                     struct wire_writer *writer)
{
	const struct ring *ring = outbox->rings[stream];
	const struct waiting *waiting;
	uint64_t next = position;
	int looked_up = 0;

	while ((waiting = ring_at(ring, position, &next)) != NULL) {
		bool again = next <= ring_arrived(ring);

		looked_up += again;
		if (looked_up > AGAIN_AT_ONCE ||
		    !(again ? tell_again(outbox, waiting, writer) : tell(outbox, waiting, writer)))
			break;
		position = next;
	}
	return position;
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
