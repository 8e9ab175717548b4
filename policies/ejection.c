/* ejection.c - the pool around a replica that fails.
 *
 * A replica may be a member of several instances; each of them must be able to do
 * without it. Half-open ones count as out, since all but a few requests are kept
 * from them; who is DOWN is not there to be counted on. */
#include "policies/ejection.h"

static const double rounding = 1e-9;
/* The lists of several HAProxies come one after the other; all of it is one start. */
static const usec_t start = 10 * SECOND;

static bool is_member(const struct instance *instance, uint32_t target)
{
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		if (instance->replicas[i].target->id == target)
			return true;
	}
	return false;
}

static bool is_out(const struct facts *facts, uint32_t target, usec_t now)
{
	enum health_state state = health_state(facts->health, target, now);

	return state == HEALTH_EJECTED || state == HEALTH_HALF_OPEN;
}

/* The instance may lose this one, too. */
static bool can_spare(const struct facts *facts, const struct instance *instance, uint32_t target,
                      usec_t now)
{
	uint32_t pool = 0, out = 1;

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];
		uint32_t id = replica->target->id;

		if (!replica->usable || (!replica->up && id != target))
			continue;
		pool++;
		out += id != target && is_out(facts, id, now);
	}
	return out <= facts->policy->health.max_ejected * pool + rounding;
}

static bool all_can_spare(const struct facts *facts, uint32_t target, usec_t now)
{
	bool spared = true;

	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++) {
		const struct instance *instance = fleet_instance_at(facts->fleet, i);

		if (!is_member(instance, target) || can_spare(facts, instance, target, now))
			continue;
		facts->counters->of[instance->target->id].ejections_refused++;
		spared = false;
	}
	return spared;
}

static void eject(struct facts *facts, uint32_t target, enum eject_cause cause, usec_t now)
{
	const struct share *share = facts->share;

	if (cause == EJECT_NONE)
		return;
	if (!is_out(facts, target, now) && !all_can_spare(facts, target, now))
		return;
	health_eject(facts->health, target, now);
	facts->counters->of[target].ejections[cause]++;
	if (share)
		share->calls->ejected(share->data, target,
		                      health_ejected_for(facts->health, target, now));
}

void ejection_note(struct facts *facts, const struct report *report, usec_t now)
{
	const struct share *share = facts->share;
	uint32_t target = report->target;
	bool out = share && is_out(facts, target, now) && !health_told(facts->health, target);

	eject(facts, target, health_note(facts->health, report, now), now);
	if (out && !is_out(facts, target, now))
		share->calls->recovered(share->data, target);
}

bool ejection_told(struct facts *facts, uint32_t target, usec_t length, usec_t now)
{
	if (is_out(facts, target, now) || !all_can_spare(facts, target, now))
		return false;
	health_eject_told(facts->health, target, length, now);
	facts->counters->of[target].ejections[EJECT_PEER]++;
	return true;
}

bool ejection_told_over(struct facts *facts, uint32_t target, usec_t now)
{
	if (!is_out(facts, target, now) || !health_told(facts->health, target))
		return false;
	health_restore(facts->health, target, now);
	return true;
}

void ejection_probed(struct facts *facts, uint32_t target, bool good, usec_t now)
{
	eject(facts, target, health_probed(facts->health, target, good, now), now);
}

bool ejection_wants_probe(const struct facts *facts, uint32_t target, usec_t now)
{
	enum health_state state = health_state(facts->health, target, now);

	return facts->policy->health.probe && (state == HEALTH_EJECTED || state == HEALTH_STALLED);
}

bool ejection_wants_token(const struct facts *facts, uint32_t target)
{
	int wanted = facts->policy->health.probe_token;

	return wanted == TOKEN_ALWAYS ||
	       (wanted == TOKEN_STALLED && health_silent(facts->health, target));
}

static void look_at(struct facts *facts, uint32_t target, usec_t now)
{
	bool waits = ledger_work(facts->ledger, target, now).awaiting > 0;

	if (!health_waits(facts->health, target, waits, now))
		return;
	facts->counters->of[target].stalls++;
	if (is_out(facts, target, now))
		eject(facts, target, EJECT_STALL, now);
}

/* Who came when others had long been there has to come to its part; where all are
 * new, at a start, nobody has. */
static void welcome(struct facts *facts, const struct target *target, usec_t oldest)
{
	if (facts->policy->health.ramp > 0 && target->since > oldest + start)
		health_welcome(facts->health, target->id, target->since);
}

static usec_t older(usec_t a, usec_t b)
{
	return a < b ? a : b;
}

void ejection_look(struct facts *facts, usec_t now)
{
	size_t count = fleet_instance_count(facts->fleet);
	usec_t oldest_instance = UINT64_MAX - start;

	for (size_t i = 0; i < count; i++) {
		const struct instance *instance = fleet_instance_at(facts->fleet, i);
		usec_t oldest = UINT64_MAX - start;

		oldest_instance = older(oldest_instance, instance->target->since);
		for (uint32_t k = 0; k < instance->replica_count; k++)
			oldest = older(oldest, instance->replicas[k].target->since);
		for (uint32_t k = 0; k < instance->replica_count; k++) {
			welcome(facts, instance->replicas[k].target, oldest);
			look_at(facts, instance->replicas[k].target->id, now);
		}
	}
	for (size_t i = 0; i < count; i++)
		welcome(facts, fleet_instance_at(facts->fleet, i)->target, oldest_instance);
}
