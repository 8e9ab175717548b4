/* lora_look.c - whether a LoRA adapter is on a target, or could be.
 *
 * The engine's page knows what other agents sent, and its slots; our own memory knows what lies
 * there loaded while nobody asks for it, which vLLM's page does not say. */
#include "policies/state/lora_look.h"

static const double there = 1, slot_free = 0.8, waits = 0.6, full = 0;

/* What the engine says of adapters, as far as that is fresh. */
struct told {
	const struct engine_loras *names; /* NULL: none are named */
	double slots, used;               /* negative: not said; waiting ones are used, too */
};

static bool is_among(const uint64_t *ids, uint32_t count, uint64_t lora)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == lora)
			return true;
	return false;
}

static struct told told_by(const struct facts *facts, uint32_t target, usec_t now)
{
	usec_t stale_after = facts->policy->stale_after;
	const struct engine_page *page = engines_page(facts->engines, target, now, stale_after);
	struct told told = { .names = engines_loras(facts->engines, target, now, stale_after),
		             .slots = page ? page->lora_slots : -1,
		             .used = page ? page->lora_used : -1 };

	for (uint32_t i = 0; told.names && told.used >= 0 && i < told.names->waiting_count; i++)
		told.used += !is_among(told.names->active, told.names->active_count,
		                       told.names->waiting[i]);
	return told;
}

static bool is_there(const struct facts *facts, const struct told *told, uint32_t target,
                     uint64_t lora, usec_t now)
{
	if (told->names && is_among(told->names->active, told->names->active_count, lora))
		return true;
	return adapters_resident(facts->adapters, target, lora,
	                         told->slots > 0 ? (uint32_t)told->slots : 0, now,
	                         facts->policy->lora.remember);
}

bool lora_is_there(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now)
{
	struct told told = told_by(facts, target, now);

	return is_there(facts, &told, target, lora, now);
}

static bool has_free_slot(const struct told *told)
{
	return told->slots < 0 || told->used < 0 || told->used < told->slots;
}

enum lora_room lora_room(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now)
{
	struct told told = told_by(facts, target, now);

	if (is_there(facts, &told, target, lora, now))
		return LORA_THERE;
	if (!has_free_slot(&told))
		return LORA_CROWDED;
	return told.slots > 0 && adapters_others(facts->adapters, target, lora, now,
	                                         facts->policy->lora.cooling) >= told.slots
	               ? LORA_CROWDED
	               : LORA_ROOM;
}

double lora_scale(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now)
{
	struct told told = told_by(facts, target, now);

	if (is_there(facts, &told, target, lora, now))
		return there;
	if (has_free_slot(&told))
		return slot_free;
	if (told.names && is_among(told.names->waiting, told.names->waiting_count, lora))
		return waits;
	return full;
}
