/* metrics_replicas.c - how things stand: instances, replicas, the prefix index. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/metrics_each.h"
#include "spoa/admin/sources.h"

static void plain(struct page *page, double value)
{
	page_sample(page, NULL, value);
}

static bool read_inflight_of(const struct sources *sources, const struct instance *instance,
                             double *ret_value)
{
	*ret_value =
	        ledger_work(sources->facts->ledger, instance->target->id, sources->now).running;
	return true;
}

void metric_instance_inflight(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_inflight_of);
}

static bool read_ready_of(const struct sources *sources, const struct instance *instance,
                          double *ret_value)
{
	*ret_value = instance_sums(sources, instance).ready;
	return true;
}

void metric_instance_ready(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_ready_of);
}

static bool read_queued_of(const struct sources *sources, const struct instance *instance,
                           double *ret_value)
{
	*ret_value = instance_sums(sources, instance).queued;
	return *ret_value >= 0;
}

void metric_instance_queue(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_queued_of);
}

static bool read_saturation_of(const struct sources *sources, const struct instance *instance,
                               double *ret_value)
{
	*ret_value = instance_sums(sources, instance).saturation;
	return *ret_value >= 0;
}

void metric_instance_saturation(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_saturation_of);
}

static struct work work_of(const struct sources *sources, const struct replica *replica)
{
	return ledger_work(sources->facts->ledger, replica->target->id, sources->now);
}

static bool read_inflight(const struct sources *sources, const struct replica *replica,
                          double *ret_value)
{
	*ret_value = work_of(sources, replica).running;
	return true;
}

void metric_inflight(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_inflight);
}

static bool read_tokens(const struct sources *sources, const struct replica *replica,
                        double *ret_value)
{
	*ret_value = (double)work_of(sources, replica).resident_tokens;
	return true;
}

void metric_inflight_tokens(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_tokens);
}

static bool read_prefill(const struct sources *sources, const struct replica *replica,
                         double *ret_value)
{
	*ret_value = (double)work_of(sources, replica).prefill_tokens;
	return true;
}

void metric_prefill_tokens(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_prefill);
}

static bool read_drift(const struct sources *sources, const struct replica *replica,
                       double *ret_value)
{
	*ret_value = ledger_drift(sources->facts->ledger, replica->target->id);
	return true;
}

void metric_drift(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_drift);
}

static bool read_peers(const struct sources *sources, const struct replica *replica,
                       double *ret_value)
{
	*ret_value = (double)peers_work(sources->facts->peers, replica->target->id).running;
	return true;
}

void metric_peers_requests(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_peers);
}

static void states_of(struct page *page, const char *const names[2], enum replica_state now)
{
	for (int state = 0; state < REPLICA_STATE_COUNT; state++) {
		const char *labels[] = { names[0], names[1], replica_state_names[state] };

		page_sample(page, labels, (int)now == state);
	}
}

void metric_replica_state(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];
			const char *names[] = { instance->name,
				                replica_label(fleet, instance, replica) };

			states_of(page, names, replica_state(sources, replica));
		}
	}
}

static bool read_ttft(const struct sources *sources, const struct replica *replica,
                      double *ret_value)
{
	struct latency *latency = averages_of(sources->facts->averages, replica->target->id);
	double ms;

	if (!average_plain(&latency->ttft_ms, sources->now, &ms))
		return false;
	*ret_value = ms / 1000;
	return true;
}

void metric_ttft_average(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_ttft);
}

static bool read_e2e(const struct sources *sources, const struct replica *replica,
                     double *ret_value)
{
	struct latency *latency = averages_of(sources->facts->averages, replica->target->id);
	double ms;

	if (!average_plain(&latency->e2e_ms, sources->now, &ms))
		return false;
	*ret_value = ms / 1000;
	return true;
}

void metric_e2e_average(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_e2e);
}

static bool read_check_weight(const struct sources *sources, const struct replica *replica,
                              double *ret_value)
{
	const struct agent_counters *agent = &sources->agent;

	if (!agent->check_weight)
		return false;
	*ret_value = agent->check_weight(agent->check_weights, replica->target->id);
	return *ret_value > 0;
}

void metric_check_weight(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_check_weight);
}

static bool read_held(const struct sources *sources, const struct replica *replica,
                      double *ret_value)
{
	*ret_value = prefix_index_held(sources->facts->prefix, replica->target->id);
	return true;
}

void metric_prefix_held(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_held);
}

void metric_prefix_records(struct page *page, const struct sources *sources)
{
	plain(page, prefix_index_counts(sources->facts->prefix).records);
}

void metric_prefix_capacity(struct page *page, const struct sources *sources)
{
	plain(page, prefix_index_capacity(sources->facts->prefix));
}

void metric_prefix_bytes(struct page *page, const struct sources *sources)
{
	plain(page, 32.0 * prefix_index_capacity(sources->facts->prefix));
}

void metric_prefix_evicted(struct page *page, const struct sources *sources)
{
	struct prefix_counts counts = prefix_index_counts(sources->facts->prefix);
	const struct {
		const char *cause;
		uint64_t count;
	} causes[] = { { "budget", counts.evicted_budget },
		       { "full", counts.evicted_full },
		       { "ttl", counts.evicted_expired },
		       { "error", counts.evicted_failed },
		       { "gone", counts.evicted_holder } };

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		page_sample(page, &causes[i].cause, (double)causes[i].count);
}
