/* check_haproxy.h - what is wrong in a haproxy.cfg and the SPOE file it names.
 *
 * Reads both, compares them with the contract and the ladder, and adds what
 * would cost requests, slots or hits to the list. Places are file and line.
 * A line "# inference-spoa: ignore RULE" silences that rule for the next line
 * that is none; above the first section, for the whole file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policies/core/ladder.h"
#include "spoa/config/problems.h"

struct policy;

struct check_options {
	const char *const *files; /* all that are checked: one without a filter of SPOE is a part
	                           * of each that has one, as HAProxy reads several with -f */
	size_t file_count;
	const char *version;         /* as HAProxy says it, "3.0.11-1+deb13u4"; NULL: unknown,
	                              * then both 2.6 and 3.x must find all well */
	const struct ladder *ladder; /* the policy's; NULL: the default */
	const struct policy *policy; /* whose affinity rules look at headers; NULL: none */
	unsigned ledger_ttl_s;       /* how long a slot lives; 0: 600 */
	unsigned agent_check_port;   /* where the agent answers; 0: not known, then all servers
	                              * must ask at one port */
	bool tenant_leaves;          /* the tenant's hash goes to Redis or into a log */
};

/* All files and texts stay with the caller; path is as the operator wrote it. */
void check_haproxy(const char *path, const struct check_options *options,
                   struct problems *problems);
