/* feedback.c - an event finds its open request, and each of those who learn from
 * it is told.
 *
 * The end-of-stream line is the only complete release: everything before it may
 * be missing, come twice, or come for another server than the one chosen. So
 * nothing here relies on an earlier event having been seen. */
#include "policies/feedback.h"

#include <string.h>

#include "policies/client_retry.h"
#include "policies/ejection.h"
#include "policies/flight.h"
#include "policies/haproxy_retry.h"
#include "policies/learn.h"
#include "policies/lora.h"
#include "policies/outcome.h"
#include "policies/ranks.h"
#include "policies/sessions.h"
#include "policies/usage.h"

static bool says_nothing(const struct served *by)
{
	return by->server.len == 0 && by->address.len == 0;
}

/* An address that is not in the backend any more is nobody: its name may mean
 * another engine by now. */
static struct serving serving_of(const struct facts *facts, const struct served *by,
                                 struct flight_id id, usec_t now)
{
	const struct instance *instance = fleet_instance_named(facts->fleet, by->backend);
	struct serving serving = { TARGET_NONE, TARGET_NONE };
	const struct replica *replica;

	if (!instance || says_nothing(by))
		return serving;
	replica = by->address.len > 0
	                  ? fleet_replica_at_address(facts->fleet, instance, by->address)
	                  : fleet_replica_named(facts->fleet, instance, by->source, by->server);
	serving.instance = instance->target->id;
	if (replica && replica->target->ranks > 0)
		replica = ranks_serving(facts, instance, replica,
		                        inflight_find(facts->inflight, id), now);
	if (replica)
		serving.replica = replica->target->id;
	return serving;
}

static double elapsed_ms(usec_t from, usec_t now)
{
	return seconds_between(from, now) * 1e3;
}

static bool is_moved(const struct flight *flight, const struct serving *by)
{
	return flight->chosen != TARGET_NONE && by->replica != TARGET_NONE &&
	       by->replica != flight->chosen;
}

/* A stream that we do not know of bears load all the same. NULL: it ended, or no room. */
static struct flight *adopt(struct facts *facts, struct flight_id id, uint32_t source, usec_t now)
{
	struct flight *flight = NULL;

	if (inflight_open(facts->inflight, id, now, &flight) != INFLIGHT_OK)
		return NULL;
	flight->adopted = true;
	flight->source = source;
	facts->counters->adopted++;
	return flight;
}

/* Whose time to the first byte it is: of a pair, the one's that computed the prompt. */
static struct serving sampled_at(const struct flight *flight, const struct serving *by)
{
	return (struct serving){ by->instance, flight->pair ? flight->prefill : by->replica };
}

static void first_byte_of(struct facts *facts, struct flight *flight, const struct serving *by,
                          uint32_t status, usec_t now)
{
	struct serving sampled;

	flight->phase = FLIGHT_CONFIRMED;
	flight->first_byte_at = now;
	flight_follow(facts, flight, by, now);
	flight_prefilled(facts, flight, RELEASED_FIRST_BYTE, outcome_is_success((int)status), now);
	if (outcome_is_success((int)status)) {
		learn_binding(facts, flight, by, now);
		sessions_served(facts, flight, by, now);
	} else {
		learn_no_binding(facts, flight);
	}
	if (flight->adopted || is_moved(flight, by) || by->replica == TARGET_NONE ||
	    !outcome_is_answer((int)status))
		return;
	sampled = sampled_at(flight, by);
	learn_ttft(facts, flight, &sampled, elapsed_ms(flight->decided_at, now), now);
}

struct feedback feedback_first_byte(struct facts *facts, const struct first_byte *event, usec_t now)
{
	struct flight_id id = flight_id_of(event->id);
	struct flight *flight = inflight_find(facts->inflight, id);
	struct serving by = serving_of(facts, &event->by, id, now);
	struct feedback feedback = { .known = flight && !flight->adopted,
		                     .target = by.replica,
		                     .chosen = TARGET_NONE,
		                     .ttft_ms = -1,
		                     .e2e_ms = -1 };

	facts->counters->first_bytes++;
	feedback.duplicate = flight ? flight->phase == FLIGHT_CONFIRMED
	                            : inflight_ended(facts->inflight, id, now);
	if (feedback.duplicate)
		return feedback;
	if (!flight) {
		facts->counters->first_bytes_unknown++;
		flight = by.replica == TARGET_NONE ? NULL : adopt(facts, id, event->by.source, now);
	} else if (says_nothing(&event->by)) {
		by = (struct serving){ flight->instance, flight->chosen };
		feedback.target = by.replica;
	}
	if (!flight)
		return feedback;
	flight_refresh(facts, flight);
	feedback.chosen = flight->chosen;
	feedback.moved = is_moved(flight, &by);
	if (sessions_renamed(flight, &by))
		feedback.session_at = fleet_target(facts->fleet, by.replica)->label;
	first_byte_of(facts, flight, &by, event->status, now);
	if (flight->ttft_ms > 0)
		feedback.ttft_ms = flight->ttft_ms;
	return feedback;
}

static void count_at(struct facts *facts, uint32_t target, const struct stream_end *end,
                     enum termination termination)
{
	struct target_counters *counters;

	if (target == TARGET_NONE)
		return;
	counters = counters_of(facts, target);
	counters->terminations[termination]++;
	counters->responses[end->status >= 100 && end->status < 600 ? end->status / 100 : 0]++;
	if (end->queue_ms >= 0)
		histogram_add(&counters->queue, &bounds_e2e, end->queue_ms / 1e3);
}

/* No byte came, and who was to compute the prompt is out of service: that is no fault of
 * the one that waited for it. Who cannot be connected to is at fault itself. */
static bool is_of_prefill(const struct facts *facts, const struct stream_end *end,
                          const struct flight *flight, usec_t now)
{
	const struct target *target = flight->instance == TARGET_NONE
	                                      ? NULL
	                                      : fleet_target(facts->fleet, flight->instance);
	const struct instance *instance =
	        target ? fleet_instance_named(facts->fleet,
	                                      (struct span){ target->label, strlen(target->label) })
	               : NULL;
	const struct replica *prefill;

	if (!flight->pair || flight->phase == FLIGHT_CONFIRMED || outcome_is_connect_error(end) ||
	    !instance)
		return false;
	prefill = fleet_replica_of_target(facts->fleet, instance, flight->prefill);
	return !prefill || !prefill->usable || !prefill->up ||
	       !health_takes(facts->health, flight->prefill, now);
}

/* An answer whose first byte nobody told of is heard at its end. */
static void hear_end(struct facts *facts, const struct flight *flight, const struct serving *by,
                     usec_t now)
{
	if (flight && flight->phase == FLIGHT_CONFIRMED) {
		health_progress(facts->health, by->replica, now);
		return;
	}
	health_first_byte(facts->health, by->replica, 0, now);
	health_first_byte(facts->health, by->instance, 0, now);
}

/* Of each end once, whoever decided it: answers by the one who gave them, and what they say
 * of its health. */
static void note_end(struct facts *facts, const struct stream_end *end, const struct flight *flight,
                     const struct serving *by, const struct feedback *feedback, usec_t now)
{
	struct report report =
	        haproxy_retry_report(facts, end, flight, by->replica, feedback->class);

	if (feedback->class == CLASS_FAILURE && flight && is_of_prefill(facts, end, flight, now))
		report.class = CLASS_LOCAL;
	count_at(facts, by->replica, end, feedback->termination);
	count_at(facts, by->instance, end, feedback->termination);
	if (by->replica == TARGET_NONE)
		return;
	if (by->instance != TARGET_NONE && outcome_is_success(end->status))
		answers_sent(facts->answers, by->instance, end->bytes_out, now);
	if (outcome_is_heard(end))
		hear_end(facts, flight, by, now);
	ejection_note(facts, &report, now);
}

static void settle_binding(struct facts *facts, const struct stream_end *end, struct flight *flight,
                           const struct serving *by, const struct feedback *feedback, usec_t now)
{
	bool confirmed = flight->phase == FLIGHT_CONFIRMED;

	if (feedback->class == CLASS_FAILURE && (flight->hit || confirmed))
		learn_lost_binding(facts, flight, by->replica);
	if (confirmed)
		return;
	if (!outcome_is_success(end->status) || feedback->class != CLASS_OK || !end->applied) {
		learn_no_binding(facts, flight);
		return;
	}
	learn_binding(facts, flight, by, now);
	sessions_served(facts, flight, by, now);
}

static void observe_seconds(struct facts *facts, const struct serving *by, bool ttft,
                            double milliseconds)
{
	const uint32_t targets[] = { by->replica, by->instance };

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct target_counters *counters;

		if (targets[i] == TARGET_NONE)
			continue;
		counters = counters_of(facts, targets[i]);
		histogram_add(ttft ? &counters->ttft : &counters->e2e,
		              ttft ? &bounds_ttft : &bounds_e2e, milliseconds / 1e3);
	}
}

static void count_prediction(struct target_counters *counters, const struct ttft_sample *sample)
{
	counters->ttft_predictions++;
	counters->ttft_error += (double)sample->error;
}

/* A first byte is also reported when a client leaves before there is any: only
 * the end tells, so a sample given in good faith is taken back. The slots are
 * still where it was given. */
static void settle_ttft(struct facts *facts, const struct stream_end *end,
                        const struct flight *flight, struct feedback *feedback)
{
	struct serving by = flight_held(facts, flight);

	if (flight->ttft_ms <= 0)
		return;
	by = sampled_at(flight, &by);
	if (outcome_is_abort(end)) {
		learn_no_ttft(facts, flight, &by);
		return;
	}
	feedback->ttft_ms = flight->ttft_ms;
	observe_seconds(facts, &by, true, flight->ttft_ms);
	if (flight->fitted.number > 0 && by.replica != TARGET_NONE)
		count_prediction(counters_of(facts, by.replica), &flight->fitted);
}

static void settle_e2e(struct facts *facts, const struct stream_end *end,
                       const struct flight *flight, const struct serving *by,
                       struct feedback *feedback, usec_t now)
{
	double elapsed = elapsed_ms(flight->decided_at, now);

	if (flight->adopted)
		return;
	if (feedback->class == CLASS_FAILURE && !is_of_prefill(facts, end, flight, now))
		learn_failure(facts, by, elapsed, flight->phase != FLIGHT_CONFIRMED, now);
	if (!outcome_is_complete(end) || feedback->class != CLASS_OK || feedback->moved ||
	    end->retries > 0)
		return;
	feedback->e2e_ms = elapsed;
	learn_e2e(facts, by, elapsed, now);
	observe_seconds(facts, by, false, elapsed);
}

/* 404 to a model that is promised there. */
static bool note_missed(struct facts *facts, const struct stream_end *end,
                        const struct flight *flight, const struct serving *by)
{
	enum { NOT_FOUND = 404 };
	const struct instance *instance = fleet_instance_named(facts->fleet, end->by.backend);

	return outcome_is_heard(end) && end->status == NOT_FOUND && instance &&
	       flight->model != 0 && by->replica != TARGET_NONE &&
	       fleet_miss_model(facts->fleet, instance, by->replica, flight->model);
}

static void end_of(struct facts *facts, const struct stream_end *end, struct flight *flight,
                   const struct serving *by, struct feedback *feedback, usec_t now)
{
	flight_refresh(facts, flight);
	settle_ttft(facts, end, flight, feedback);
	if (feedback->class == CLASS_OK)
		flight_prefilled(facts, flight, RELEASED_LOG, true, now);
	feedback->expired = !flight_release(facts, flight, RELEASED_LOG, now);
	feedback->known = !flight->adopted;
	feedback->chosen = flight->chosen;
	feedback->moved = is_moved(flight, by);
	usage_end(facts, end, flight, by, now);
	haproxy_retry_note(facts, end, flight, by, feedback, now);
	settle_binding(facts, end, flight, by, feedback, now);
	if (feedback->class != CLASS_OK && by->replica != TARGET_NONE)
		client_retry_note(facts, flight, by->replica, now);
	settle_e2e(facts, end, flight, by, feedback, now);
	feedback->missed = note_missed(facts, end, flight, by);
	if (feedback->missed || feedback->class == CLASS_FAILURE)
		lora_doubt(facts, flight, by->replica);
}

static bool is_text(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* We refused it or left it alone, so there is no open request of its id. */
static bool needed_no_slot(const struct stream_end *end)
{
	return is_text(end->action, "reject") || is_text(end->action, "default");
}

struct feedback feedback_end(struct facts *facts, const struct stream_end *end, usec_t now)
{
	struct flight_id id = flight_id_of(end->id);
	struct serving by = serving_of(facts, &end->by, id, now);
	struct flight flight;
	bool open = false;
	struct feedback feedback = { .target = by.replica,
		                     .chosen = TARGET_NONE,
		                     .class = stream_class(end),
		                     .termination = stream_termination(end),
		                     .ttft_ms = -1,
		                     .e2e_ms = -1 };

	facts->counters->ends++;
	if (!end->routed && !inflight_find(facts->inflight, id))
		return feedback; /* it never asked: nothing to remember either */
	switch (inflight_end(facts->inflight, id, now, &flight)) {
	case INFLIGHT_END_DUPLICATE:
		facts->counters->ends_duplicate++;
		feedback.duplicate = true;
		return feedback;
	case INFLIGHT_END_UNKNOWN:
		facts->counters->ends_unknown += !needed_no_slot(end);
		break;
	case INFLIGHT_END_OPEN:
		open = true;
		end_of(facts, end, &flight, &by, &feedback, now);
		break;
	}
	note_end(facts, end, open ? &flight : NULL, &by, &feedback, now);
	return feedback;
}
