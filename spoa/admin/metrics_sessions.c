/* metrics_sessions.c - sessions: how they were found, where they moved, what was forgotten. */
#include "spoa/admin/metrics.h"
#include "spoa/admin/sources.h"
#include "spoa/admin/state.h"

static void one(struct page *page, const char *label, uint64_t value)
{
	page_sample(page, &label, (double)value);
}

void metric_sessions(struct page *page, const struct sources *sources)
{
	page_sample(page, NULL, pins_count(sources->facts->sessions));
}

void metric_session_lookups(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	for (int i = SESSION_NONE + 1; i < SESSION_RESULT_COUNT; i++)
		one(page, session_result_name((enum session_result)i), counters->sessions[i]);
}

void metric_sessions_spilled(struct page *page, const struct sources *sources)
{
	page_sample(page, NULL, (double)sources->facts->counters->sessions_spilled);
}

void metric_session_moves(struct page *page, const struct sources *sources)
{
	for (int i = 0; i < SESSION_MOVES; i++)
		one(page, session_move_names[i], sources->facts->counters->session_moves[i]);
}

void metric_sessions_dropped(struct page *page, const struct sources *sources)
{
	const struct pin_counts *counts = pins_counts(sources->facts->sessions);

	one(page, "expired", counts->expired);
	one(page, "evicted", counts->evicted);
	one(page, "gone", counts->forgotten);
}
