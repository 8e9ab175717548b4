/* limits.c - one record for each who is limited: its arrival times and its open requests.
 *
 * A record that is idle - nothing used that is not there again, nothing open - says no
 * more than no record at all. So a newcomer takes the place of one that is idle, looked
 * for a few steps on from where the last one was found. */
#include "policies/state/limits.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/state/limits_parts.h"
#include "policies/state/lookup.h"

static const double rounding = 1e-9;

struct limit_table *limits_new(uint32_t capacity)
{
	struct limit_table *limits;
	uint32_t size = 1;

	BUG_ON(capacity == 0 || capacity > 1u << 24);
	while (size < capacity)
		size *= 2;
	limits = calloc(1, sizeof(*limits));
	if (!limits)
		return NULL;
	limits->capacity = capacity;
	limits->mask = size - 1;
	limits->heads = calloc(size, sizeof(*limits->heads));
	limits->records = calloc(capacity, sizeof(*limits->records));
	limits->others = calloc(LIMIT_OTHERS, sizeof(*limits->others));
	if (!limits->heads || !limits->records || !limits->others) {
		limits_free(limits);
		return NULL;
	}
	limits->first_untold = limits->last_untold = NOBODY;
	memset(limits->heads, 0xff, size * sizeof(*limits->heads));
	return limits;
}

void limits_free(struct limit_table *limits)
{
	if (!limits)
		return;
	free(limits->others);
	free(limits->records);
	free(limits->heads);
	free(limits);
}

uint64_t limits_key(enum limit_of of, struct span tenant, struct span model)
{
	uint64_t key = 1 + (uint64_t)of;

	if (of != LIMIT_OF_MODEL)
		key = lookup_hash(tenant, key);
	if (of != LIMIT_OF_TENANT)
		key = lookup_hash(model, key);
	return key | 1;
}

struct cell limits_cell(const struct quota *quota, enum limit_kind unit)
{
	const struct rate *rate = unit == LIMIT_REQUESTS ? &quota->requests : &quota->tokens;
	double burst = unit == LIMIT_REQUESTS ? quota->requests_burst : quota->tokens_burst;

	if (rate->per_second <= 0)
		return (struct cell){ 0 };
	if (burst <= 0)
		burst = rate->per_second * (rate->period_s > 1 ? 10 : 1);
	return (struct cell){ .interval = 1 / rate->per_second, .burst = burst < 1 ? 1 : burst };
}

static double ask_of(const struct limit_check *check, enum limit_kind unit)
{
	return unit == LIMIT_REQUESTS ? 1 : check->tokens;
}

/* Larger than the burst: it pays that now, the rest when it is settled. */
static double at_once(const struct cell *cell, double ask)
{
	return ask < cell->burst ? ask : cell->burst;
}

static double seconds_of(usec_t now)
{
	return (double)now / 1e6;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* The arrival time after this ask. */
static double after(double arrival, const struct cell *cell, double ask, double now)
{
	return larger(arrival, now) + at_once(cell, ask) * cell->interval;
}

uint32_t limits_find(const struct limit_table *limits, uint64_t key)
{
	uint32_t at = limits->heads[key >> 1 & limits->mask];

	while (at != NOBODY && limits->records[at].key != key)
		at = limits->records[at].next;
	return at;
}

/* That it refuses is noted, if it is the one to wait for longest. */
static void refuse(struct limit_check *check, enum limit_kind kind, enum limit_of of, double wait_s)
{
	if (check->refused != LIMIT_NONE && check->wait_s >= wait_s)
		return;
	check->refused = kind;
	check->of = of;
	check->wait_s = wait_s;
}

static void ask_one(const struct limit_table *limits, const struct limit_subject *subject,
                    struct limit_check *check, double now)
{
	uint32_t at = limits_find(limits, subject->key);
	const struct record *record = at == NOBODY ? NULL : &limits->records[at];

	for (enum limit_kind unit = 0; unit < LIMIT_UNITS; unit++) {
		struct cell cell = limits_cell(subject->quota, unit);
		double wait_s;

		if (cell.interval <= 0)
			continue;
		wait_s =
		        after(record ? record->arrival[unit] : 0, &cell, ask_of(check, unit), now) -
		        cell.burst * cell.interval - now;
		if (wait_s > rounding)
			refuse(check, unit, subject->of, wait_s);
	}
	if (subject->quota->max_inflight > 0 && record &&
	    record->inflight + record->others_inflight >= subject->quota->max_inflight)
		refuse(check, LIMIT_INFLIGHT, subject->of, 0);
}

void limits_set_away(struct limit_table *limits, bool away)
{
	limits->away = away;
}

void limits_ask(const struct limit_table *limits, struct limit_check *check, usec_t now)
{
	check->asked = true;
	check->refused = LIMIT_NONE;
	check->wait_s = 0;
	if (limits->away && check->count > 0) {
		refuse(check, LIMIT_STORE, check->subjects[0].of, 1);
		return;
	}
	for (uint32_t i = 0; i < check->count; i++)
		ask_one(limits, &check->subjects[i], check, seconds_of(now));
}

static bool is_idle(const struct record *record, double now)
{
	for (size_t i = 0; i < LIMIT_UNITS; i++) {
		if (record->arrival[i] > now)
			return false;
	}
	return record->inflight == 0 && record->others_inflight == 0;
}

static void forget(struct limit_table *limits, uint32_t at)
{
	uint32_t *link = &limits->heads[limits->records[at].key >> 1 & limits->mask];

	while (*link != at)
		link = &limits->records[*link].next;
	*link = limits->records[at].next;
}

/* A place for a newcomer; NOBODY when all that were looked at are in use. */
static uint32_t take_place(struct limit_table *limits, double now)
{
	if (limits->count < limits->capacity)
		return limits->count++;
	for (uint32_t i = 0; i < LOOK_MOST && i < limits->capacity; i++) {
		uint32_t at = limits->hand;

		limits->hand = (limits->hand + 1) % limits->capacity;
		if (!is_idle(&limits->records[at], now))
			continue;
		forget(limits, at);
		return at;
	}
	return NOBODY;
}

static void label(char ret_label[LABEL_BYTES], struct span name)
{
	size_t len = name.len < LABEL_BYTES ? name.len : LABEL_BYTES - 1;

	if (len > 0)
		memcpy(ret_label, name.at, len);
	ret_label[len] = '\0';
}

struct record *limits_open(struct limit_table *limits, const struct limit_subject *subject,
                           double now)
{
	uint32_t at = limits_find(limits, subject->key);
	struct record *record;
	uint32_t *head;

	if (at != NOBODY)
		return &limits->records[at];
	at = take_place(limits, now);
	if (at == NOBODY) {
		limits->full++;
		return NULL;
	}
	record = &limits->records[at];
	head = &limits->heads[subject->key >> 1 & limits->mask];
	/* One that waits to be told of keeps its place among those. */
	*record = (struct record){ .key = subject->key,
		                   .of = subject->of,
		                   .next = *head,
		                   .is_untold = record->is_untold,
		                   .next_untold = record->next_untold };
	label(record->tenant, subject->tenant);
	label(record->model, subject->model);
	*head = at;
	return record;
}

/* How many of its tokens are charged now. */
static double charge_one(struct record *record, const struct limit_subject *subject,
                         const struct limit_check *check, double now)
{
	double tokens = 0;

	for (enum limit_kind unit = 0; unit < LIMIT_UNITS; unit++) {
		struct cell cell = limits_cell(subject->quota, unit);

		record->interval[unit] = cell.interval;
		record->burst[unit] = cell.burst;
		if (cell.interval <= 0)
			continue;
		record->arrival[unit] =
		        after(record->arrival[unit], &cell, ask_of(check, unit), now);
		if (unit == LIMIT_TOKENS)
			tokens = at_once(&cell, check->tokens);
		record->untold[unit] += at_once(&cell, ask_of(check, unit));
	}
	record->max_inflight = subject->quota->max_inflight;
	return tokens;
}

void limits_charge(struct limit_table *limits, const struct limit_check *check, bool inflight,
                   usec_t now, struct limit_receipt *ret_receipt)
{
	*ret_receipt = (struct limit_receipt){ .inflight = inflight };
	for (uint32_t i = 0; i < check->count; i++) {
		const struct limit_subject *subject = &check->subjects[i];
		struct record *record = limits_open(limits, subject, seconds_of(now));
		uint32_t *count = &ret_receipt->count;

		if (!record)
			continue;
		ret_receipt->keys[*count] = subject->key;
		ret_receipt->tokens[(*count)++] =
		        charge_one(record, subject, check, seconds_of(now));
		record->inflight += inflight;
		limits_changed(limits, record, now);
	}
}

/* A record with something open stays, so it is the one that was charged. */
static struct record *charged(struct limit_table *limits, const struct limit_receipt *receipt,
                              uint32_t i)
{
	uint32_t at = limits_find(limits, receipt->keys[i]);

	return at == NOBODY ? NULL : &limits->records[at];
}

void limits_release(struct limit_table *limits, struct limit_receipt *receipt)
{
	for (uint32_t i = 0; receipt->inflight && i < receipt->count; i++) {
		struct record *record = charged(limits, receipt, i);

		BUG_ON(!record || record->inflight == 0);
		record->inflight--;
		limits_changed(limits, record, limits->heard_at);
	}
	receipt->inflight = false;
}

static void correct(struct limit_table *limits, struct record *record, enum limit_kind unit,
                    double units)
{
	record->arrival[unit] += units * record->interval[unit];
	record->untold[unit] += units;
	limits_changed(limits, record, limits->heard_at);
}

void limits_settle(struct limit_table *limits, struct limit_receipt *receipt, double tokens)
{
	limits_release(limits, receipt);
	for (uint32_t i = 0; i < receipt->count; i++) {
		struct record *record = charged(limits, receipt, i);

		if (record && record->interval[LIMIT_TOKENS] > 0)
			correct(limits, record, LIMIT_TOKENS, tokens - receipt->tokens[i]);
	}
	receipt->count = 0;
}

void limits_refund(struct limit_table *limits, struct limit_receipt *receipt)
{
	for (uint32_t i = 0; i < receipt->count; i++) {
		struct record *record = charged(limits, receipt, i);

		if (record && record->interval[LIMIT_REQUESTS] > 0)
			correct(limits, record, LIMIT_REQUESTS, -1);
	}
	limits_settle(limits, receipt, 0);
}

struct limit_left limits_left(const struct limit_table *limits, const struct limit_check *check,
                              enum limit_kind kind, usec_t now)
{
	struct limit_left least = { .limited = false };

	for (uint32_t i = 0; i < check->count; i++) {
		struct cell cell = limits_cell(check->subjects[i].quota, kind);
		uint32_t at = limits_find(limits, check->subjects[i].key);
		double arrival = at == NOBODY ? 0 : limits->records[at].arrival[kind];
		struct limit_left left = { .limited = true, .limit = cell.burst };

		if (cell.interval <= 0)
			continue;
		left.reset_s = larger(arrival - seconds_of(now), 0);
		left.left = larger(cell.burst - left.reset_s / cell.interval, 0);
		if (!least.limited || left.left / left.limit < least.left / least.limit)
			least = left;
	}
	return least;
}

uint32_t limits_count(const struct limit_table *limits)
{
	return limits->count;
}

uint64_t limits_full(const struct limit_table *limits)
{
	return limits->full;
}

struct limit_view limits_at(const struct limit_table *limits, uint32_t i, usec_t now)
{
	const struct record *record = &limits->records[i];
	struct limit_view view = { .of = record->of,
		                   .tenant = record->tenant,
		                   .model = record->model,
		                   .inflight = record->inflight + record->others_inflight,
		                   .max_inflight = record->max_inflight };

	BUG_ON(i >= limits->count);
	for (size_t unit = 0; unit < LIMIT_UNITS; unit++) {
		view.limited[unit] = record->interval[unit] > 0;
		view.burst[unit] = record->burst[unit];
		view.reset_s[unit] = larger(record->arrival[unit] - seconds_of(now), 0);
		if (view.limited[unit])
			view.used[unit] = view.reset_s[unit] / record->interval[unit];
	}
	return view;
}
