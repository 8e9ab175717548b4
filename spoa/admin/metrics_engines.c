/* metrics_engines.c - what engines say of themselves, and what was learnt of them. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/metrics_each.h"

/* Any age will do: replica_value_age_seconds says how old it is. */
static const struct engine_page *page_of(const struct sources *sources,
                                         const struct replica *replica)
{
	return engines_page(sources->facts->engines, replica->target->id, sources->now, 0);
}

static bool known(double value, double *ret_value)
{
	if (value < 0)
		return false;
	*ret_value = value;
	return true;
}

static bool read_running(const struct sources *sources, const struct replica *replica,
                         double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && known(page->running, ret_value);
}

void metric_engine_running(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_running);
}

static bool read_waiting(const struct sources *sources, const struct replica *replica,
                         double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && known(page->waiting, ret_value);
}

void metric_engine_waiting(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_waiting);
}

static bool read_kv_usage(const struct sources *sources, const struct replica *replica,
                          double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && known(page->kv_usage, ret_value);
}

void metric_engine_kv_usage(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_kv_usage);
}

static bool read_kv_tokens(const struct sources *sources, const struct replica *replica,
                           double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && known(page->kv_tokens, ret_value);
}

void metric_engine_kv_tokens(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_kv_tokens);
}

static bool read_hit_ratio(const struct sources *sources, const struct replica *replica,
                           double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && page->cache_queries > 0 &&
	       known(page->cache_hits / page->cache_queries, ret_value);
}

void metric_engine_hit_ratio(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_hit_ratio);
}

static bool read_actual(const struct sources *sources, const struct replica *replica,
                        double *ret_value)
{
	const struct engine_page *page = page_of(sources, replica);

	return page && known(page->cache_hits, ret_value);
}

void metric_prefix_actual(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_actual);
}

static bool read_queue(const struct sources *sources, const struct replica *replica,
                       double *ret_value)
{
	return engines_queue(sources->facts->engines, replica->target->id, sources->now, 0,
	                     ret_value);
}

void metric_haproxy_queue(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_queue);
}

void metric_value_age(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];
			const struct engine_page *from = page_of(sources, replica);
			const char *labels[] = { instance->name,
				                 replica_label(fleet, instance, replica), "page" };

			if (from)
				page_sample(page, labels, seconds_between(from->at, sources->now));
		}
	}
}

void metric_engine_info(struct page *page, const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			const struct replica *replica = &instance->replicas[k];
			const char *kind =
			        engines_kind(sources->facts->engines, replica->target->id);
			const char *labels[] = { instance->name,
				                 replica_label(fleet, instance, replica), kind };

			if (kind)
				page_sample(page, labels, 1);
		}
	}
}

static bool read_capacity(const struct sources *sources, const struct replica *replica,
                          double *ret_value)
{
	return rates_capacity(sources->facts->rates, replica->target->id, ret_value);
}

void metric_capacity(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_capacity);
}

static bool read_throughput(const struct sources *sources, const struct replica *replica,
                            double *ret_value)
{
	return rates_throughput(sources->facts->rates, replica->target->id, sources->now, 0,
	                        ret_value);
}

void metric_throughput(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_throughput);
}

static bool read_tpot(const struct sources *sources, const struct replica *replica,
                      double *ret_value)
{
	double ms;

	if (!rates_tpot(sources->facts->rates, replica->target->id, sources->now, &ms))
		return false;
	*ret_value = ms / 1e3;
	return true;
}

void metric_tpot(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_tpot);
}

/* Learnt of it, or lent by the others of the instance; the default is no measure. */
static bool line_of(const struct sources *sources, const struct instance *instance,
                    const struct replica *replica, struct ttft_line *ret_line)
{
	*ret_line = ttft_fit_line(sources->facts->ttft_fits, instance, replica->target->id);
	return ret_line->trusted;
}

static bool read_prefill_rate(const struct sources *sources, const struct instance *instance,
                              const struct replica *replica, double *ret_value)
{
	struct ttft_line line;

	if (!line_of(sources, instance, replica, &line))
		return false;
	*ret_value = ttft_line_prefill_rate(line);
	return true;
}

void metric_prefill_rate(struct page *page, const struct sources *sources)
{
	metrics_each_member(page, sources, read_prefill_rate);
}

static bool read_ttft_base(const struct sources *sources, const struct instance *instance,
                           const struct replica *replica, double *ret_value)
{
	struct ttft_line line;

	if (!line_of(sources, instance, replica, &line))
		return false;
	*ret_value = line.base;
	return true;
}

void metric_ttft_base(struct page *page, const struct sources *sources)
{
	metrics_each_member(page, sources, read_ttft_base);
}

static bool read_ttft_error(const struct sources *sources, const struct replica *replica,
                            double *ret_value)
{
	*ret_value = sources->facts->counters->of[replica->target->id].ttft_error;
	return true;
}

void metric_ttft_error(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_ttft_error);
}

static bool read_ttft_predictions(const struct sources *sources, const struct replica *replica,
                                  double *ret_value)
{
	*ret_value = (double)sources->facts->counters->of[replica->target->id].ttft_predictions;
	return true;
}

void metric_ttft_predictions(struct page *page, const struct sources *sources)
{
	metrics_each_replica(page, sources, read_ttft_predictions);
}

static bool read_output_tokens(const struct sources *sources, const struct instance *instance,
                               double *ret_value)
{
	return answers_tokens(sources->facts->answers, instance->target->id, sources->now,
	                      ret_value);
}

void metric_output_tokens(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_output_tokens);
}

static bool read_token_bytes(const struct sources *sources, const struct instance *instance,
                             double *ret_value)
{
	return answers_bytes_per_token(sources->facts->answers, instance->target->id, ret_value);
}

void metric_token_bytes(struct page *page, const struct sources *sources)
{
	metrics_each_instance(page, sources, read_token_bytes);
}
