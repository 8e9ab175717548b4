/* missing.c - finds the requests that HAProxy does not have any more, though no end
 * line of them came.
 *
 * Requests are not told apart, only counted: which of the old ones is released does
 * not matter for the count, and who has had no first byte is the likelier one. */
#include "policies/feedback.h"
#include "policies/flight.h"

struct missing {
	struct facts *facts;
	uint32_t *surplus; /* by target id */
	uint32_t targets;
	enum flight_phase phase; /* of those looked at */
	bool suspected;          /* one of them was missing at the last count */
	usec_t now;
	uint32_t released;
};

static uint32_t *surplus_of(const struct missing *missing, const struct flight *flight)
{
	uint32_t target = flight->replica_slot.target;

	return target < missing->targets ? &missing->surplus[target] : NULL;
}

static void count_one(void *data, const struct flight *flight)
{
	struct missing *missing = data;
	uint32_t *open = surplus_of(missing, flight);

	if (open)
		++*open;
	missing->suspected |= flight->missed > 0;
}

static void note_missing(void *data, const struct flight *visited)
{
	struct missing *missing = data;
	uint32_t *surplus = surplus_of(missing, visited);
	struct flight *flight;

	if (!surplus || visited->phase != missing->phase)
		return;
	flight = inflight_find(missing->facts->inflight, visited->id);
	if (*surplus == 0) {
		flight->missed = 0;
		return;
	}
	--*surplus;
	if (++flight->missed < MISSING_COUNTS)
		return;
	flight_close(missing->facts, visited->id, RELEASED_SESSIONS, missing->now);
	missing->released++;
}

static void visit(struct missing *missing, usec_t before, enum flight_phase phase)
{
	missing->phase = phase;
	inflight_older(missing->facts->inflight, before, UINT32_MAX, note_missing, missing);
}

uint32_t feedback_missing(struct facts *facts, const uint32_t *counted, uint32_t *scratch,
                          uint32_t targets, usec_t now)
{
	struct missing missing = {
		.facts = facts, .surplus = scratch, .targets = targets, .now = now
	};
	usec_t before = now > MISSING_AGE ? now - MISSING_AGE : 0;
	bool any = false;

	for (uint32_t i = 0; i < targets; i++)
		scratch[i] = 0;
	inflight_older(facts->inflight, before, UINT32_MAX, count_one, &missing);
	/* Nothing is above COUNT_UNKNOWN. */
	for (uint32_t i = 0; i < targets; i++) {
		scratch[i] = scratch[i] > counted[i] ? scratch[i] - counted[i] : 0;
		any |= scratch[i] > 0;
	}
	/* Mostly nothing is missing: then one look is enough. */
	if (any || missing.suspected) {
		visit(&missing, before, FLIGHT_DECIDED);
		visit(&missing, before, FLIGHT_CONFIRMED);
	}
	return missing.released;
}
