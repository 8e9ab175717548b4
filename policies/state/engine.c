/* engine.c - the last page of each engine, and what we did since. */
#include "policies/state/engine.h"

#include <stdlib.h>

#include "policies/core/bug.h"

struct record {
	struct engine_page page;
	uint64_t acquired, first_bytes;
	usec_t queue_at; /* 0 = never */
	uint32_t queued;
};

struct engines {
	uint32_t targets;
	struct record *of;
};

struct engines *engines_new(uint32_t targets)
{
	struct engines *engines = calloc(1, sizeof(*engines));

	BUG_ON(targets == 0);
	if (!engines)
		return NULL;
	engines->targets = targets;
	engines->of = calloc(targets, sizeof(*engines->of));
	if (!engines->of) {
		engines_free(engines);
		return NULL;
	}
	return engines;
}

void engines_free(struct engines *engines)
{
	if (!engines)
		return;
	free(engines->of);
	free(engines);
}

static struct record *record_of(const struct engines *engines, uint32_t target)
{
	BUG_ON(target >= engines->targets);
	return &engines->of[target];
}

static bool is_fresh(usec_t at, usec_t now, usec_t max_age)
{
	return at != 0 && (max_age == 0 || now <= at || now - at <= max_age);
}

void engines_put(struct engines *engines, uint32_t target, const struct engine_page *page)
{
	record_of(engines, target)->page = *page;
}

const struct engine_page *engines_page(const struct engines *engines, uint32_t target, usec_t now,
                                       usec_t max_age)
{
	const struct engine_page *page = &record_of(engines, target)->page;

	return is_fresh(page->at, now, max_age) ? page : NULL;
}

void engines_put_queue(struct engines *engines, uint32_t target, uint32_t queued, usec_t now)
{
	struct record *record = record_of(engines, target);

	record->queued = queued;
	record->queue_at = now;
}

bool engines_queue(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                   double *ret_queued)
{
	const struct record *record = record_of(engines, target);

	if (!is_fresh(record->queue_at, now, max_age))
		return false;
	*ret_queued = record->queued;
	return true;
}

void engines_count_acquired(struct engines *engines, uint32_t target)
{
	record_of(engines, target)->acquired++;
}

void engines_count_first_byte(struct engines *engines, uint32_t target)
{
	record_of(engines, target)->first_bytes++;
}

void engines_counts(const struct engines *engines, uint32_t target, uint64_t *ret_acquired,
                    uint64_t *ret_first_bytes)
{
	const struct record *record = record_of(engines, target);

	*ret_acquired = record->acquired;
	*ret_first_bytes = record->first_bytes;
}

void engines_forget(struct engines *engines, uint32_t target)
{
	*record_of(engines, target) = (struct record){ 0 };
}
