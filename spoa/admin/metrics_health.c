/* metrics_health.c - who was taken out of service, and how it was asked since. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/metrics_each.h"

static const struct target_counters *counters_of(const struct sources *sources,
                                                 const struct replica *replica)
{
	return &sources->facts->counters->of[replica->target->id];
}

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

static void print_ejections(struct page *page, const struct sources *sources,
                            const struct replica *replica, const char *const labels[2])
{
	each_of(page, labels, eject_cause_names, counters_of(sources, replica)->ejections,
	        EJECT_CAUSE_COUNT);
}

static void print_stalls(struct page *page, const struct sources *sources,
                         const struct replica *replica, const char *const labels[2])
{
	page_sample(page, labels, (double)counters_of(sources, replica)->stalls);
}

static void print_probes(struct page *page, const struct sources *sources,
                         const struct replica *replica, const char *const labels[2])
{
	each_of(page, labels, probe_result_names, counters_of(sources, replica)->probes,
	        PROBE_RESULTS);
}

void metric_ejections(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, print_ejections);
}

static bool read_refused(const struct sources *sources, const struct instance *instance,
                         double *ret_value)
{
	*ret_value = (double)sources->facts->counters->of[instance->target->id].ejections_refused;
	return true;
}

void metric_ejections_refused(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_refused);
}

void metric_stalls(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, print_stalls);
}

void metric_probes(struct page *page, const struct sources *sources)
{
	metrics_each_printed(page, sources, print_probes);
}
