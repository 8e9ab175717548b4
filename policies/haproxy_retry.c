/* haproxy_retry.c - one failure, or one "busy", for each of those whose try was made again.
 *
 * HAProxy tells the number of retries and who served in the end. What the first one
 * answered, if it did and it was an error, the configuration we ship keeps in a
 * variable. Where there is no such word nobody knows whether the one we chose refused
 * the connection, closed it, or said that it was full: then it is taken for a failure,
 * but not for a reason to eject who finishes other requests. */
#include "policies/haproxy_retry.h"

#include "policies/ejection.h"
#include "policies/flight.h"
#include "policies/outcome.h"
#include "policies/ranks.h"

static const struct eject_on *eject_on_of(const struct facts *facts)
{
	return &facts->policy->health.eject_on;
}

struct report haproxy_retry_report(const struct facts *facts, const struct stream_end *end,
                                   const struct flight *flight, uint32_t target,
                                   enum outcome_class class)
{
	return (struct report){
		.target = target,
		.class = class,
		.judged = outcome_judge(end, eject_on_of(facts)),
		.connect = outcome_is_connect_error(end),
		.retry_after = end->retry_after,
		.prompt = flight ? flight->prompt : 0,
		.tenant = flight ? flight->tenant : 0,
		.trial = flight && flight->trial_at == target ? flight->trial : 0,
	};
}

static enum pin_cause pin_cause_of(const struct stream_end *end)
{
	if (!end->applied)
		return PIN_IGNORED;
	if (end->retries > 0)
		return PIN_REDISPATCH;
	return end->redispatched ? PIN_MAXQUEUE : PIN_IGNORED;
}

/* Whose answer was the first that failed; TARGET_NONE: none, or not told. */
static uint32_t first_of(const struct facts *facts, const struct stream_end *end,
                         const struct flight *flight, usec_t now)
{
	const struct instance *instance = fleet_instance_named(facts->fleet, end->by.backend);
	const struct replica *replica;

	if (end->first_status == 0 || !instance)
		return TARGET_NONE;
	replica = fleet_replica_named(facts->fleet, instance, end->by.source, end->first_server);
	return replica ? ranks_serving(facts, instance, replica, flight, now)->target->id
	               : TARGET_NONE;
}

/* What it said itself. */
static enum outcome_class note_answer(struct facts *facts, const struct stream_end *end,
                                      const struct flight *flight, uint32_t target, usec_t now)
{
	enum outcome_class class = outcome_class_of_status(end->first_status);
	struct report report = haproxy_retry_report(facts, end, flight, target, class);

	report.judged = outcome_judge_status(end->first_status, eject_on_of(facts));
	report.connect = false;
	report.retry_after = end->first_retry_after;
	ejection_note(facts, &report, now);
	return class;
}

/* Where the last one said it was busy the first may well have said the same. */
static enum outcome_class note_unheard(struct facts *facts, const struct stream_end *end,
                                       const struct flight *flight, enum outcome_class last,
                                       usec_t now)
{
	enum outcome_class class = last == CLASS_BUSY ? CLASS_BUSY : CLASS_FAILURE;
	struct report report = haproxy_retry_report(facts, end, flight, flight->chosen, class);

	report.judged = outcome_judge_retry(eject_on_of(facts));
	report.retry_after = 0;
	report.connect = report.retried = true;
	ejection_note(facts, &report, now);
	return class;
}

static void note_chosen(struct facts *facts, const struct stream_end *end,
                        const struct flight *flight, const struct feedback *feedback,
                        uint32_t first, usec_t now)
{
	enum outcome_class class;

	if (!feedback->moved && feedback->class != CLASS_OK)
		return; /* noted already, once for all tries */
	if (first == flight->chosen)
		class = note_answer(facts, end, flight, first, now);
	else
		class = note_unheard(facts, end, flight, feedback->class, now);
	if (feedback->moved && flight->hit && !(first == flight->chosen && class != CLASS_FAILURE))
		learn_lost_binding(facts, flight, flight->chosen);
}

void haproxy_retry_note(struct facts *facts, const struct stream_end *end,
                        const struct flight *flight, const struct serving *by,
                        const struct feedback *feedback, usec_t now)
{
	uint32_t first = end->retries > 0 ? first_of(facts, end, flight, now) : TARGET_NONE;

	if (feedback->moved)
		counters_of(facts, flight->chosen)->pin_overridden[pin_cause_of(end)]++;
	if (end->retries == 0)
		return;
	if (end->applied && flight->chosen != TARGET_NONE)
		note_chosen(facts, end, flight, feedback, first, now);
	if (first != TARGET_NONE && first != by->replica &&
	    !(end->applied && first == flight->chosen))
		(void)note_answer(facts, end, flight, first, now);
}
