/* metrics_health.c - who was taken out of service, and how it was asked since. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/sources.h"

/* Rows of a closed set of ours; only those that ever happened. */
static void each_of(struct page *page, const char *const replica[2], const char *const *names,
                    const uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *labels[] = { replica[0], replica[1], names[i] };

		if (counts[i] > 0)
			page_sample(page, labels, (double)counts[i]);
	}
}

static void print_ejections(struct page *page, const char *const replica[2],
                            const struct target_counters *counters)
{
	each_of(page, replica, eject_cause_names, counters->ejections, EJECT_CAUSE_COUNT);
}

static void print_stalls(struct page *page, const char *const replica[2],
                         const struct target_counters *counters)
{
	page_sample(page, replica, (double)counters->stalls);
}

static void print_probes(struct page *page, const char *const replica[2],
                         const struct target_counters *counters)
{
	each_of(page, replica, probe_result_names, counters->probes, PROBE_RESULTS);
}

static void each_replica(struct page *page, const struct sources *sources,
                         void (*print)(struct page *page, const char *const replica[2],
                                       const struct target_counters *counters))
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];
			const char *labels[] = { instance->name,
				                 replica_label(fleet, instance, replica) };

			print(page, labels, &sources->facts->counters->of[replica->target->id]);
		}
	}
}

void metric_ejections(struct page *page, const struct sources *sources)
{
	each_replica(page, sources, print_ejections);
}

void metric_ejections_refused(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);
		const char *name = instance->name;

		page_sample(page, &name,
		            (double)sources->facts->counters->of[instance->target->id]
		                    .ejections_refused);
	}
}

void metric_stalls(struct page *page, const struct sources *sources)
{
	each_replica(page, sources, print_stalls);
}

void metric_probes(struct page *page, const struct sources *sources)
{
	each_replica(page, sources, print_probes);
}
