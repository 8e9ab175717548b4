/* agent_health.c - looks after the replicas' health, and tells the operator who
 * went out of service and who came back. */
#include <stdio.h>

#include "policies/ejection.h"
#include "spoa/agent_parts.h"
#include "spoa/clock.h"

/* A target that ramps is in service: said only of who comes back. */
static bool is_news(enum health_state before, enum health_state now)
{
	if (before == now)
		return false;
	return before > HEALTH_RAMP || now > HEALTH_RAMP;
}

static void say(struct agent *agent, const struct target *target, enum health_state now)
{
	char line[NAME_MAX_BYTES + 64];

	(void)snprintf(line, sizeof(line), "%s: %s, ejection number %u", target->label,
	               health_state_names[now], health_ejections(agent->facts->health, target->id));
	if (now != HEALTH_EJECTED && now != HEALTH_HALF_OPEN)
		(void)snprintf(line, sizeof(line), "%s: %s", target->label,
		               health_state_names[now]);
	/* One a replica, none is kept back. */
	journal_line(&agent->journal, now > HEALTH_RAMP ? LOGGED_WARNING : LOGGED_NOTICE, line);
}

void agent_look(struct agent *agent)
{
	const struct fleet *fleet = agent->facts->fleet;
	usec_t now = clock_monotonic();

	ejection_look(agent->facts, now);
	for (uint32_t id = 0; id < fleet_targets_max(fleet); id++) {
		const struct target *target = fleet_target(fleet, id);
		enum health_state state =
		        target ? health_state(agent->facts->health, id, now) : HEALTH_UP;

		if (target && is_news(agent->health_said[id], state))
			say(agent, target, state);
		agent->health_said[id] = state;
	}
}
