/* apply.c - entries to facts.
 *
 * A name is looked up once in a batch and step: between two turns of the loop an id may come
 * to mean another target. Of our own entries only pins are taken: that they are read back tells
 * which of two claims came first. */
#include "redis/apply.h"

#include <stdlib.h>
#include <string.h>

#include "policies/heard.h"

struct apply {
	struct facts *facts;
	uint64_t agent;
	bool loads; /* of others are taken at all */
	struct wire_reader *reader;
	struct apply_counts counts;

	/* of the open batch */
	usec_t at;
	bool own, current; /* current: its loads count */
	struct wire_entry entry;
	bool looked_up[WIRE_NAMES_MAX];
	uint32_t targets[WIRE_NAMES_MAX];
};

struct apply *apply_new(struct facts *facts, uint64_t agent)
{
	struct apply *apply = calloc(1, sizeof(*apply));

	if (!apply)
		return NULL;
	apply->facts = facts;
	apply->agent = agent;
	apply->loads = true;
	apply->reader = wire_reader_new();
	if (apply->reader)
		return apply;
	free(apply);
	return NULL;
}

void apply_free(struct apply *apply)
{
	if (!apply)
		return;
	wire_reader_free(apply->reader);
	free(apply);
}

void apply_set_loads(struct apply *apply, bool loads)
{
	apply->loads = loads;
}

static uint32_t id_of(const struct facts *facts, struct span name)
{
	const struct instance *instance;
	const struct target *target;

	if (name.len > 0 && name.at[0] == '@') {
		instance = fleet_instance_named(facts->fleet,
		                                (struct span){ name.at + 1, name.len - 1 });
		return instance ? instance->target->id : TARGET_NONE;
	}
	target = fleet_target_at(facts->fleet, name);
	return target ? target->id : TARGET_NONE;
}

static uint32_t target_of(struct apply *apply, const struct wire_entry *entry)
{
	if (!apply->looked_up[entry->place]) {
		apply->looked_up[entry->place] = true;
		apply->targets[entry->place] = id_of(apply->facts, entry->name);
	}
	return apply->targets[entry->place];
}

/* Whether the batch is worth looking into: a batch of loads counts once. */
static bool hear(struct apply *apply, usec_t now)
{
	switch (peers_hear(apply->facts->peers, wire_agent(apply->reader),
	                   wire_sequence(apply->reader), apply->at, now)) {
	case PEER_NEWS:
		apply->current = true;
		return true;
	case PEER_SEEN:
		apply->counts.repeated++;
		return false;
	case PEER_OLD:
		apply->counts.late++;
		return true;
	case PEER_FULL:
		apply->counts.crowded++;
		return false;
	}
	return false;
}

bool apply_open(struct apply *apply, enum keys_stream stream, struct span bytes, usec_t at,
                usec_t now)
{
	enum wire_result result = wire_open(apply->reader, bytes);

	apply->counts.batches[result]++;
	if (result != WIRE_RESULT_OK)
		return false;
	apply->at = at < now ? at : now;
	apply->own = wire_agent(apply->reader) == apply->agent;
	apply->current = false;
	apply->counts.own += apply->own;
	if (stream == KEYS_KEPT || (!apply->own && hear(apply, now)))
		return true;
	wire_close(apply->reader);
	return false;
}

/* When it was so. */
static usec_t at_of(const struct apply *apply)
{
	return apply->at - apply->entry.age;
}

static bool take_chain(struct apply *apply, uint32_t target, usec_t now)
{
	const struct wire_chain *chain = &apply->entry.chain;
	const struct heard_chain heard = { .holder = target,
		                           .chain = chain->hashes,
		                           .blocks = chain->blocks,
		                           .ladder = chain->ladder };

	return apply->entry.kind == WIRE_BOUND
	               ? heard_bound(apply->facts, &heard, at_of(apply), now)
	               : heard_evicted(apply->facts, &heard, at_of(apply), now);
}

static bool take_pin(struct apply *apply, uint32_t to, usec_t now)
{
	const struct wire_pin *pin = &apply->entry.pin;
	uint32_t from = pin->from.at ? id_of(apply->facts, pin->from) : TARGET_NONE;

	const struct pin_entry entry = { .from = from, .to = to, .own = apply->own };

	return heard_pinned(apply->facts, pin->key, &entry, at_of(apply), now);
}

static bool take_load(struct apply *apply, uint32_t target)
{
	if (!apply->current || !apply->loads)
		return false;
	peers_load(apply->facts->peers, wire_agent(apply->reader), target, &apply->entry.load);
	return true;
}

/* Of a target of ours. False: it is nothing to us. */
static bool take(struct apply *apply, uint32_t target, usec_t now)
{
	const struct wire_entry *entry = &apply->entry;

	switch (entry->kind) {
	case WIRE_LOAD:
		return take_load(apply, target);
	case WIRE_AVERAGES:
		heard_averages(apply->facts, target, entry->ttft_ms, entry->e2e_ms, now);
		return true;
	case WIRE_EJECTED:
		return heard_ejected(apply->facts, target, entry->length, at_of(apply), now);
	case WIRE_RECOVERED:
		return heard_recovered(apply->facts, target, now);
	case WIRE_BOUND:
	case WIRE_EVICTED:
		return take_chain(apply, target, now);
	case WIRE_FORGOTTEN:
		return heard_forgotten(apply->facts, target, at_of(apply), now);
	case WIRE_PINNED:
		return take_pin(apply, target, now);
	case WIRE_LIMIT:
	case WIRE_TENANT:
	case WIRE_BYE:
	case WIRE_KIND_COUNT:
		break;
	}
	return false;
}

/* What is of no target. */
static void take_general(struct apply *apply, usec_t now)
{
	const struct wire_entry *entry = &apply->entry;
	uint64_t agent = wire_agent(apply->reader);

	if (entry->kind == WIRE_LIMIT) {
		heard_limit(apply->facts, agent, &entry->limit, apply->at, now);
	} else if (entry->kind == WIRE_TENANT) {
		heard_tenant(apply->facts, &entry->tenant, apply->at, now);
	} else {
		peers_bye(apply->facts->peers, agent);
		limits_bye(apply->facts->limits, agent);
	}
	apply->counts.taken[entry->kind]++;
}

static void take_entry(struct apply *apply, usec_t now)
{
	const struct wire_entry *entry = &apply->entry;
	uint32_t target;

	if (apply->own && entry->kind != WIRE_PINNED)
		return;
	if (!wire_has_target(entry->kind)) {
		take_general(apply, now);
		return;
	}
	target = target_of(apply, entry);
	if (target == TARGET_NONE)
		apply->counts.strangers++;
	else if (take(apply, target, now))
		apply->counts.taken[entry->kind]++;
	else
		apply->counts.left[entry->kind]++;
}

bool apply_step(struct apply *apply, uint32_t most, usec_t now)
{
	memset(apply->looked_up, 0, wire_names(apply->reader) * sizeof(apply->looked_up[0]));
	for (uint32_t i = 0; i < most; i++) {
		if (!wire_next(apply->reader, &apply->entry)) {
			wire_close(apply->reader);
			return false;
		}
		take_entry(apply, now);
	}
	return true;
}

const struct apply_counts *apply_counts(struct apply *apply)
{
	apply->counts.unknown = wire_unknown(apply->reader);
	apply->counts.malformed = wire_malformed(apply->reader);
	return &apply->counts;
}
