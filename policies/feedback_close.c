/* feedback_close.c - requests whose end we cannot wait for: our answer came too
 * late, the process that had it is gone, or it is older than anything lives. */
#include "policies/feedback.h"
#include "policies/flight.h"
#include "policies/learn.h"

enum { SWEEP_MOST = 16384 };

void feedback_late(struct facts *facts, struct span id, usec_t now)
{
	struct flight *flight = inflight_find(facts->inflight, flight_id_of(id));

	facts->counters->late_answers++;
	if (!flight || flight->phase == FLIGHT_CONFIRMED)
		return;
	flight_refresh(facts, flight);
	learn_no_binding(facts, flight);
	(void)flight_release(facts, flight, RELEASED_LATE, now);
	flight->chosen = flight->instance = flight->prefill = TARGET_NONE;
	flight->pair = false;
	flight->adopted = true; /* by whoever HAProxy chose, at its first byte */
}

struct closing {
	struct facts *facts;
	enum release_source why;
	uint32_t source; /* RELEASED_PROCESS only */
	usec_t now;
	uint32_t released;
};

static void close_flight(void *data, const struct flight *open)
{
	struct closing *closing = data;

	if (closing->why == RELEASED_PROCESS && open->source != closing->source)
		return;
	flight_close(closing->facts, open->id, closing->why, closing->now);
	closing->released++;
}

uint32_t feedback_process_gone(struct facts *facts, uint32_t source, usec_t now)
{
	struct closing closing = {
		.facts = facts, .why = RELEASED_PROCESS, .source = source, .now = now
	};

	inflight_older(facts->inflight, UINT64_MAX, UINT32_MAX, close_flight, &closing);
	return closing.released;
}

struct expiry {
	struct facts *facts;
	void (*on_expired)(void *data, uint32_t target, uint32_t slots);
	void *data;
};

static void count_expired(void *data, uint32_t target, uint32_t slots)
{
	const struct expiry *expiry = data;

	counters_of(expiry->facts, target)->released[RELEASED_TTL] += slots;
	expiry->on_expired(expiry->data, target, slots);
}

void feedback_sweep(struct facts *facts, usec_t now,
                    void (*on_expired)(void *data, uint32_t target, uint32_t slots), void *data)
{
	struct closing closing = { .facts = facts, .why = RELEASED_TTL, .now = now };
	struct expiry expiry = { .facts = facts, .on_expired = on_expired, .data = data };
	usec_t life = facts->policy->ledger_ttl;

	ledger_sweep(facts->ledger, now, count_expired, &expiry);
	pins_sweep(facts->sessions, now, SWEEP_MOST);
	if (now > life)
		inflight_older(facts->inflight, now - life, SWEEP_MOST, close_flight, &closing);
}
