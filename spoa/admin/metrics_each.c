/* metrics_each.c - a line for each replica, or each instance. */
#include "spoa/admin/metrics_each.h"

/* One of the two reads it. */
static void each(struct page *page, const struct sources *sources, read_value *read,
                 read_member *read_of)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];
			const char *labels[] = { instance->name,
				                 replica_label(fleet, instance, replica) };
			double value;

			if (read ? read(sources, replica, &value)
			         : read_of(sources, instance, replica, &value))
				page_sample(page, labels, value);
		}
	}
}

void metrics_each_replica(struct page *page, const struct sources *sources, read_value *read)
{
	each(page, sources, read, NULL);
}

void metrics_each_member(struct page *page, const struct sources *sources, read_member *read)
{
	each(page, sources, NULL, read);
}

void metrics_each_instance(struct page *page, const struct sources *sources, read_instance *read)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);
		const char *name = instance->name;
		double value;

		if (read(sources, instance, &value))
			page_sample(page, &name, value);
	}
}
