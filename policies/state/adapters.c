/* adapters.c - a short list of what was sent for each target, and a table of heats.
 *
 * The heats lie in sets of a few: who is looked for is in the set its key falls to, or nowhere,
 * and a newcomer takes the place of the coldest that has nothing in flight. */
#include "policies/state/adapters.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"
#include "policies/state/engine.h"

static const double ln_2 = 0.69314718055994531;

enum { WAYS = 8, SETS = ADAPTERS_HOT_MAX / WAYS };

/* An adapter that was sent to a target; lora 0: nobody. */
struct sent {
	uint64_t lora;
	usec_t at;
};

struct heat {
	uint64_t lora; /* 0: a free place */
	uint32_t instance;
	uint32_t open;
	double peak; /* as of at */
	usec_t at;
};

struct adapters {
	uint32_t targets;
	struct sent (*sent)[ENGINE_LORAS_MAX]; /* by target */
	struct heat (*heats)[WAYS];
};

struct adapters *adapters_new(uint32_t targets)
{
	struct adapters *adapters = calloc(1, sizeof(*adapters));

	BUG_ON(targets == 0);
	if (!adapters)
		return NULL;
	adapters->targets = targets;
	adapters->sent = calloc(targets, sizeof(*adapters->sent));
	adapters->heats = calloc(SETS, sizeof(*adapters->heats));
	if (adapters->sent && adapters->heats)
		return adapters;
	adapters_free(adapters);
	return NULL;
}

void adapters_free(struct adapters *adapters)
{
	if (!adapters)
		return;
	free(adapters->heats);
	free(adapters->sent);
	free(adapters);
}

static struct sent *sent_to(const struct adapters *adapters, uint32_t target)
{
	BUG_ON(target >= adapters->targets);
	return adapters->sent[target];
}

/* NULL when it is not there. */
static struct sent *find_sent(const struct adapters *adapters, uint32_t target, uint64_t lora)
{
	struct sent *sent = sent_to(adapters, target);

	for (size_t i = 0; i < ENGINE_LORAS_MAX; i++)
		if (sent[i].lora == lora)
			return &sent[i];
	return NULL;
}

void adapters_sent(struct adapters *adapters, uint32_t target, uint64_t lora, usec_t now)
{
	struct sent *place = find_sent(adapters, target, lora);
	struct sent *oldest = sent_to(adapters, target);

	BUG_ON(lora == 0);
	for (size_t i = 1; !place && i < ENGINE_LORAS_MAX; i++)
		if (sent_to(adapters, target)[i].at < oldest->at)
			oldest = &sent_to(adapters, target)[i];
	*(place ? place : oldest) = (struct sent){ lora, now };
}

void adapters_lost(struct adapters *adapters, uint32_t target, uint64_t lora)
{
	struct sent *place = find_sent(adapters, target, lora);

	if (place)
		*place = (struct sent){ 0 };
}

bool adapters_resident(const struct adapters *adapters, uint32_t target, uint64_t lora,
                       uint32_t slots, usec_t now, usec_t max_age)
{
	const struct sent *sent = sent_to(adapters, target);
	const struct sent *place = find_sent(adapters, target, lora);
	uint32_t later = 0;

	if (!place || lora == 0 || now - place->at > max_age)
		return false;
	for (size_t i = 0; slots > 0 && i < ENGINE_LORAS_MAX; i++)
		later += sent[i].lora != 0 && sent[i].at > place->at;
	return slots == 0 || later < slots;
}

uint32_t adapters_others(const struct adapters *adapters, uint32_t target, uint64_t lora,
                         usec_t now, usec_t max_age)
{
	const struct sent *sent = sent_to(adapters, target);
	uint32_t others = 0;

	for (size_t i = 0; i < ENGINE_LORAS_MAX; i++)
		others += sent[i].lora != 0 && sent[i].lora != lora && now - sent[i].at <= max_age;
	return others;
}

static struct heat *set_of(const struct adapters *adapters, uint64_t lora, uint32_t instance)
{
	uint64_t mixed = (lora ^ instance) * 0x9e3779b97f4a7c15u;

	return adapters->heats[(mixed >> 32) % SETS];
}

/* NULL when it is not counted. */
static struct heat *find_heat(const struct adapters *adapters, uint64_t lora, uint32_t instance)
{
	struct heat *set = set_of(adapters, lora, instance);

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].lora == lora && set[i].instance == instance)
			return &set[i];
	return NULL;
}

static double heat_now(const struct heat *heat, usec_t now, usec_t half_life)
{
	double age = now > heat->at ? (double)(now - heat->at) : 0;
	double left = half_life > 0 ? heat->peak * exp(-ln_2 * age / (double)half_life) : 0;

	return heat->open > left ? heat->open : left;
}

/* The coldest of the set that has nothing in flight; NULL when there is none. */
static struct heat *place_for(struct adapters *adapters, uint64_t lora, uint32_t instance,
                              usec_t now, usec_t half_life)
{
	struct heat *set = set_of(adapters, lora, instance);
	struct heat *coldest = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].lora == 0)
			return &set[i];
		if (set[i].open == 0 && (!coldest || heat_now(&set[i], now, half_life) <
		                                             heat_now(coldest, now, half_life)))
			coldest = &set[i];
	}
	return coldest;
}

bool adapters_begin(struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                    usec_t half_life)
{
	struct heat *heat = find_heat(adapters, lora, instance);

	BUG_ON(lora == 0);
	if (!heat) {
		heat = place_for(adapters, lora, instance, now, half_life);
		if (!heat)
			return false;
		*heat = (struct heat){ .lora = lora, .instance = instance };
	}
	heat->peak = heat_now(heat, now, half_life);
	heat->at = now;
	heat->open++;
	return true;
}

void adapters_end(struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                  usec_t half_life)
{
	struct heat *heat = find_heat(adapters, lora, instance);

	if (!heat || heat->open == 0)
		return;
	heat->peak = heat_now(heat, now, half_life);
	heat->at = now;
	heat->open--;
}

double adapters_heat(const struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                     usec_t half_life)
{
	const struct heat *heat = find_heat(adapters, lora, instance);

	return heat ? heat_now(heat, now, half_life) : 0;
}

uint32_t adapters_open(const struct adapters *adapters, uint64_t lora, uint32_t instance)
{
	const struct heat *heat = find_heat(adapters, lora, instance);

	return heat ? heat->open : 0;
}

void adapters_forget(struct adapters *adapters, uint32_t target)
{
	struct sent *sent = sent_to(adapters, target);

	for (size_t i = 0; i < ENGINE_LORAS_MAX; i++)
		sent[i] = (struct sent){ 0 };
	for (size_t i = 0; i < SETS; i++)
		for (size_t k = 0; k < WAYS; k++)
			if (adapters->heats[i][k].instance == target)
				adapters->heats[i][k] = (struct heat){ 0 };
}
