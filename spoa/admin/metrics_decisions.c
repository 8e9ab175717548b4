/* metrics_decisions.c - what was decided, and what HAProxy said of it. */
#include <stdio.h>

#include "policies/strategies.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/sources.h"

static void one(struct page *page, const char *label, double value)
{
	page_sample(page, &label, value);
}

static void plain(struct page *page, double value)
{
	page_sample(page, NULL, value);
}

/* A reason that never was the reason has no line: which of them can be depends on
 * the metric, and the set is closed. */
static void by_reason(struct page *page, const char *instance, const uint64_t counts[REASON_COUNT])
{
	for (int i = 0; i < REASON_COUNT; i++) {
		const char *reason = reason_name((enum reason)i);
		const char *values[] = { instance, reason };

		if (counts[i] > 0)
			page_sample(page, instance ? values : &reason, (double)counts[i]);
	}
}

void metric_decisions(struct page *page, const struct sources *sources)
{
	const struct facts *facts = sources->facts;

	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++) {
		const struct instance *instance = fleet_instance_at(facts->fleet, i);

		by_reason(page, instance->name,
		          facts->counters->of[instance->target->id].decisions);
	}
}

void metric_decision_time(struct page *page, const struct sources *sources)
{
	page_histogram(page, NULL, &sources->facts->counters->decision_seconds, &bounds_decision);
}

void metric_unanswered(struct page *page, const struct sources *sources)
{
	by_reason(page, NULL, sources->facts->counters->unanswered);
}

void metric_rejected(struct page *page, const struct sources *sources)
{
	by_reason(page, NULL, sources->facts->counters->rejected);
}

void metric_limited(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	for (int of = 0; of < LIMIT_SUBJECTS; of++) {
		for (int kind = 0; kind < LIMIT_KINDS; kind++) {
			const char *values[] = { limit_of_names[of], limit_kind_names[kind] };

			if (counters->limited[of][kind] > 0)
				page_sample(page, values, (double)counters->limited[of][kind]);
		}
	}
}

void metric_limit_keys(struct page *page, const struct sources *sources)
{
	plain(page, limits_count(sources->facts->limits));
}

void metric_limits_full(struct page *page, const struct sources *sources)
{
	plain(page, (double)limits_full(sources->facts->limits));
}

void metric_tenants(struct page *page, const struct sources *sources)
{
	plain(page, tenants_count(sources->facts->tenants));
}

void metric_dropped(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	for (int level = 0; level < 2; level++) {
		for (size_t i = 0; i < WALK_STAGES_MAX && sources->stages.at(i); i++) {
			const char *values[] = { level == 0 ? "instance" : "replica",
				                 sources->stages.name(sources->stages.at(i)) };

			if (counters->dropped[level][i] > 0)
				page_sample(page, values, (double)counters->dropped[level][i]);
		}
	}
}

void metric_chain_miss(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->chain_miss);
}

void metric_fail_open(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->fail_open);
}

void metric_degraded(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	for (size_t i = 0; i <= STRATEGY_ROWS_MAX; i++) {
		if (counters->degraded_by[i] > 0)
			one(page, i < STRATEGY_ROWS_MAX ? strategy_at(i)->name : "other",
			    (double)counters->degraded_by[i]);
	}
}

void metric_asked(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	one(page, "taken", (double)counters->asked[ASKED_TAKEN]);
	one(page, "locked", (double)counters->asked[ASKED_LOCKED]);
	one(page, "unknown", (double)counters->asked[ASKED_UNKNOWN]);
}

void metric_pairs(struct page *page, const struct sources *sources)
{
	for (size_t kind = 0; kind < PAIR_KINDS; kind++)
		one(page, pair_kind_names[kind], (double)sources->facts->counters->pairs[kind]);
}

void metric_ignored(struct page *page, const struct sources *sources)
{
	one(page, "contract", (double)sources->facts->counters->bad_contract);
	one(page, "ladder", (double)sources->facts->counters->foreign_ladder);
	one(page, "priority", (double)sources->facts->counters->unknown_class);
}

void metric_late_answers(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->late_answers);
}

void metric_without_slot(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->without_slot);
}

void metric_inflight_open(struct page *page, const struct sources *sources)
{
	plain(page, inflight_count(sources->facts->inflight));
}

void metric_inflight_capacity(struct page *page, const struct sources *sources)
{
	plain(page, inflight_capacity(sources->facts->inflight));
}

void metric_first_bytes(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	one(page, "ok", (double)(counters->first_bytes - counters->first_bytes_unknown));
	one(page, "unknown-id", (double)counters->first_bytes_unknown);
}

void metric_log_lines(struct page *page, const struct sources *sources)
{
	const struct counters *counters = sources->facts->counters;

	one(page, "ok",
	    (double)(counters->ends - counters->ends_unknown - counters->ends_duplicate));
	one(page, "unknown-id", (double)counters->ends_unknown);
	one(page, "duplicate", (double)counters->ends_duplicate);
	one(page, "bad", (double)sources->agent.log_bad);
	one(page, "foreign", (double)sources->agent.log_foreign);
	one(page, "cut", (double)sources->agent.log_cut);
}

void metric_log_lost(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.log_lost);
}

void metric_adopted(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->adopted);
}

void metric_early_ends(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->facts->counters->ended_before_decision);
}
