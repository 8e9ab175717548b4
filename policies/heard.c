/* heard.c - each kind to the state that it belongs to, after a look at whether it can be. */
#include "policies/heard.h"

#include <string.h>

#include "policies/ejection.h"
#include "policies/usage.h"

static const double average_max_ms = 3600e3;

static bool is_of_ours(const struct facts *facts, const struct heard_chain *heard)
{
	const struct ladder *ladder = &facts->policy->ladder;

	return heard->blocks > 0 && heard->blocks <= ladder->count &&
	       heard->ladder.len == strlen(ladder->id) &&
	       memcmp(heard->ladder.at, ladder->id, heard->ladder.len) == 0;
}

bool heard_bound(struct facts *facts, const struct heard_chain *heard, usec_t at, usec_t now)
{
	return is_of_ours(facts, heard) &&
	       prefix_index_learn(facts->prefix, heard->holder, heard->chain, heard->blocks,
	                          &facts->policy->ladder, at, now);
}

bool heard_evicted(struct facts *facts, const struct heard_chain *heard, usec_t at, usec_t now)
{
	if (!is_of_ours(facts, heard))
		return false;
	(void)prefix_index_unlearn(facts->prefix, heard->holder, heard->chain, heard->blocks, at,
	                           now);
	return true;
}

bool heard_forgotten(struct facts *facts, uint32_t target, usec_t at, usec_t now)
{
	if (!prefix_index_forget_told(facts->prefix, target, at, now))
		return false;
	pins_forget(facts->sessions, target);
	return true;
}

bool heard_pinned(struct facts *facts, struct pin_key key, const struct pin_entry *entry, usec_t at,
                  usec_t now)
{
	return pins_heard(facts->sessions, key, entry, at, now);
}

bool heard_ejected(struct facts *facts, uint32_t target, usec_t length, usec_t at, usec_t now)
{
	usec_t age = now - at, most = facts->policy->health.ejection_max;

	if (length > most)
		length = most;
	return age < length && ejection_told(facts, target, length - age, now);
}

bool heard_recovered(struct facts *facts, uint32_t target, usec_t now)
{
	return ejection_told_over(facts, target, now);
}

static void hint(struct average *average, double ms, usec_t now)
{
	if (ms > 0 && ms <= average_max_ms)
		average_hint(average, ms, now);
}

void heard_averages(struct facts *facts, uint32_t target, double ttft_ms, double e2e_ms, usec_t now)
{
	struct latency *latency = averages_of(facts->averages, target);

	hint(&latency->ttft_ms, ttft_ms, now);
	hint(&latency->e2e_ms, e2e_ms, now);
}

void heard_limit(struct facts *facts, uint64_t agent, const struct limit_use *use, usec_t at,
                 usec_t now)
{
	struct limit_subject subject;

	if (usage_limits(facts, use, &subject))
		limits_heard(facts->limits, agent, &subject, use, now - at, now);
}

void heard_tenant(struct facts *facts, const struct tenant_use *use, usec_t at, usec_t now)
{
	tenants_heard(facts->tenants, use, now - at, now);
}
