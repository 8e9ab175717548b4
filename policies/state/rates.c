/* rates.c - the last page of each engine, and what the growth since it says. */
#include "policies/state/rates.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"
#include "policies/state/average.h"
#include "policies/state/capacity.h"

static const double smooth_s = 60;     /* of the throughput */
static const double prompt_weight = 2; /* of a prompt token in it */
static const usec_t tpot_tau = 30 * SECOND;
static const double tpot_known_s = 60;

struct speed {
	bool known;
	double per_s;
};

struct record {
	struct engine_page last; /* at 0: none yet */
	struct capacity capacity;
	struct speed prompt, generation;
	struct average tpot_ms;
};

struct rates {
	uint32_t targets;
	struct record *of;
};

struct rates *rates_new(uint32_t targets)
{
	struct rates *rates = calloc(1, sizeof(*rates));

	BUG_ON(targets == 0);
	if (!rates)
		return NULL;
	rates->targets = targets;
	rates->of = calloc(targets, sizeof(*rates->of));
	if (!rates->of) {
		rates_free(rates);
		return NULL;
	}
	return rates;
}

void rates_free(struct rates *rates)
{
	if (!rates)
		return;
	free(rates->of);
	free(rates);
}

static struct record *record_of(const struct rates *rates, uint32_t target)
{
	BUG_ON(target >= rates->targets);
	return &rates->of[target];
}

static void speed_add(struct speed *speed, double grown, double seconds)
{
	if (grown < 0)
		speed->known = false;
	else if (speed->known)
		speed->per_s += (grown / seconds - speed->per_s) * (1 - exp(-seconds / smooth_s));
	else
		*speed = (struct speed){ true, grown / seconds };
}

/* Negative where one of the pages does not say. */
static double grown(double before, double now)
{
	return before >= 0 && now >= 0 ? now - before : -1;
}

/* A counter is less than it was. */
static bool went_back(const struct engine_page *before, const struct engine_page *page)
{
	const double counters[][2] = {
		{ before->prompt_tokens, page->prompt_tokens },
		{ before->generation_tokens, page->generation_tokens },
		{ before->finished, page->finished },
		{ before->token_gaps, page->token_gaps },
		{ before->cache_queries, page->cache_queries },
		{ before->cache_hits, page->cache_hits },
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (counters[i][1] >= 0 && counters[i][1] < counters[i][0])
			return true;
	return false;
}

static void learn(struct record *record, const struct engine_page *page, struct growth *growth)
{
	const struct engine_page *last = &record->last;
	double seconds = seconds_between(last->at, page->at);
	double token_seconds = grown(last->token_seconds, page->token_seconds);
	double gaps = grown(last->token_gaps, page->token_gaps);

	growth->seconds = seconds;
	growth->generated = grown(last->generation_tokens, page->generation_tokens);
	growth->finished = grown(last->finished, page->finished);
	speed_add(&record->prompt, grown(last->prompt_tokens, page->prompt_tokens), seconds);
	speed_add(&record->generation, growth->generated, seconds);
	if (gaps > 0 && token_seconds >= 0)
		average_add_many(&record->tpot_ms, 1e3 * token_seconds / gaps, gaps, tpot_tau,
		                 page->at);
	if (growth->generated >= 0 && last->running >= 0 && page->running >= 0)
		capacity_add(&record->capacity, growth->generated / seconds,
		             (last->running + page->running) / 2, seconds);
}

enum rates_news rates_learn(struct rates *rates, uint32_t target, const struct engine_page *page,
                            struct growth *ret_growth)
{
	struct record *record = record_of(rates, target);
	bool restarted = record->last.at != 0 && went_back(&record->last, page);

	if (record->last.at == 0 || restarted) {
		*record = (struct record){ .last = *page };
		return restarted ? RATES_RESTARTED : RATES_FIRST;
	}
	if (page->at <= record->last.at)
		return RATES_FIRST;
	learn(record, page, ret_growth);
	record->last = *page;
	return RATES_GREW;
}

void rates_forget(struct rates *rates, uint32_t target)
{
	*record_of(rates, target) = (struct record){ 0 };
}

bool rates_capacity(const struct rates *rates, uint32_t target, double *ret_tokens_per_s)
{
	return capacity_shown(&record_of(rates, target)->capacity, ret_tokens_per_s);
}

bool rates_tpot(const struct rates *rates, uint32_t target, usec_t now, double *ret_ms)
{
	const struct average *average = &record_of(rates, target)->tpot_ms;

	if (seconds_between(average->at, now) > tpot_known_s)
		return false;
	return average_plain(average, now, ret_ms);
}

bool rates_throughput(const struct rates *rates, uint32_t target, usec_t now, usec_t max_age,
                      double *ret_tokens_per_s)
{
	const struct record *record = record_of(rates, target);

	if (!record->prompt.known || !record->generation.known)
		return false;
	if (max_age != 0 && now > record->last.at && now - record->last.at > max_age)
		return false;
	*ret_tokens_per_s = prompt_weight * record->prompt.per_s + record->generation.per_s;
	return true;
}
