/* queue.c - class, objectives and place of a request, by who says what. */
#include "policies/queue.h"

#include "policies/classes.h"

#define OF_QUEUE(field) offsetof(struct queue_policy, field)
#define SECONDS         (1e6)

const struct option queue_options[] = {
	{ "priority-step", OPTION_DURATION, OF_QUEUE(priority_step), 0, 60 * SECONDS, 1 * SECONDS,
	  "",
	  "What a step of priority is worth in waiting: batch (10) counts as arrived 10 s later "
	  "and "
	  "is never starved; 0 for strict classes, HAProxy's own, where the worse may wait for "
	  "ever.",
	  NULL, false },
	{ "client-priority", OPTION_BOOL, OF_QUEUE(client_priority), 0, 1, 0, "",
	  "Believe the class or number in x-infer-priority, which HAProxy passes on of trusted "
	  "clients only.",
	  NULL, false },
	{ "client-objectives", OPTION_BOOL, OF_QUEUE(client_objectives), 0, 1, 0, "",
	  "Believe x-slo-ttft-ms, x-slo-tpot-ms and x-slo-e2e-ms of any client.", NULL, false },
	{ "default-ttft", OPTION_MSEC, OF_QUEUE(default_ttft_ms), 1, 1e7, 5000, "",
	  "Where a strategy orders by deadline: that of requests that have none.", NULL, false },
	{ 0 },
};

/* A number as HAProxy takes it: -2047..2047. */
static bool number_read(struct span text, double *ret_number)
{
	bool negative = text.len > 1 && text.at[0] == '-';
	int number = 0;

	if (text.len == 0 || text.len > 5)
		return false;
	for (size_t i = negative; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = 10 * number + (text.at[i] - '0');
	}
	if (number > CLASS_PRIORITY_MAX)
		return false;
	*ret_number = negative ? -number : number;
	return true;
}

static const struct class_policy *class_by_policy(const struct policy *policy,
                                                  const struct queue_classes *classes)
{
	if (classes->tenant)
		return classes->tenant;
	return classes->model ? classes->model : policy->default_class;
}

struct queue_place queue_place(const struct policy *policy, const struct request *request,
                               const struct queue_classes *classes)
{
	struct queue_place place = { .class_of = class_by_policy(policy, classes) };
	const struct class_policy *asked = NULL;

	place.priority = place.class_of->priority;
	if (request->priority.len == 0 || !policy->queue.client_priority ||
	    number_read(request->priority, &place.priority))
		return place;
	asked = class_named(policy, request->priority);
	if (!asked)
		place.unknown = true;
	else
		place = (struct queue_place){ .class_of = asked, .priority = asked->priority };
	return place;
}

static double first_of(double client, double class, double policy)
{
	if (client > 0)
		return client;
	return class > 0 ? class : policy;
}

struct objectives queue_objectives(const struct policy *policy, const struct request *request,
                                   const struct class_policy *class_of)
{
	const struct objectives none = { 0 };
	const struct objectives *client =
	        policy->queue.client_objectives ? &request->objectives : &none;
	const struct objectives *class = &class_of->objectives;
	const struct objectives *all = &policy->queue.objectives;

	return (struct objectives){
		.ttft_ms = first_of(client->ttft_ms, class->ttft_ms, all->ttft_ms),
		.tpot_ms = first_of(client->tpot_ms, class->tpot_ms, all->tpot_ms),
		.e2e_ms = first_of(client->e2e_ms, class->e2e_ms, all->e2e_ms),
	};
}

static int32_t whole(double number)
{
	return (int32_t)(number < 0 ? number - 0.5 : number + 0.5);
}

void queue_set(const struct queue_policy *queue, const struct queue_place *place, double added_ms,
               struct decision *ret_decision)
{
	double offset_ms = added_ms;

	ret_decision->priority = 0;
	if (queue->priority_step == 0)
		ret_decision->priority = whole(place->priority);
	else
		offset_ms += place->priority * ((double)queue->priority_step / MSEC);
	if (offset_ms > QUEUE_OFFSET_MAX_MS)
		offset_ms = QUEUE_OFFSET_MAX_MS;
	else if (offset_ms < -QUEUE_OFFSET_MAX_MS)
		offset_ms = -QUEUE_OFFSET_MAX_MS;
	ret_decision->priority_offset_ms = whole(offset_ms);
}
