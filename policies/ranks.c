/* ranks.c - by what we said, else by what an engine would do. */
#include "policies/ranks.h"

static const struct target *target_of(const struct facts *facts, uint32_t id)
{
	return id == TARGET_NONE ? NULL : fleet_target(facts->fleet, id);
}

static bool is_same_server(const struct target *a, const struct target *b)
{
	struct span at_a = target_address(a), at_b = target_address(b);

	return at_a.len == at_b.len && memcmp(at_a.at, at_b.at, at_a.len) == 0;
}

static const struct replica *idlest(const struct facts *facts, const struct instance *instance,
                                    const struct replica *replica, usec_t now)
{
	const struct replica *best = replica;
	double least = ledger_running(facts->ledger, replica->target->id, now);

	for (uint32_t i = 0; i < replica->target->ranks; i++) {
		const struct replica *rank = fleet_replica_rank(facts->fleet, instance, replica, i);
		double running =
		        rank ? ledger_running(facts->ledger, rank->target->id, now) : least;

		if (running >= least)
			continue;
		best = rank;
		least = running;
	}
	return best;
}

const struct replica *ranks_serving(const struct facts *facts, const struct instance *instance,
                                    const struct replica *replica, const struct flight *flight,
                                    usec_t now)
{
	const struct target *held = NULL, *chosen = NULL;
	const struct replica *rank = NULL;

	if (replica->target->ranks == 0)
		return replica;
	if (flight) {
		held = target_of(facts, flight->replica_slot.target);
		chosen = target_of(facts, flight->chosen);
	}
	if (held && held->ranks > 0 && is_same_server(held, replica->target))
		rank = fleet_replica_rank(facts->fleet, instance, replica, held->rank);
	else if (chosen && chosen->ranks > 0)
		rank = fleet_replica_rank(facts->fleet, instance, replica, chosen->rank);
	return rank ? rank : idlest(facts, instance, replica, now);
}
