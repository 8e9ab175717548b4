/* pulse.c - one part after the other, as far as a batch has room.
 *
 * ledger_tell() goes on where it ended; a round remembers whom it told, since with whole it
 * would go round for ever. */
#include "redis/pulse.h"

#include <stdlib.h>
#include <string.h>

enum part { LOADS, LIMITS_USED, TENANTS_USED, AVERAGES, OVER };

struct pulse {
	struct facts *facts;
	enum part part;
	bool whole, averages; /* in this round */
	bool all;             /* ... more than loads */
	usec_t whole_at, averages_at;
	uint32_t next;         /* target, of the averages */
	uint32_t round, *told; /* round in which a target was told last, by id */
	struct wire_writer *writer;
	bool full; /* the writer's batch */
};

struct pulse *pulse_new(struct facts *facts)
{
	struct pulse *pulse = calloc(1, sizeof(*pulse));

	if (!pulse)
		return NULL;
	pulse->facts = facts;
	pulse->part = OVER;
	pulse->told = calloc(fleet_targets_max(facts->fleet), sizeof(*pulse->told));
	if (pulse->told)
		return pulse;
	free(pulse);
	return NULL;
}

void pulse_free(struct pulse *pulse)
{
	if (!pulse)
		return;
	free(pulse->told);
	free(pulse);
}

void pulse_begin(struct pulse *pulse, bool all, usec_t now)
{
	if (pulse->part != OVER)
		return;
	pulse->part = LOADS;
	pulse->round++;
	pulse->next = 0;
	pulse->all = all;
	pulse->whole = now >= pulse->whole_at;
	pulse->averages = all && now >= pulse->averages_at;
	if (pulse->whole)
		pulse->whole_at = now + PULSE_WHOLE;
	if (pulse->averages)
		pulse->averages_at = now + PULSE_AVERAGES;
}

bool pulse_is_whole(const struct pulse *pulse)
{
	return pulse->whole;
}

void pulse_anew(struct pulse *pulse)
{
	pulse->part = OVER;
	pulse->whole_at = pulse->averages_at = 0;
}

static bool put(struct pulse *pulse, uint32_t id, struct wire_entry *entry)
{
	const struct target *target = fleet_target(pulse->facts->fleet, id);
	char name[WIRE_NAME_MAX];

	if (!target)
		return true;
	entry->name = wire_name_of(target, name);
	pulse->full = !wire_put(pulse->writer, entry);
	return !pulse->full;
}

static bool tell_load(void *data, uint32_t target, const struct work *own, uint64_t acquired)
{
	struct pulse *pulse = data;
	struct wire_entry entry;

	if (pulse->told[target] == pulse->round)
		return true;
	entry.kind = WIRE_LOAD;
	entry.load = (struct peer_load){ *own, acquired };
	if (!put(pulse, target, &entry))
		return false;
	pulse->told[target] = pulse->round;
	return true;
}

static bool tell_limit(void *data, const struct limit_use *use)
{
	struct pulse *pulse = data;
	struct wire_entry entry;

	entry.kind = WIRE_LIMIT;
	entry.limit = *use;
	pulse->full = !wire_put(pulse->writer, &entry);
	return !pulse->full;
}

static bool tell_tenant(void *data, const struct tenant_use *use)
{
	struct pulse *pulse = data;
	struct wire_entry entry;

	entry.kind = WIRE_TENANT;
	entry.tenant = *use;
	pulse->full = !wire_put(pulse->writer, &entry);
	return !pulse->full;
}

static void tell_averages(struct pulse *pulse, usec_t now)
{
	uint32_t targets = fleet_targets_max(pulse->facts->fleet);

	for (; pulse->averages && pulse->next < targets; pulse->next++) {
		const struct latency *latency = averages_of(pulse->facts->averages, pulse->next);
		struct wire_entry entry;
		bool ttft, e2e;

		entry.kind = WIRE_AVERAGES;
		entry.ttft_ms = entry.e2e_ms = 0;
		ttft = average_plain(&latency->ttft_ms, now, &entry.ttft_ms);
		e2e = average_plain(&latency->e2e_ms, now, &entry.e2e_ms);
		if (!ttft && !e2e)
			continue;
		if (!put(pulse, pulse->next, &entry))
			return;
	}
}

static void tell_part(struct pulse *pulse, usec_t now)
{
	switch (pulse->part) {
	case LOADS:
		ledger_tell(pulse->facts->ledger, now, pulse->whole, tell_load, pulse);
		break;
	case LIMITS_USED:
		limits_tell(pulse->facts->limits, now, tell_limit, pulse);
		break;
	case TENANTS_USED:
		tenants_tell(pulse->facts->tenants, now, tell_tenant, pulse);
		break;
	case AVERAGES:
		tell_averages(pulse, now);
		break;
	case OVER:
		break;
	}
}

bool pulse_fill(struct pulse *pulse, struct wire_writer *writer, usec_t now)
{
	pulse->writer = writer;
	pulse->full = false;
	while (pulse->part != OVER) {
		tell_part(pulse, now);
		if (pulse->full)
			return true;
		pulse->part = pulse->all || pulse->part < LIMITS_USED ? pulse->part + 1 : OVER;
	}
	return false;
}
