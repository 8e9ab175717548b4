/* check_headers.c - headers that the policy looks at, and nobody sends. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policies/core/policy.h"
#include "spoa/config/check_rules.h"
#include "spoa/messages/contract.h"

/* "hdr.NAME=..." is one of the arguments. */
static bool is_sent(const struct haproxy_section *route, const char *header)
{
	char argument[NAME_MAX_BYTES + 8];
	size_t len;

	(void)snprintf(argument, sizeof(argument), CONTRACT_HEADER "%s=", header);
	len = strlen(argument);
	for (uint32_t i = 0; i < route->count; i++) {
		for (uint32_t j = 1; j < route->lines[i].count; j++) {
			if (strncasecmp(route->lines[i].words[j], argument, len) == 0)
				return true;
		}
	}
	return false;
}

static void check_list(const struct facts *facts, const struct affinity *affinities, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct affinity *affinity = &affinities[i];

		if (affinity->on == AFFINITY_HEADER && !is_sent(facts->route, affinity->header))
			report_spoe(facts, facts->route->head, SEVERITY_ERROR, "header",
			            "an affinity rule looks at %s, which is not sent; print the "
			            "file with: inference-spoa haproxy spoe --header %s",
			            affinity->header, affinity->header);
	}
}

static void check_session_keys(const struct facts *facts, const struct session_policy *session)
{
	for (uint32_t i = 0; i < session->header_count; i++) {
		const struct session_header *header = &session->headers[i];

		if (header->argument == SESSION_HEADER_OTHER &&
		    !is_sent(facts->route, header->name))
			report_spoe(facts, facts->route->head, SEVERITY_ERROR, "header",
			            "the session header %s is not sent; print the file with: "
			            "inference-spoa haproxy spoe --header %s",
			            header->name, header->name);
	}
}

void check_headers(const struct facts *facts)
{
	const struct policy *policy = facts->options->policy;

	if (!policy || !facts->route)
		return;
	check_session_keys(facts, &policy->session);
	check_list(facts, policy->affinities, policy->affinity_count);
	for (uint32_t i = 0; i < policy->rule_count; i++)
		check_list(facts, policy->rules[i].affinities, policy->rules[i].affinity_count);
}
