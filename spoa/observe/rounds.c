/* rounds.c - one timer looks who is due; libcurl does the waiting.
 *
 * The timer sleeps until the next one is due, but never long, since the fleet
 * changes without telling us. Ranks of one engine are targets of their own, and each is
 * asked for itself: an engine's page says different things of them. A target that two instances
 * list is one target: it is asked once, and counts as up if one of them says so. */
#include "spoa/observe/rounds.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

#include "policies/core/bug.h"
#include "policies/core/rng.h"

static const usec_t hurry_gap = SECOND;
/* To ask is a tenth of a millisecond's work: more at once would hold up the loop. */
enum { ASKED_AT_ONCE = 8 };
static const usec_t nap_behind = 1 * MSEC; /* while others are due already */
static const usec_t nap_min = 10 * MSEC, nap_max = 250 * MSEC;

struct visit {
	struct rounds *rounds;
	uint32_t id;  /* of the target, and index of this */
	usec_t since; /* of the target; another value: the id is somebody new */
	usec_t due;
	usec_t asked;      /* last time */
	uint32_t failures; /* in a row */
	bool known, up;
	bool up_now; /* in this look so far */
	uint64_t look;
	struct fetch_transfer *transfer; /* NULL: nothing is open */
};

struct rounds {
	struct observe observe;
	struct fetch *fetch;
	struct rounds_options options;
	struct rounds_visitor visitor;
	struct rng rng;
	ev_timer timer;
	uint64_t look; /* number of the current look at the fleet */
	uint32_t open, count;
	uint32_t from;        /* target id that a look begins with */
	struct visit *visits; /* by target id */
};

static usec_t later_of(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

static usec_t jittered(struct rounds *rounds, usec_t wait)
{
	double sway = rounds->options.jitter * (2 * rng_unit(&rounds->rng) - 1);

	return (usec_t)((double)wait * (1 + sway));
}

static usec_t backed_off(const struct rounds *rounds, uint32_t failures)
{
	usec_t wait = rounds->options.interval;

	for (uint32_t i = 1; i < failures && wait < rounds->options.backoff_max; i++)
		wait *= 2;
	return wait < rounds->options.backoff_max ? wait : rounds->options.backoff_max;
}

static void plan(struct visit *visit, enum rounds_verdict verdict, usec_t now)
{
	struct rounds *rounds = visit->rounds;
	usec_t wait = rounds->options.interval;

	visit->failures = verdict == ROUNDS_FAILED ? visit->failures + 1 : 0;
	switch (verdict) {
	case ROUNDS_GOOD:
		break;
	case ROUNDS_FAILED:
		wait = backed_off(rounds, visit->failures);
		break;
	case ROUNDS_NOT_HERE:
		wait = rounds->options.backoff_max;
		break;
	}
	visit->due = now + jittered(rounds, wait);
}

/* The look that is planned must not be later than this. */
static void look_by(struct rounds *rounds, usec_t due, usec_t now)
{
	double wait = due > now ? (double)(due - now) / 1e6 : 0;

	if (!ev_is_active(&rounds->timer) ||
	    ev_timer_remaining(rounds->observe.loop, &rounds->timer) <= wait)
		return;
	rounds->timer.repeat = wait + (double)nap_min / 1e6;
	ev_timer_again(rounds->observe.loop, &rounds->timer);
}

static void on_done(void *data, const struct fetch_result *result)
{
	struct visit *visit = data;
	struct rounds *rounds = visit->rounds;
	const struct target *target = fleet_target(rounds->observe.facts->fleet, visit->id);
	usec_t now = rounds->observe.now();

	visit->transfer = NULL;
	rounds->open--;
	if (!target || target->since != visit->since)
		return; /* it is gone, and this was not for who has its id now */
	plan(visit, rounds->visitor.on_answer(rounds->visitor.data, target, result, now), now);
	look_by(rounds, visit->due, now);
}

static void on_piece(void *data, const char *bytes, size_t count)
{
	const struct visit *visit = data;
	const struct rounds_visitor *visitor = &visit->rounds->visitor;

	visitor->on_piece(visitor->data, visit->id, (struct span){ bytes, count });
}

/* False when no more can be open. */
static bool ask(struct visit *visit, const struct target *target)
{
	struct rounds *rounds = visit->rounds;
	const struct credential *credential = rounds->observe.credential;
	struct span address = target_address(target);
	char url[ADDRESS_MAX_BYTES + NAME_MAX_BYTES];
	struct rounds_request refined = { .deadline_ms =
		                                  (uint32_t)(rounds->options.deadline / MSEC) };
	struct fetch_request request = { .url = url,
		                         .answer_max = rounds->options.answer_max,
		                         .on_piece = rounds->visitor.on_piece ? on_piece : NULL };

	(void)snprintf(url, sizeof(url), "http://%.*s%s", (int)address.len, address.at,
	               rounds->visitor.path(rounds->visitor.data, target->id));
	if (credential && credential->line[0])
		refined.headers[refined.header_count++] = credential->line;
	if (rounds->visitor.refine)
		rounds->visitor.refine(rounds->visitor.data, target->id, &refined);
	request.deadline_ms = refined.deadline_ms;
	request.headers = refined.headers;
	request.body = refined.body;
	request.body_bytes = refined.body_bytes;
	visit->transfer = fetch_start(rounds->fetch, &request, on_done, visit);
	if (!visit->transfer)
		return false;
	visit->asked = rounds->observe.now();
	rounds->open++;
	return true;
}

static void give_up(struct visit *visit)
{
	if (!visit->transfer)
		return;
	fetch_cancel(visit->transfer);
	visit->transfer = NULL;
	visit->rounds->open--;
}

static void look_at(struct rounds *rounds, const struct replica *replica, usec_t now)
{
	const struct target *target = replica->target;
	struct visit *visit = &rounds->visits[target->id];

	if (!visit->known || visit->since != target->since) {
		give_up(visit);
		*visit = (struct visit){ .rounds = rounds,
			                 .id = target->id,
			                 .since = target->since };
		visit->known = true;
		visit->due = now;
		rounds->visitor.on_new(rounds->visitor.data, target->id);
	}
	visit->up_now = visit->look == rounds->look ? visit->up_now || replica->up : replica->up;
	visit->look = rounds->look;
}

static bool is_wanted(const struct rounds *rounds, uint32_t target, usec_t now)
{
	return !rounds->visitor.wanted || rounds->visitor.wanted(rounds->visitor.data, target, now);
}

/* When it is due next; HAProxy seeing it come up makes it due at once. */
static usec_t visit_if_due(struct rounds *rounds, const struct target *target, usec_t now)
{
	struct visit *visit = &rounds->visits[target->id];

	if (visit->up_now && !visit->up) {
		visit->failures = 0;
		visit->due = now;
	}
	visit->up = visit->up_now;
	if (visit->transfer)
		return now + nap_max;
	if (!is_wanted(rounds, target->id, now)) {
		visit->due = now + jittered(rounds, rounds->options.interval);
		return now + nap_max;
	}
	if (visit->due > now)
		return visit->due;
	return ask(visit, target) ? now + nap_max : now + nap_min;
}

/* When somebody is due next. Whoever had to wait is the first the next time. */
static usec_t ask_who_is_due(struct rounds *rounds, usec_t now)
{
	usec_t next = now + nap_max;
	uint32_t asked = 0, from = rounds->from;

	for (uint32_t k = 0; k < rounds->count; k++) {
		uint32_t id = (from + k) % rounds->count;
		struct visit *visit = &rounds->visits[id];
		bool was_open = visit->transfer != NULL;
		usec_t due;

		if (visit->look != rounds->look)
			continue;
		due = visit_if_due(rounds, fleet_target(rounds->observe.facts->fleet, id), now);
		next = due < next ? due : next;
		asked += !was_open && visit->transfer;
		if (asked == ASKED_AT_ONCE) {
			rounds->from = (id + 1) % rounds->count;
			return now + nap_behind;
		}
	}
	return next < now + nap_min ? now + nap_min : next;
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct rounds *rounds = timer->data;
	const struct fleet *fleet = rounds->observe.facts->fleet;
	usec_t now = rounds->observe.now(), next;

	(void)events;
	rounds->look++;
	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *instance = fleet_instance_at(fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++)
			look_at(rounds, &instance->replicas[k], now);
	}
	next = ask_who_is_due(rounds, now);
	timer->repeat = (double)(next - now) / 1e6;
	ev_timer_again(loop, timer);
}

struct rounds *rounds_new(const struct observe *observe, struct fetch *fetch,
                          const struct rounds_options *options,
                          const struct rounds_visitor *visitor)
{
	struct rounds *rounds = calloc(1, sizeof(*rounds));

	if (!rounds)
		return NULL;
	rounds->observe = *observe;
	rounds->fetch = fetch;
	rounds->options = *options;
	rounds->visitor = *visitor;
	rounds->rng.state = options->seed;
	rounds->count = fleet_targets_max(observe->facts->fleet);
	rounds->visits = calloc(rounds->count, sizeof(*rounds->visits));
	if (!rounds->visits) {
		free(rounds);
		return NULL;
	}
	ev_init(&rounds->timer, on_look);
	rounds->timer.data = rounds;
	return rounds;
}

void rounds_free(struct rounds *rounds)
{
	if (!rounds)
		return;
	rounds_stop(rounds);
	for (uint32_t i = 0; i < rounds->count; i++)
		give_up(&rounds->visits[i]);
	free(rounds->visits);
	free(rounds);
}

void rounds_start(struct rounds *rounds)
{
	rounds->timer.repeat = 0;
	ev_timer_set(&rounds->timer, 0, 0);
	ev_timer_start(rounds->observe.loop, &rounds->timer);
}

void rounds_stop(struct rounds *rounds)
{
	ev_timer_stop(rounds->observe.loop, &rounds->timer);
}

void rounds_hurry(struct rounds *rounds, uint32_t target)
{
	usec_t now = rounds->observe.now();
	struct visit *visit = &rounds->visits[target];

	BUG_ON(target >= rounds->count);
	if (!visit->known)
		return; /* new: it is due anyway */
	visit->due = later_of(now, visit->asked + hurry_gap);
	look_by(rounds, visit->due, now);
}

void rounds_set_pace(struct rounds *rounds, usec_t interval, usec_t deadline)
{
	rounds->options.interval = interval;
	rounds->options.deadline = deadline;
}

uint32_t rounds_open(const struct rounds *rounds)
{
	return rounds->open;
}
