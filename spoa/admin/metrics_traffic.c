/* metrics_traffic.c - what was served, by whom, and how it ended. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/metrics_each.h"
#include "spoa/admin/sources.h"

/* Histograms are long: with more replicas than this there is one for
 * each instance only. */
enum { HISTOGRAM_REPLICAS_MAX = 64 };

static const struct target_counters *counters_of(const struct sources *sources,
                                                 const struct target *target)
{
	return &sources->facts->counters->of[target->id];
}

static void responses_of(struct page *page, const struct sources *sources,
                         const struct replica *replica, const char *const labels[2])
{
	static const char *const classes[] = { "none", "1xx", "2xx", "3xx", "4xx", "5xx" };
	const struct target_counters *counters = counters_of(sources, replica->target);

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const char *values[] = { labels[0], labels[1], classes[i] };

		if (counters->responses[i] > 0)
			page_sample(page, values, (double)counters->responses[i]);
	}
}

void metric_responses(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, responses_of);
}

void metric_terminations(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (size_t k = 0; k < TERM_COUNT; k++) {
			const char *values[] = { instance->name, termination_names[k] };

			page_sample(
			        page, values,
			        (double)counters_of(sources, instance->target)->terminations[k]);
		}
	}
}

void metric_pin_overridden(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (size_t cause = 0; cause < PIN_CAUSES; cause++) {
			const char *values[] = { instance->name, pin_cause_names[cause] };
			uint64_t count = 0;

			for (uint32_t k = 0; k < instance->replica_count; k++)
				count += counters_of(sources, instance->replicas[k].target)
				                 ->pin_overridden[cause];
			page_sample(page, values, (double)count);
		}
	}
}

enum which { TTFT, E2E, QUEUE };

static const struct histogram *histogram_of(const struct sources *sources,
                                            const struct target *target, enum which which)
{
	const struct target_counters *counters = counters_of(sources, target);

	if (which == TTFT)
		return &counters->ttft;
	return which == E2E ? &counters->e2e : &counters->queue;
}

static uint32_t replicas_in_all(const struct fleet *fleet)
{
	uint32_t count = 0;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++)
		count += fleet_instance_at(fleet, i)->replica_count;
	return count;
}

static void histograms(struct page *page, const struct sources *sources, enum which which)
{
	const struct bounds *bounds = which == TTFT ? &bounds_ttft : &bounds_e2e;
	const struct fleet *fleet = sources->facts->fleet;
	bool each = replicas_in_all(fleet) <= HISTOGRAM_REPLICAS_MAX;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);
		const char *labels[] = { instance->name, NULL };

		if (!each)
			page_histogram(page, labels, histogram_of(sources, instance->target, which),
			               bounds);
		for (uint32_t k = 0; each && k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];

			labels[1] = replica_label(fleet, instance, replica);
			page_histogram(page, labels, histogram_of(sources, replica->target, which),
			               bounds);
		}
	}
}

void metric_ttft(struct page *page, const struct sources *sources)
{
	histograms(page, sources, TTFT);
}

void metric_e2e(struct page *page, const struct sources *sources)
{
	histograms(page, sources, E2E);
}

void metric_queue(struct page *page, const struct sources *sources)
{
	histograms(page, sources, QUEUE);
}

static void expired_of(struct page *page, const struct sources *sources,
                       const struct replica *replica, const char *const labels[2])
{
	uint32_t id = replica->target->id;

	/* Old buckets are dropped when somebody looks: so that both numbers agree. */
	(void)ledger_work(sources->facts->ledger, id, sources->now);
	page_sample(page, labels, (double)ledger_expired(sources->facts->ledger, id));
}

void metric_slots_expired(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, expired_of);
}

static void moved_of(struct page *page, const struct sources *sources,
                     const struct replica *replica, const char *const labels[2])
{
	page_sample(page, labels, (double)counters_of(sources, replica->target)->moved);
}

void metric_slots_moved(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, moved_of);
}

void metric_slots_released(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t source = 0; source < RELEASE_SOURCES; source++) {
		uint64_t count = 0;

		for (uint32_t id = 0; id < fleet_targets_max(fleet); id++) {
			const struct target *target = fleet_target(fleet, id);

			if (target && target->kind == TARGET_REPLICA)
				count += counters_of(sources, target)->released[source];
		}
		page_sample(page, &release_source_names[source], (double)count);
	}
}

void metric_prefix_lookups(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);
		const struct target_counters *counters = counters_of(sources, instance->target);

		page_sample(page, (const char *[]){ instance->name, "hit" },
		            (double)counters->prefix_hits);
		page_sample(page, (const char *[]){ instance->name, "partial" },
		            (double)counters->prefix_partial);
		page_sample(page, (const char *[]){ instance->name, "miss" },
		            (double)counters->prefix_misses);
		page_sample(page, (const char *[]){ instance->name, "none" },
		            (double)counters->prefix_none);
	}
}

static bool read_predicted_of(const struct sources *sources, const struct instance *instance,
                              double *ret_value)
{
	*ret_value = (double)counters_of(sources, instance->target)->predicted_tokens;
	return true;
}

void metric_prefix_predicted(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_predicted_of);
}
