/* agent.h - the facts of an agent with two engines, and a key to what it knows, for tests of
 * what agents share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/state/facts.h"

#define SPAN(text) ((struct span){ text, sizeof(text) - 1 })

static inline struct facts *agent_facts(struct policy *policy, const char *first,
                                        const char *second)
{
	static const struct fleet_limits limits = { 4, 8, 4 };
	const struct server_fact servers[] = {
		{ SPAN("chat"), SPAN("s1"), { first, strlen(first) }, .weight = 1, .up = true },
		{ SPAN("chat"), SPAN("s2"), { second, strlen(second) }, .weight = 1, .up = true },
	};
	struct facts *facts;

	policy_default(policy);
	policy->prefix.max_records = 65536;
	policy->max_inflight = 1024;
	policy->session.max_pins = 1024;
	facts = facts_new(policy, &limits);
	assert_non_null(facts);
	(void)fleet_apply(facts->fleet, 0, servers, 2, SECOND, facts_forget, facts);
	return facts;
}

static inline uint32_t agent_target(const struct facts *facts, const char *address)
{
	const struct target *target =
	        fleet_target_at(facts->fleet, (struct span){ address, strlen(address) });

	assert_non_null(target);
	return target->id;
}

static inline void agent_chain(uint64_t chain[4], uint64_t seed)
{
	for (uint64_t i = 0; i < 4; i++)
		chain[i] = (seed + 1) * 0x9e3779b97f4a7c15u + i;
}

/* Blocks of the chain that the holder is known to have. */
static inline uint32_t agent_held(const struct facts *facts, uint32_t holder,
                                  const uint64_t chain[4], usec_t now)
{
	struct prefix_match matches[8];
	size_t count = prefix_index_match(facts->prefix, chain, 4, now, matches, 8);

	for (size_t i = 0; i < count; i++) {
		if (matches[i].holder == holder)
			return matches[i].blocks;
	}
	return 0;
}
