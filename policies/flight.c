/* flight.c - moving and releasing, each once, whatever came before. */
#include "policies/flight.h"

#include <stddef.h>

#include "policies/ejection.h"
#include "policies/lora.h"
#include "policies/usage.h"

struct target_counters *counters_of(struct facts *facts, uint32_t target)
{
	return &facts->counters->of[target];
}

/* Its id may mean another target by now. */
static uint32_t still(const struct facts *facts, uint32_t target, usec_t decided_at)
{
	const struct target *known =
	        target == TARGET_NONE ? NULL : fleet_target(facts->fleet, target);

	return known && known->since <= decided_at ? target : TARGET_NONE;
}

void flight_refresh(const struct facts *facts, struct flight *flight)
{
	flight->chosen = still(facts, flight->chosen, flight->decided_at);
	flight->instance = still(facts, flight->instance, flight->decided_at);
	flight->prefill = still(facts, flight->prefill, flight->decided_at);
}

struct serving flight_held(const struct facts *facts, const struct flight *flight)
{
	return (struct serving){
		.instance = still(facts, flight->instance_slot.target, flight->decided_at),
		.replica = still(facts, flight->replica_slot.target, flight->decided_at),
	};
}

static void end_trial(struct facts *facts, struct flight *flight, bool silent)
{
	health_trial_over(facts->health, flight->trial_at, flight->trial, silent);
	flight->on_trial = false;
}

/* Whoever serves is at work, and if it is not the one on trial, that is over. */
static void hear(struct facts *facts, struct flight *flight, const struct serving *by, usec_t now)
{
	uint32_t replica = by->replica != TARGET_NONE ? by->replica : flight->chosen;

	if (flight->on_trial && replica != flight->trial_at)
		end_trial(facts, flight, true);
	if (replica != TARGET_NONE)
		health_first_byte(facts->health, replica, flight->on_trial ? flight->trial : 0,
		                  now);
	if (by->instance != TARGET_NONE)
		health_first_byte(facts->health, by->instance, 0, now);
}

/* To where the request really is: moved, or taken there if none is held yet. */
static void put_slot(struct facts *facts, struct slot *slot, const struct slot *like,
                     uint32_t target, usec_t now)
{
	if (target == TARGET_NONE || slot->target == target)
		return;
	if (slot->target != TARGET_NONE) {
		ledger_move(facts->ledger, slot, target, now);
		counters_of(facts, target)->moved++;
		return;
	}
	*slot = ledger_acquire(facts->ledger, target, like->prefill, like->resident, now);
}

/* The engine that was chosen does not have it; the one that serves does. */
static void recount_engines(struct facts *facts, uint32_t chosen, uint32_t replica, uint32_t tokens)
{
	if (replica == chosen || replica == TARGET_NONE)
		return;
	if (chosen != TARGET_NONE)
		engines_count_first_byte(facts->engines, chosen);
	engines_count_acquired(facts->engines, replica, tokens);
}

/* False when it had expired. */
static bool release_slot(struct facts *facts, struct slot *slot, enum release_source source,
                         usec_t now)
{
	bool live;

	if (slot->target == TARGET_NONE)
		return true;
	live = ledger_release(facts->ledger, *slot, now);
	if (live)
		counters_of(facts, slot->target)->released[source]++;
	slot->target = TARGET_NONE;
	return live;
}

/* What of it was seen is only that an answer came, or did not: of a prefill replica on
 * trial that is the best there is to judge by. */
static void end_prefill_trial(struct facts *facts, struct flight *flight, bool good, usec_t now)
{
	struct report report = { .target = flight->prefill,
		                 .class = CLASS_OK,
		                 .trial = flight->prefill_trial };

	if (flight->prefill_trial == 0 || flight->prefill == TARGET_NONE)
		return;
	if (good)
		ejection_note(facts, &report, now);
	health_trial_over(facts->health, flight->prefill, flight->prefill_trial, !good);
	flight->prefill_trial = 0;
}

void flight_prefilled(struct facts *facts, struct flight *flight, enum release_source why,
                      bool good, usec_t now)
{
	if (flight->prefill_slot.target == TARGET_NONE)
		return;
	if (flight->prefill != TARGET_NONE) {
		engines_count_first_byte(facts->engines, flight->prefill);
		if (good)
			health_first_byte(facts->health, flight->prefill, flight->prefill_trial,
			                  now);
	}
	end_prefill_trial(facts, flight, good, now);
	(void)release_slot(facts, &flight->prefill_slot, why, now);
}

void flight_follow(struct facts *facts, struct flight *flight, const struct serving *by, usec_t now)
{
	struct slot like = flight->instance_slot;

	if (!flight->pair)
		recount_engines(facts, flight->chosen, by->replica, like.prefill);
	hear(facts, flight, by, now);
	if (flight->adapter != 0)
		lora_follow(facts, flight, by->replica, now);
	put_slot(facts, &flight->replica_slot, &like, by->replica, now);
	put_slot(facts, &flight->instance_slot, &like, by->instance, now);
	if (flight->replica_slot.target != TARGET_NONE)
		ledger_first_byte(facts->ledger, &flight->replica_slot, now);
	if (flight->instance_slot.target != TARGET_NONE)
		ledger_first_byte(facts->ledger, &flight->instance_slot, now);
	if (!flight->pair && (by->replica != TARGET_NONE || flight->chosen != TARGET_NONE))
		engines_count_first_byte(facts->engines,
		                         by->replica != TARGET_NONE ? by->replica : flight->chosen);
}

bool flight_release(struct facts *facts, struct flight *flight, enum release_source source,
                    usec_t now)
{
	bool live;

	if (flight->phase != FLIGHT_CONFIRMED && flight->chosen != TARGET_NONE && !flight->pair)
		engines_count_first_byte(facts->engines, flight->chosen);
	if (flight->on_trial)
		end_trial(facts, flight, flight->phase != FLIGHT_CONFIRMED);
	if (flight->held != 0)
		pins_release(facts->sessions, flight->session, flight->held);
	flight->held = 0;
	if (flight->adapter != 0)
		lora_release(facts, flight, now);
	flight_prefilled(facts, flight, source, false, now);
	live = release_slot(facts, &flight->replica_slot, source, now);
	return release_slot(facts, &flight->instance_slot, source, now) && live;
}

void flight_close(struct facts *facts, struct flight_id id, enum release_source why, usec_t now)
{
	struct flight flight;

	if (inflight_end(facts->inflight, id, now, &flight) != INFLIGHT_END_OPEN)
		return;
	flight_refresh(facts, &flight);
	if (flight.phase != FLIGHT_CONFIRMED)
		learn_no_binding(facts, &flight);
	usage_close(facts, &flight);
	(void)flight_release(facts, &flight, why, now);
}
