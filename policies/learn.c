/* learn.c - samples into averages, records into the prefix index. */
#include "policies/learn.h"

#include <stddef.h>
#include <string.h>

/* Which of the two averages. */
enum quantity { TTFT, E2E };

static struct average *average_of(struct facts *facts, uint32_t target, enum quantity quantity)
{
	struct latency *latency = averages_of(facts->averages, target);

	return quantity == TTFT ? &latency->ttft_ms : &latency->e2e_ms;
}

static usec_t tau_of(const struct facts *facts, enum quantity quantity)
{
	return quantity == TTFT ? facts->policy->average_tau_ttft : facts->policy->average_tau_e2e;
}

static void add(struct facts *facts, uint32_t target, enum quantity quantity, double sample,
                usec_t now)
{
	if (target != TARGET_NONE)
		average_add(average_of(facts, target, quantity), sample, tau_of(facts, quantity),
		            now);
}

static const struct instance *instance_of(const struct facts *facts, const struct serving *by)
{
	const struct target *target =
	        by->instance == TARGET_NONE ? NULL : fleet_target(facts->fleet, by->instance);

	if (!target)
		return NULL;
	return fleet_instance_named(facts->fleet,
	                            (struct span){ target->label, strlen(target->label) });
}

void learn_ttft(struct facts *facts, struct flight *flight, const struct serving *by,
                double ttft_ms, usec_t now)
{
	const struct instance *instance = instance_of(facts, by);
	uint32_t computes = flight->pair ? flight->prefill : flight->chosen;

	flight->ttft_ms = ttft_ms;
	add(facts, by->replica, TTFT, ttft_ms, now);
	add(facts, by->instance, TTFT, ttft_ms, now);
	if (by->replica != TARGET_NONE && by->replica == computes && instance)
		flight->fitted = ttft_fit_add(facts->ttft_fits, instance, by->replica,
		                              (double)flight->to_compute, ttft_ms / 1e3);
}

static void take_back(struct facts *facts, uint32_t target, double ttft_ms, usec_t sampled_at)
{
	if (target != TARGET_NONE)
		average_remove(average_of(facts, target, TTFT), ttft_ms, tau_of(facts, TTFT),
		               sampled_at);
}

void learn_no_ttft(struct facts *facts, const struct flight *flight, const struct serving *by)
{
	const struct instance *instance = instance_of(facts, by);

	take_back(facts, by->replica, flight->ttft_ms, flight->first_byte_at);
	take_back(facts, by->instance, flight->ttft_ms, flight->first_byte_at);
	if (by->replica != TARGET_NONE && instance)
		ttft_fit_remove(facts->ttft_fits, instance, by->replica, &flight->fitted);
}

void learn_e2e(struct facts *facts, const struct serving *by, double e2e_ms, usec_t now)
{
	add(facts, by->replica, E2E, e2e_ms, now);
	add(facts, by->instance, E2E, e2e_ms, now);
}

struct mean {
	double sum;
	uint32_t count;
};

static void include(struct facts *facts, const struct target *target, enum quantity quantity,
                    usec_t now, struct mean *mean)
{
	double value;

	if (!average_plain(average_of(facts, target->id, quantity), now, &value))
		return;
	mean->sum += value;
	mean->count++;
}

/* What the other replicas of the instance take, or the other instances; 0 when
 * nothing is known of them. */
static double mean_of_others(struct facts *facts, const struct serving *by, bool replicas,
                             enum quantity quantity, usec_t now)
{
	struct mean mean = { 0 };

	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++) {
		const struct instance *instance = fleet_instance_at(facts->fleet, i);
		bool own = instance->target->id == by->instance;

		if (!replicas && !own)
			include(facts, instance->target, quantity, now, &mean);
		for (uint32_t j = 0; replicas && own && j < instance->replica_count; j++)
			if (instance->replicas[j].target->id != by->replica)
				include(facts, instance->replicas[j].target, quantity, now, &mean);
	}
	return mean.count > 0 ? mean.sum / mean.count : 0;
}

static double charged(double elapsed_ms, double others_ms)
{
	return 2 * (elapsed_ms > others_ms ? elapsed_ms : others_ms);
}

static void charge(struct facts *facts, const struct serving *by, enum quantity quantity,
                   double elapsed_ms, usec_t now)
{
	double replicas = mean_of_others(facts, by, true, quantity, now);
	double instances = mean_of_others(facts, by, false, quantity, now);

	add(facts, by->replica, quantity, charged(elapsed_ms, replicas), now);
	add(facts, by->instance, quantity, charged(elapsed_ms, instances), now);
}

void learn_failure(struct facts *facts, const struct serving *by, double elapsed_ms, bool ttft,
                   usec_t now)
{
	if (ttft)
		charge(facts, by, TTFT, elapsed_ms, now);
	charge(facts, by, E2E, elapsed_ms, now);
}

/* The decision bound the prompt to the replica it chose, or to the instance when
 * it chose none. */
static uint32_t bound_to(const struct flight *flight)
{
	return flight->chosen != TARGET_NONE ? flight->chosen : flight->instance;
}

static void confirm(struct facts *facts, const struct flight *flight, uint32_t holder, usec_t now)
{
	const struct share *share = facts->share;

	if (holder == TARGET_NONE)
		return;
	prefix_index_confirm(facts->prefix, holder, flight->chain, flight->blocks,
	                     &facts->policy->ladder, now);
	if (share)
		share->calls->bound(share->data, holder, flight->chain, flight->blocks,
		                    &facts->policy->ladder);
}

static void withdraw(struct facts *facts, const struct flight *flight, uint32_t holder)
{
	if (flight->blocks > 0 && holder != TARGET_NONE)
		prefix_index_withdraw(facts->prefix, holder, flight->chain, flight->blocks);
}

void learn_binding(struct facts *facts, const struct flight *flight, const struct serving *by,
                   usec_t now)
{
	uint32_t bound = bound_to(flight);

	if (flight->blocks == 0 || by->replica == TARGET_NONE)
		return;
	confirm(facts, flight, by->replica, now);
	confirm(facts, flight, flight->prefill, now);
	if (flight->chosen == TARGET_NONE || flight->stored)
		confirm(facts, flight, by->instance, now);
	if (bound != by->replica && bound != by->instance)
		withdraw(facts, flight, bound);
}

void learn_no_binding(struct facts *facts, const struct flight *flight)
{
	withdraw(facts, flight, bound_to(flight));
	if (flight->stored)
		withdraw(facts, flight, flight->instance);
	withdraw(facts, flight, flight->prefill);
}

void learn_lost_binding(struct facts *facts, const struct flight *flight, uint32_t holder)
{
	const struct share *share = facts->share;

	if (flight->blocks == 0 || holder == TARGET_NONE)
		return;
	(void)prefix_index_evict(facts->prefix, holder, flight->chain, flight->blocks);
	if (share)
		share->calls->evicted(share->data, holder, flight->chain, flight->blocks,
		                      &facts->policy->ladder);
}
