/* sessions.c - compare and set: of several requests of a session that end up
 * elsewhere at once, the first moves it, and none moves it back.
 *
 * A pin is made at the decision, so that a burst of first requests finds it; and
 * where its target does not stand any more it is made anew there, for the same
 * reason. From one that stands it moves only with a good answer from another: a
 * replica that failed has no context to offer. */
#include "policies/sessions.h"

#include "policies/stages/session.h"

/* What the replica's level found, or, where that did not look, the instance's. */
static const struct session_look *look_of(const struct decision *decision)
{
	const struct session_look *inside = &decision->levels[1].session;

	return inside->result != SESSION_NONE ? inside : &decision->levels[0].session;
}

static enum session_move cause_of(const struct session_look *look)
{
	return look->spilled ? SESSION_MOVE_SPILL : SESSION_MOVE_CHOICE;
}

static bool is_by_key(const struct session_look *look)
{
	return look->result == SESSION_PINNED || look->result == SESSION_NEW ||
	       look->result == SESSION_GONE;
}

static void tell(const struct facts *facts, struct pin_key key, uint32_t from, uint32_t to)
{
	if (facts->share)
		facts->share->calls->pinned(facts->share->data, &key, from, to);
}

/* It is pinned there. That it is used is told now and then, lest it expire elsewhere. */
static void hold(struct facts *facts, struct flight *flight, uint32_t chosen, usec_t now)
{
	uint64_t made = pins_counts(facts->sessions)->made;

	flight->held = pins_hold(facts->sessions, flight->session, chosen, now);
	if (flight->held == 0)
		return;
	flight->pinned = chosen;
	if (pins_counts(facts->sessions)->made != made)
		tell(facts, flight->session, TARGET_NONE, chosen);
	else if (facts->share && pins_untold(facts->sessions, flight->session, now))
		tell(facts, flight->session, chosen, chosen);
}

void sessions_reserve(struct facts *facts, const struct reservation *reservation,
                      const struct decision *decision, struct flight *flight)
{
	const struct session_look *look = look_of(decision);
	uint32_t chosen = flight->chosen;

	flight->gives_id = decision->levels[1].session.wanted;
	if (!is_by_key(look))
		return;
	flight->has_session = true;
	flight->session = session_key(facts, reservation->request,
	                              fleet_model_id(facts->fleet, reservation->request->model));
	flight->pinned = look->pinned;
	flight->session_move = cause_of(look);
	/* Whoever names instances only pins them. */
	flight->pins_instance = reservation->chosen && !reservation->chosen->replica;
	if (flight->pins_instance)
		chosen = flight->instance;
	if (chosen == TARGET_NONE)
		return;
	if (look->result == SESSION_GONE &&
	    pins_move(facts->sessions, flight->session, look->pinned, chosen, reservation->now)) {
		facts->counters->session_moves[SESSION_MOVE_GONE]++;
		tell(facts, flight->session, look->pinned, chosen);
	}
	hold(facts, flight, chosen, reservation->now);
}

void sessions_served(struct facts *facts, struct flight *flight, const struct serving *by,
                     usec_t now)
{
	uint32_t served = flight->pins_instance ? by->instance : by->replica;
	bool expected =
	        flight->pins_instance ? served == flight->instance : served == flight->chosen;

	if (!flight->has_session || served == TARGET_NONE || served == flight->pinned)
		return;
	if (pins_move(facts->sessions, flight->session, flight->pinned, served, now)) {
		facts->counters
		        ->session_moves[expected ? flight->session_move : SESSION_MOVE_HAPROXY]++;
		tell(facts, flight->session, flight->pinned, served);
	}
	flight->pinned = served;
}

bool sessions_renamed(const struct flight *flight, const struct serving *by)
{
	return flight->gives_id && by->replica != TARGET_NONE && by->replica != flight->chosen;
}
