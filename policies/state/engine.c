/* engine.c - the last page of each engine, and what we did since. */
#include "policies/state/engine.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "policies/core/bug.h"

struct record {
	struct engine_page page;
	struct engine_loras loras;
	const char *kind;
	uint64_t acquired, first_bytes, acquired_tokens;
	usec_t queue_at; /* 0 = never */
	uint32_t queued;
};

struct engines {
	uint32_t targets;
	struct record *of;
};

struct engine_page engine_page_blank(usec_t at)
{
	struct engine_page page = { .at = at };

#define AS_UNKNOWN(id, member) page.member = -1;
	ENGINE_FIELDS(AS_UNKNOWN)
#undef AS_UNKNOWN
	return page;
}

uint64_t lora_id(struct span name)
{
	return XXH64(name.at, name.len, 0);
}

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

void engines_put_kind(struct engines *engines, uint32_t target, const char *kind)
{
	record_of(engines, target)->kind = kind;
}

const char *engines_kind(const struct engines *engines, uint32_t target)
{
	return record_of(engines, target)->kind;
}

void engines_put_loras(struct engines *engines, uint32_t target, const struct engine_loras *loras)
{
	record_of(engines, target)->loras = *loras;
}

const struct engine_loras *engines_loras(const struct engines *engines, uint32_t target, usec_t now,
                                         usec_t max_age)
{
	const struct engine_loras *loras = &record_of(engines, target)->loras;

	return is_fresh(loras->at, now, max_age) ? loras : NULL;
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

void engines_count_acquired(struct engines *engines, uint32_t target, uint32_t tokens)
{
	struct record *record = record_of(engines, target);

	record->acquired++;
	record->acquired_tokens += tokens;
}

void engines_count_first_byte(struct engines *engines, uint32_t target)
{
	record_of(engines, target)->first_bytes++;
}

void engines_counts(const struct engines *engines, uint32_t target, struct engine_page *page)
{
	const struct record *record = record_of(engines, target);

	page->acquired = record->acquired;
	page->acquired_tokens = record->acquired_tokens;
	page->first_bytes = record->first_bytes;
}

bool engines_pending(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                     double *ret_requests)
{
	const struct record *record = record_of(engines, target);
	const struct engine_page *page = engines_page(engines, target, now, max_age);
	double waiting = 0, queued = 0;
	bool known = page && page->waiting >= 0;

	if (known)
		waiting = page->waiting + (double)(record->acquired - page->acquired) -
		          (double)(record->first_bytes - page->first_bytes);
	if (!engines_queue(engines, target, now, max_age, &queued) && !known)
		return false;
	*ret_requests = (waiting > 0 ? waiting : 0) + queued;
	return true;
}

bool engines_kv_usage(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                      double *ret_ratio)
{
	const struct record *record = record_of(engines, target);
	const struct engine_page *page = engines_page(engines, target, now, max_age);
	double usage;

	if (!page || page->kv_usage < 0)
		return false;
	usage = page->kv_usage;
	if (page->kv_tokens > 0)
		usage +=
		        (double)(record->acquired_tokens - page->acquired_tokens) / page->kv_tokens;
	*ret_ratio = usage < 1 ? usage : 1;
	return true;
}

void engines_forget(struct engines *engines, uint32_t target)
{
	*record_of(engines, target) = (struct record){ 0 };
}
