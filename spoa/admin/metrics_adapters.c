/* metrics_adapters.c - requests for LoRA adapters. Without adapters there are no lines. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/metrics_each.h"

static bool read_requests(const struct sources *sources, const struct replica *replica,
                          double *ret_value)
{
	*ret_value = (double)sources->facts->counters->of[replica->target->id].adapter_requests;
	return fleet_has_adapters(sources->facts->fleet) || *ret_value > 0;
}

void metric_adapter_requests(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_requests);
}

static bool read_loads(const struct sources *sources, const struct replica *replica,
                       double *ret_value)
{
	*ret_value = (double)sources->facts->counters->of[replica->target->id].adapter_loads;
	return fleet_has_adapters(sources->facts->fleet) || *ret_value > 0;
}

void metric_adapter_loads(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_loads);
}

static bool known(double value, double *ret_value)
{
	if (value < 0)
		return false;
	*ret_value = value;
	return true;
}

static bool read_slots(const struct sources *sources, const struct replica *replica,
                       double *ret_value)
{
	const struct engine_page *page =
	        engines_page(sources->facts->engines, replica->target->id, sources->now, 0);

	return page && known(page->lora_slots, ret_value);
}

void metric_adapter_slots(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_slots);
}

static bool read_used(const struct sources *sources, const struct replica *replica,
                      double *ret_value)
{
	const struct engine_page *page =
	        engines_page(sources->facts->engines, replica->target->id, sources->now, 0);

	return page && known(page->lora_used, ret_value);
}

void metric_adapter_slots_used(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_used);
}

void metric_adapters(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;
	double count = 0;

	for (uint32_t id = 1; id <= fleet_model_count(fleet); id++)
		count += fleet_adapter(fleet, id) != 0;
	page_sample(page, NULL, count);
}

void metric_adapters_spilled(struct page *page, const struct sources *sources)
{
	page_sample(page, NULL, (double)sources->facts->counters->adapters_spilled);
}

void metric_adapters_uncounted(struct page *page, const struct sources *sources)
{
	page_sample(page, NULL, (double)sources->facts->counters->adapters_uncounted);
}
