/* check_sessions.c - ids of sessions go out, and name who served. */
#include <stdio.h>
#include <string.h>

#include "policies/core/policy.h"
#include "policies/signals/signals.h"
#include "spoa/config/check_rules.h"

static bool chain_has_sessions(const struct entry_policy *chain, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct weighing *weighings = chain[i].strategy->weighings;

		if (entry_session_mode(&chain[i]) != SESSION_OFF)
			return true;
		for (size_t j = 0; j < WEIGHINGS_MAX && weighings[j].signal; j++)
			if (weighings[j].signal->reads_session)
				return true;
	}
	return false;
}

/* Where a replica is chosen; only there an id is given. */
static bool gives_ids(const struct policy *policy)
{
	bool gives = chain_has_sessions(policy->default_instance.chain,
	                                policy->default_instance.chain_count);

	for (uint32_t i = 0; i < policy->instance_count && !gives; i++)
		gives = chain_has_sessions(policy->instances[i].chain,
		                           policy->instances[i].chain_count);
	return gives && policy->levels != LEVELS_INSTANCE;
}

/* The rule that gives the id to the client, and the one that takes it away where
 * another server than the chosen one serves. */
static void check_ids(const struct facts *facts, bool given)
{
	const struct haproxy_line *line, *id = NULL;
	char variable[128], unset[128];
	bool guarded = false;

	(void)snprintf(variable, sizeof(variable), "var(txn.%s.session)", facts->prefix);
	(void)snprintf(unset, sizeof(unset), "unset-var(txn.%s.session)", facts->prefix);
	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		if (line->count < 2 || strcmp(line->words[0], "http-response") != 0)
			continue;
		guarded |= line_holds(line, unset);
		if (strcmp(line->words[1], "set-header") == 0 && line_holds(line, variable)) {
			id = line;
			guarded |= line_holds(line, "srv_name");
		}
	}
	if (id && !guarded)
		report(facts, id, facts->frontend, SEVERITY_WARNING, "session-id",
		       "after a redispatch the id names a replica that did not serve; unset %s "
		       "before, where srv_name is not txn.%s.replica",
		       variable, facts->prefix);
	if (!id && given)
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_WARNING,
		       "session-id",
		       "no http-response set-header x-session-id %%[%s]: clients without a key "
		       "of their own have no session",
		       variable);
}

void check_sessions(const struct facts *facts)
{
	const struct policy *policy = facts->options->policy;

	if (strcmp(facts->frontend->section->type, "backend") != 0)
		check_ids(facts, policy && gives_ids(policy));
}
