/* metrics_each.c - a line for each replica, or each instance. */
#include "spoa/admin/metrics_each.h"

/* One of the three has it. */
struct each {
	read_value *read;
	read_member *read_of;
	print_replica *print;
};

static void one(struct page *page, const struct sources *sources, const struct each *each,
                const struct instance *instance, const struct replica *replica)
{
	const char *labels[] = { instance->name,
		                 replica_label(sources->facts->fleet, instance, replica) };
	double value;

	if (each->print)
		each->print(page, sources, replica, labels);
	else if (each->read ? each->read(sources, replica, &value)
	                    : each->read_of(sources, instance, replica, &value))
		page_sample(page, labels, value);
}

static void all(struct page *page, const struct sources *sources, const struct each *each)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++)
			one(page, sources, each, instance, &instance->replicas[k]);
	}
}

void metrics_each_replica(struct page *page, const struct sources *sources, read_value *read)
{
	all(page, sources, &(struct each){ .read = read });
}

void metrics_each_member(struct page *page, const struct sources *sources, read_member *read)
{
	all(page, sources, &(struct each){ .read_of = read });
}

void metrics_each_printed(struct page *page, const struct sources *sources, print_replica *print)
{
	all(page, sources, &(struct each){ .print = print });
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
