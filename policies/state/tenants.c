/* tenants.c - decaying sums by caller, in one dense table.
 *
 * A sum is kept as if it had grown since a common start: a charge at time t counts
 * exp((t - start)/tau) times. So sums of different dates compare as they stand, and the
 * least and the most of all are found without a single exp(). Now and then the start is
 * moved up, before the numbers become too large.
 *
 * Values and dates have arrays of their own: whoever looks for the smallest of ten
 * thousand reads 80 kB, not the whole table. */
#include "policies/state/tenants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/core/pattern.h"
#include "policies/state/lookup.h"

#define NOBODY UINT32_MAX

static const double tau_s = 300;
static const double input_weight = 1, output_weight = 2;
static const double start_max = 20; /* in tau, before the start is moved: e^20 is 5e8 */
static const usec_t look_every = 100 * MSEC;
static const usec_t listening = 10 * SECOND; /* since the last tenants_tell() */
static const double told_most = 1e9;         /* of one report */
static const char anonymous[] = "anonymous";

struct tenant {
	uint64_t key;
	uint32_t next;                      /* of its chain */
	uint32_t generation;                /* of the policy that was found */
	const struct tenant_policy *policy; /* in it; NULL: nothing */
	uint64_t requests;
	char name[TENANT_LABEL_BYTES];
};

struct tenants {
	uint32_t capacity, count;
	uint32_t mask;
	uint32_t *heads;
	struct tenant *of; /* [0..count), and in the same order: */
	double *sums;
	usec_t *seen;
	double *untold; /* tokens charged since they were told, not divided by the weight */
	usec_t told_at;
	usec_t start, looked_at;
	struct tenants_range range; /* sums, not values */
	const struct policy *policy;
	uint32_t generation;
	uint64_t dropped;
};

uint64_t tenant_key(struct span name)
{
	return name.len == 0 ? 0 : lookup_hash(name, 0) | 1;
}

struct tenants *tenants_new(uint32_t capacity)
{
	struct tenants *tenants;
	uint32_t size = 1;

	BUG_ON(capacity == 0 || capacity > 1u << 24);
	while (size < capacity)
		size *= 2;
	tenants = calloc(1, sizeof(*tenants));
	if (!tenants)
		return NULL;
	tenants->capacity = capacity;
	tenants->mask = size - 1;
	tenants->heads = calloc(size, sizeof(*tenants->heads));
	tenants->of = calloc(capacity, sizeof(*tenants->of));
	tenants->sums = calloc(capacity, sizeof(*tenants->sums));
	tenants->seen = calloc(capacity, sizeof(*tenants->seen));
	tenants->untold = calloc(capacity, sizeof(*tenants->untold));
	if (!tenants->heads || !tenants->of || !tenants->sums || !tenants->seen ||
	    !tenants->untold) {
		tenants_free(tenants);
		return NULL;
	}
	memset(tenants->heads, 0xff, size * sizeof(*tenants->heads));
	return tenants;
}

void tenants_free(struct tenants *tenants)
{
	if (!tenants)
		return;
	free(tenants->untold);
	free(tenants->seen);
	free(tenants->sums);
	free(tenants->of);
	free(tenants->heads);
	free(tenants);
}

void tenants_set_policy(struct tenants *tenants, const struct policy *policy)
{
	tenants->policy = policy;
	tenants->generation++;
}

static uint32_t find(const struct tenants *tenants, uint64_t key)
{
	uint32_t at = tenants->heads[key >> 1 & tenants->mask];

	while (at != NOBODY && tenants->of[at].key != key)
		at = tenants->of[at].next;
	return at;
}

/* The link that leads to it. */
static uint32_t *link_to(struct tenants *tenants, uint32_t at)
{
	uint32_t *link = &tenants->heads[tenants->of[at].key >> 1 & tenants->mask];

	while (*link != at)
		link = &tenants->of[*link].next;
	return link;
}

static const struct tenant_policy *search(const struct policy *policy, struct span name)
{
	const struct tenant_policy *best = NULL;
	size_t closest = 0;

	if (name.len == 0)
		name = (struct span){ anonymous, sizeof(anonymous) - 1 };
	for (uint32_t i = 0; policy && i < policy->tenant_count; i++) {
		size_t fit = pattern_fit(policy->tenants[i].name, name);

		if (fit > closest) {
			best = &policy->tenants[i];
			closest = fit;
		}
	}
	return best;
}

const struct tenant_policy *tenants_policy(const struct tenants *tenants, uint64_t key,
                                           struct span name)
{
	uint32_t at;

	if (!tenants->policy || tenants->policy->tenant_count == 0)
		return NULL;
	at = key == 0 ? NOBODY : find(tenants, key);
	if (at != NOBODY && tenants->of[at].generation == tenants->generation)
		return tenants->of[at].policy;
	return search(tenants->policy, name);
}

/* What a charge at this time counts in a sum. */
static double growth(const struct tenants *tenants, usec_t at)
{
	return exp(((double)at - (double)tenants->start) / 1e6 / tau_s);
}

/* So that nothing overflows: all sums as if they had grown since now. */
static void move_start(struct tenants *tenants, usec_t now)
{
	double shrunk;

	if (seconds_between(tenants->start, now) < start_max * tau_s)
		return;
	shrunk = 1 / growth(tenants, now);
	for (uint32_t i = 0; i < tenants->count; i++)
		tenants->sums[i] *= shrunk;
	tenants->range.least *= shrunk;
	tenants->range.most *= shrunk;
	tenants->start = now;
}

/* The last one takes its place. */
static void remove_at(struct tenants *tenants, uint32_t at)
{
	uint32_t last = tenants->count - 1;

	*link_to(tenants, at) = tenants->of[at].next;
	if (at != last) {
		*link_to(tenants, last) = at;
		tenants->of[at] = tenants->of[last];
		tenants->sums[at] = tenants->sums[last];
		tenants->seen[at] = tenants->seen[last];
		tenants->untold[at] = tenants->untold[last];
	}
	tenants->count--;
}

static void drop_smallest(struct tenants *tenants)
{
	const double *sums = tenants->sums;
	double least = sums[0];
	uint32_t smallest = 0;

	for (uint32_t i = 1; i < tenants->count; i++) {
		if (__builtin_expect(sums[i] < least, 0)) {
			least = sums[i];
			smallest = i;
		}
	}
	remove_at(tenants, smallest);
	tenants->dropped++;
}

static uint32_t add(struct tenants *tenants, uint64_t key, struct span name)
{
	uint32_t *head = &tenants->heads[key >> 1 & tenants->mask];
	size_t len = name.len < TENANT_LABEL_BYTES ? name.len : TENANT_LABEL_BYTES - 1;
	struct tenant *tenant;
	uint32_t at;

	if (tenants->count == tenants->capacity)
		drop_smallest(tenants);
	at = tenants->count++;
	tenant = &tenants->of[at];
	*tenant = (struct tenant){ .key = key, .next = *head };
	memcpy(tenant->name, name.at, len);
	tenants->sums[at] = 0;
	tenants->untold[at] = 0;
	*head = at;
	return at;
}

static double tokens_of(double input, double output)
{
	return input_weight * input + output_weight * output;
}

/* By the caller's part of the fleet. */
static double weighed(const struct tenant *tenant, double tokens)
{
	return tenant->policy ? tokens / tenant->policy->weight : tokens;
}

/* The caller's place, made if need be, with what the policy says of it now. */
static uint32_t open_tenant(struct tenants *tenants, uint64_t key, struct span name)
{
	uint32_t at = find(tenants, key);
	struct tenant *tenant;

	if (at == NOBODY)
		at = add(tenants, key, name);
	tenant = &tenants->of[at];
	if (tenant->generation != tenants->generation) {
		tenant->policy = search(tenants->policy, name);
		tenant->generation = tenants->generation;
	}
	return at;
}

void tenants_charge(struct tenants *tenants, uint64_t key, struct span name, double input,
                    double output, usec_t now)
{
	double tokens = tokens_of(input, output);
	uint32_t at;

	if (key == 0)
		return;
	move_start(tenants, now);
	at = open_tenant(tenants, key, name);
	tenants->of[at].requests++;
	tenants->sums[at] += weighed(&tenants->of[at], tokens) * growth(tenants, now);
	tenants->untold[at] += tokens;
	tenants->seen[at] = now;
	tenants_look(tenants, now);
}

void tenants_correct(struct tenants *tenants, uint64_t key, double input, double output,
                     usec_t charged_at, usec_t now)
{
	uint32_t at = key == 0 ? NOBODY : find(tenants, key);

	if (at == NOBODY)
		return;
	move_start(tenants, now);
	tenants->sums[at] +=
	        weighed(&tenants->of[at], tokens_of(input, output)) * growth(tenants, charged_at);
	if (tenants->sums[at] < 0)
		tenants->sums[at] = 0;
	tenants->untold[at] += tokens_of(input, output);
}

void tenants_tell(struct tenants *tenants, usec_t now,
                  bool (*tell)(void *data, const struct tenant_use *use), void *data)
{
	bool anew = tenants->told_at == 0 || now - tenants->told_at > listening;

	tenants->told_at = now;
	for (uint32_t i = 0; i < tenants->count; i++) {
		struct tenant_use use = { tenants->of[i].key, tenants->of[i].name,
			                  tenants->untold[i] };

		if (use.tokens == 0)
			continue;
		if (!anew && !tell(data, &use))
			return;
		tenants->untold[i] = 0;
	}
}

void tenants_heard(struct tenants *tenants, const struct tenant_use *use, usec_t age, usec_t now)
{
	double tokens = use->tokens;
	double faded = exp(-(double)age / 1e6 / tau_s);
	uint32_t at;

	if (use->key == 0 || !(tokens >= -told_most && tokens <= told_most))
		return;
	move_start(tenants, now);
	at = open_tenant(tenants, use->key, (struct span){ use->name, strlen(use->name) });
	tenants->sums[at] += weighed(&tenants->of[at], tokens) * growth(tenants, now) * faded;
	if (tenants->sums[at] < 0)
		tenants->sums[at] = 0;
	if (age < now && now - age > tenants->seen[at])
		tenants->seen[at] = now - age;
}

double tenants_tokens(const struct tenants *tenants, uint64_t key, usec_t now)
{
	uint32_t at = key == 0 ? NOBODY : find(tenants, key);

	return at == NOBODY ? 0 : tenants->sums[at] / growth(tenants, now);
}

void tenants_look(struct tenants *tenants, usec_t now)
{
	struct tenants_range range = { 0 };

	if (tenants->looked_at != 0 && now - tenants->looked_at < look_every)
		return;
	for (uint32_t i = 0; i < tenants->count; i++) {
		double sum = tenants->sums[i];

		if (now - tenants->seen[i] > TENANT_ACTIVE)
			continue;
		range.least = range.active == 0 || sum < range.least ? sum : range.least;
		range.most = range.active == 0 || sum > range.most ? sum : range.most;
		range.active++;
	}
	tenants->range = range;
	tenants->looked_at = now;
}

struct tenants_range tenants_range(const struct tenants *tenants, usec_t now)
{
	struct tenants_range range = tenants->range;
	double grown = growth(tenants, now);

	range.least /= grown;
	range.most /= grown;
	return range;
}

double tenants_offset_ms(const struct tenants *tenants, uint64_t key, double capacity, usec_t now)
{
	double more = tenants_tokens(tenants, key, now) - tenants_range(tenants, now).least;
	double offset = 1000 * more / (capacity > 0 ? capacity : TENANTS_CAPACITY);

	if (offset <= 0)
		return 0;
	return offset < TENANTS_OFFSET_MAX_MS ? offset : TENANTS_OFFSET_MAX_MS;
}

uint32_t tenants_count(const struct tenants *tenants)
{
	return tenants->count;
}

uint64_t tenants_dropped(const struct tenants *tenants)
{
	return tenants->dropped;
}

struct tenant_view tenants_at(const struct tenants *tenants, uint32_t i, usec_t now)
{
	const struct tenant *tenant = &tenants->of[i];

	BUG_ON(i >= tenants->count);
	return (struct tenant_view){
		.name = tenant->name,
		.policy = tenant->generation == tenants->generation ? tenant->policy : NULL,
		.tokens = tenants->sums[i] / growth(tenants, now),
		.seen = tenants->seen[i],
		.requests = tenant->requests,
	};
}
