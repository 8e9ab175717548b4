/* outbox_fill.c - what waits, into batches; what the store had once and has lost as well, as far as
 * it still holds. */
#include "redis/outbox_parts.h"

#include <string.h>

enum { AGAIN_AT_ONCE = 128 /* of what arrived once, in one batch: each is looked up */ };

/* What waited for less is told as it is: others know from the entry itself when that was. */
#define AGE_TOLD (1 * SECOND)

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

static const uint64_t *chain_of(const struct waiting *waiting)
{
	return (const uint64_t *)(waiting + 1);
}

/* Of a binding that was told once more since only the later is told again. */
static bool was_told_later(const struct outbox *outbox, const struct waiting *waiting)
{
	uint64_t key = outbox_key(outbox, waiting->target, chain_of(waiting), waiting->blocks);
	const struct last_told *last = &outbox->last[key % LAST_TOLD];

	return last->key == key && last->at > waiting->at;
}

static uint32_t still_held(const struct outbox *outbox, const struct waiting *waiting)
{
	return was_told_later(outbox, waiting)
	               ? 0
	               : prefix_index_confirmed(outbox->facts->prefix, waiting->target,
	                                        chain_of(waiting), waiting->blocks, outbox->now);
}

/* By what we know now; of a chain as many blocks. 0: there is nothing to tell again. */
static uint32_t still_so(const struct outbox *outbox, const struct waiting *waiting)
{
	struct pin pin;

	if (waiting->kind == WIRE_BOUND)
		return still_held(outbox, waiting);
	if (waiting->kind == WIRE_EVICTED)
		return waiting->blocks;
	if (waiting->kind == WIRE_PINNED)
		return pins_find(outbox->facts->sessions, waiting->key, outbox->now, &pin) &&
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
		const uint64_t *hashes = chain_of(waiting);

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
