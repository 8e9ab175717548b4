/* metrics_store.c - the store by which agents share; no lines where there is none. */
#include "redis/store.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/sources.h"

static void plain(struct page *page, double value)
{
	page_sample(page, NULL, value);
}

static void one(struct page *page, const char *label, uint64_t value)
{
	page_sample(page, &label, (double)value);
}

void metric_store_up(struct page *page, const struct sources *sources)
{
	if (sources->store) {
		struct store_view view = store_view(sources->store);

		plain(page, view.tells.up && view.follows.up);
	}
}

void metric_store_lag(struct page *page, const struct sources *sources)
{
	if (sources->store) {
		struct store_view view = store_view(sources->store);

		if (view.follower.lag_known)
			plain(page, view.follower.lag_s);
	}
}

void metric_store_warmup(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, store_view(sources->store).follower.warmed);
}

void metric_store_peers(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, peers_count(sources->facts->peers));
}

void metric_store_peers_lost(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, (double)store_view(sources->store).peers_lost);
}

void metric_store_queue(struct page *page, const struct sources *sources)
{
	if (sources->store) {
		struct store_view view = store_view(sources->store);

		plain(page, (double)view.waiting[KEYS_LIVE] + view.waiting[KEYS_KEPT]);
	}
}

void metric_store_again(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, (double)store_view(sources->store).outbox.again);
}

void metric_store_dropped(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, (double)store_view(sources->store).outbox.dropped);
}

/* Most commands end well, and most faults never happen: what did not has no line. */
void metric_store_ops(struct page *page, const struct sources *sources)
{
	const struct ops *ops = sources->store ? store_view(sources->store).ops : NULL;

	for (int i = 0; ops && i < OP_COUNT; i++) {
		for (int j = 0; j < REDIS_RESULT_COUNT; j++) {
			const char *values[] = { op_labels[i],
				                 redis_result_label((enum redis_result)j) };

			if (ops->results[i][j] > 0 || j == REDIS_RESULT_OK)
				page_sample(page, values, (double)ops->results[i][j]);
		}
	}
}

void metric_store_op_time(struct page *page, const struct sources *sources)
{
	const struct ops *ops = sources->store ? store_view(sources->store).ops : NULL;

	for (int i = 0; ops && i < OP_COUNT; i++) {
		const char *label = op_labels[i];

		if (i != OP_READ)
			page_histogram(page, &label, &ops->took[i], &bounds_store_op);
	}
}

void metric_store_faults(struct page *page, const struct sources *sources)
{
	struct store_view view;

	if (!sources->store)
		return;
	view = store_view(sources->store);
	for (int i = 0; i < REDIS_FAULT_COUNT; i++) {
		uint64_t count = view.tells.counters->faults[i] + view.follows.counters->faults[i];

		if (count > 0)
			one(page, redis_fault_label((enum redis_fault)i), count);
	}
}

void metric_store_bytes(struct page *page, const struct sources *sources)
{
	struct store_view view;

	if (!sources->store)
		return;
	view = store_view(sources->store);
	one(page, "in", view.tells.counters->bytes_in + view.follows.counters->bytes_in);
	one(page, "out", view.tells.counters->bytes_out + view.follows.counters->bytes_out);
}

static void two(struct page *page, const char *kind, const char *result, uint64_t value)
{
	const char *values[] = { kind, result };

	page_sample(page, values, (double)value);
}

void metric_store_entries(struct page *page, const struct sources *sources)
{
	const struct apply_counts *counts =
	        sources->store ? store_view(sources->store).applied : NULL;

	if (!counts)
		return;
	for (int i = 0; i < WIRE_KIND_COUNT; i++) {
		if (!wire_kind_names[i])
			continue;
		two(page, wire_kind_names[i], "taken", counts->taken[i]);
		two(page, wire_kind_names[i], "left", counts->left[i]);
	}
	two(page, "any", "stranger", counts->strangers);
	two(page, "any", "unknown", counts->unknown);
	two(page, "any", "malformed", counts->malformed);
}

void metric_store_batches(struct page *page, const struct sources *sources)
{
	const struct apply_counts *counts =
	        sources->store ? store_view(sources->store).applied : NULL;

	if (!counts)
		return;
	for (int i = 0; i < WIRE_RESULT_COUNT; i++)
		one(page, wire_result_labels[i], counts->batches[i]);
}

void metric_store_restarts(struct page *page, const struct sources *sources)
{
	if (sources->store)
		plain(page, (double)store_view(sources->store).follower.restarts);
}
