/* lora.c - what adapters do, told to policies/state/adapters, and the options of it. */
#include "policies/lora.h"

#include "policies/state/lora_look.h"

#define OF_LORA(field) offsetof(struct lora_policy, field)

#define SECONDS 1e6
#define MINUTES (60.0 * 1e6)

const struct option lora_options[] = {
	{ "spread", OPTION_BOOL, OF_LORA(spread), 0, 1, 0, "",
	  "Send an adapter's requests to any replica that serves it: each may have to load it.",
	  NULL, false },
	{ "requests", OPTION_NUMBER, OF_LORA(requests), 0, 1e6, 4, "requests",
	  "What a replica of an adapter has in flight of it before the adapter gets another one; "
	  "the "
	  "mean over all replicas if that is more.",
	  NULL, false },
	{ "max-replicas", OPTION_COUNT, OF_LORA(max_replicas), 0, 16384, 0, "replicas",
	  "Most replicas that an adapter is spread over, while they are not too busy; 0 for as "
	  "many "
	  "as its load needs.",
	  NULL, false },
	{ "remember", OPTION_DURATION, OF_LORA(remember), 1 * SECONDS, 24 * 60 * MINUTES,
	  5 * MINUTES, "",
	  "How long an adapter is believed to be loaded where a request for it was sent.", NULL,
	  false },
	{ "cooling", OPTION_DURATION, OF_LORA(cooling), 0, 24 * 60 * MINUTES, 1 * MINUTES, "",
	  "Time after which half of the load is forgotten for which an adapter got its replicas.",
	  NULL, false },
	{ 0 },
};

static bool begin(struct facts *facts, uint64_t lora, uint32_t instance, usec_t now)
{
	usec_t cooling = facts->policy->lora.cooling;

	if (!adapters_begin(facts->adapters, lora, TARGET_NONE, now, cooling))
		return false;
	if (adapters_begin(facts->adapters, lora, instance, now, cooling))
		return true;
	adapters_end(facts->adapters, lora, TARGET_NONE, now, cooling);
	return false;
}

/* Counted before it is noted that it is there now. */
static void send(struct facts *facts, uint64_t lora, uint32_t target, usec_t now)
{
	struct target_counters *counters = &facts->counters->of[target];

	counters->adapter_requests++;
	counters->adapter_loads += !lora_is_there(facts, target, lora, now);
	adapters_sent(facts->adapters, target, lora, now);
}

void lora_reserve(struct facts *facts, const struct reservation *reservation,
                  const struct decision *decision, struct flight *flight)
{
	uint32_t instance = decision->instance->target->id;

	flight->adapter = reservation->adapter;
	flight->adapter_at = TARGET_NONE;
	if (begin(facts, flight->adapter, instance, reservation->now))
		flight->adapter_at = instance;
	else
		facts->counters->adapters_uncounted++;
	facts->counters->adapters_spilled +=
	        decision->levels[0].adapter.spilled || decision->levels[1].adapter.spilled;
	send(facts, flight->adapter, instance, reservation->now);
	if (decision->replica)
		send(facts, flight->adapter, decision->replica->target->id, reservation->now);
	if (decision->prefill)
		send(facts, flight->adapter, decision->prefill->target->id, reservation->now);
}

void lora_follow(struct facts *facts, const struct flight *flight, uint32_t replica, usec_t now)
{
	if (replica != TARGET_NONE)
		adapters_sent(facts->adapters, replica, flight->adapter, now);
}

void lora_release(struct facts *facts, struct flight *flight, usec_t now)
{
	usec_t cooling = facts->policy->lora.cooling;

	if (flight->adapter_at != TARGET_NONE) {
		adapters_end(facts->adapters, flight->adapter, TARGET_NONE, now, cooling);
		adapters_end(facts->adapters, flight->adapter, flight->adapter_at, now, cooling);
	}
	flight->adapter_at = TARGET_NONE;
}

void lora_doubt(struct facts *facts, const struct flight *flight, uint32_t replica)
{
	if (flight->adapter != 0 && replica != TARGET_NONE)
		adapters_lost(facts->adapters, replica, flight->adapter);
}
