/* check_hand_over.c - what we answer for engines, and nobody tells them.
 *
 * A prefill engine that is chosen and not named to the decode engine holds a slot for
 * nothing, and so does a rank; a header that is set and then deleted is not named either. */
#include <stdio.h>
#include <string.h>

#include "policies/core/policy.h"
#include "spoa/config/check_rules.h"

static bool makes_pairs(const struct entry_policy *chain, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (chain[i].strategy->pair)
			return true;
	return false;
}

static bool wants_rank(const struct policy *policy)
{
	for (uint32_t i = 0; i < policy->instance_count; i++)
		for (uint32_t k = 0; k < policy->instances[i].replica_count; k++)
			if (policy->instances[i].replicas[k].ranks > 0)
				return true;
	return false;
}

static bool wants_prefill(const struct policy *policy)
{
	bool wants =
	        makes_pairs(policy->default_instance.chain, policy->default_instance.chain_count);

	for (uint32_t i = 0; i < policy->instance_count && !wants; i++)
		wants = makes_pairs(policy->instances[i].chain, policy->instances[i].chain_count);
	return wants;
}

/* "http-request set-header NAME %[var(txn.PREFIX.VARIABLE)]" */
static bool is_set(const struct facts *facts, const struct haproxy_line *line, const char *header,
                   const char *variable)
{
	const char *name = line_after(line, "set-header");
	const char *value = line_after(line, header);
	char text[96];

	if (!name || strcmp(name, header) != 0)
		return false;
	(void)snprintf(text, sizeof(text), "%%[var(txn.%s.%s)]", facts->prefix, variable);
	return value && strcmp(value, text) == 0;
}

/* Behind whatever deletes the client's. */
static void handed_over(const struct facts *facts, const char *header, const char *variable,
                        const char *why)
{
	const struct haproxy_line *line, *set = NULL, *deleted = NULL;

	for (uint32_t j = 0; (line = proxy_line(facts->frontend, j)); j++) {
		if (is_set(facts, line, header, variable))
			set = line;
		else if (set && line_deletes(line, header))
			deleted = line;
	}
	if (!set)
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR,
		       "hand-over",
		       "the policy %s, and no line sets %s from txn.%s.%s: the engine that is "
		       "chosen is never told",
		       why, header, facts->prefix, variable);
	else if (deleted)
		report(facts, deleted, facts->frontend, SEVERITY_ERROR, "hand-over",
		       "%s is deleted after it was set from txn.%s.%s", header, facts->prefix,
		       variable);
}

void check_hand_over(const struct facts *facts)
{
	const struct policy *policy = facts->options->policy;

	if (!policy || strcmp(facts->frontend->section->type, "backend") == 0)
		return;
	if (wants_prefill(policy))
		handed_over(facts, "x-prefiller-host-port", "prefill", "makes pairs");
	if (wants_rank(policy))
		handed_over(facts, "x-data-parallel-rank", "rank", "has ranks");
}
