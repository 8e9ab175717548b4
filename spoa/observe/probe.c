/* probe.c - rounds that visit only who is ejected or stalled.
 *
 * What answers but has no such page, or wants a key, is alive as far as we can
 * see: to call that a failure would keep it out for ever, and the request on
 * trial tells the truth anyway.
 *
 * Engines say 200 while nothing is computed any more. Where requests waited in vain a
 * probe therefore asks for one token of an answer; an engine that answers no such
 * request at all (400, 422: it embeds, or knows the model by another name) is alive. */
#include "spoa/observe/probe.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/ejection.h"

enum { ANSWER_MAX = 64 * 1024, STATUS_NONE = -1 };

static const double jitter = 0.2;

static const char usual_page[] = "/health";
static const char token_page[] = "/v1/completions";

struct probe {
	struct observe observe;
	struct rounds *rounds;
	const struct scraper *scraper;
	int *last;  /* status said last, by target id */
	char *body; /* of the probe asked last */
	char headers[ROUNDS_HEADERS_MAX][2 * NAME_MAX_BYTES + 4];
	char rank[48]; /* a header, too */
};

static const struct health_policy *policy_of(const struct probe *probe)
{
	return &probe->observe.facts->policy->health;
}

/* The model to ask; NULL: a page is asked for. */
static const char *token_model(const struct probe *probe, uint32_t target)
{
	const struct facts *facts = probe->observe.facts;

	return ejection_wants_token(facts, target) ? fleet_name_at(facts->fleet, target) : NULL;
}

static const char *path_of(void *data, uint32_t target)
{
	const struct probe *probe = data;
	const struct engine_profile *profile = scraper_engine(probe->scraper, target);

	if (token_model(probe, target))
		return token_page;
	if (policy_of(probe)->probe_path[0])
		return policy_of(probe)->probe_path;
	return profile ? profile->health : usual_page;
}

static void add_header(struct rounds_request *request, const char *line)
{
	if (request->header_count < ROUNDS_HEADERS_MAX)
		request->headers[request->header_count++] = line;
}

static void add_headers(struct probe *probe, struct rounds_request *request)
{
	const struct health_policy *policy = policy_of(probe);

	for (uint32_t i = 0; i < policy->probe_header_count && i < ROUNDS_HEADERS_MAX; i++) {
		(void)snprintf(probe->headers[i], sizeof(probe->headers[i]), "%s: %s",
		               policy->probe_headers[i].name, policy->probe_headers[i].value);
		add_header(request, probe->headers[i]);
	}
}

/* The one that is to compute the token. */
static void add_rank(struct probe *probe, uint32_t id, struct rounds_request *request)
{
	const struct target *target = fleet_target(probe->observe.facts->fleet, id);

	if (!target || target->ranks == 0)
		return;
	(void)snprintf(probe->rank, sizeof(probe->rank), "x-data-parallel-rank: %u", target->rank);
	add_header(request, probe->rank);
}

static void refine(void *data, uint32_t target, struct rounds_request *request)
{
	struct probe *probe = data;
	const char *model = token_model(probe, target);
	json_t *question;

	add_headers(probe, request);
	if (!model)
		return;
	add_rank(probe, target, request);
	question = json_pack("{ss ss si}", "model", model, "prompt", "1", "max_tokens", 1);
	free(probe->body);
	probe->body = question ? json_dumps(question, JSON_COMPACT) : NULL;
	json_decref(question);
	request->body = probe->body;
	request->body_bytes = probe->body ? strlen(probe->body) : 0;
	request->deadline_ms = (uint32_t)(policy_of(probe)->probe_token_timeout / MSEC);
	add_header(request, "content-type: application/json");
}

static bool wanted(void *data, uint32_t target, usec_t now)
{
	const struct probe *probe = data;

	return ejection_wants_probe(probe->observe.facts, target, now);
}

static void on_new(void *data, uint32_t target)
{
	struct probe *probe = data;

	probe->last[target] = STATUS_NONE;
}

static enum probe_result result_of(const struct fetch_result *result)
{
	if (result->late)
		return PROBE_TIMEOUT;
	if (result->status == 0)
		return PROBE_REFUSED;
	if (result->status >= 200 && result->status < 300)
		return PROBE_GOOD;
	return (result->status >= 400 && result->status < 500 && result->status != 408 &&
	        result->status != 429) ||
	                       result->status == 501
	               ? PROBE_NO_PAGE
	               : PROBE_STATUS;
}

/* Once for each change, not every few seconds. */
static void say(struct probe *probe, const struct target *target, const struct fetch_result *result)
{
	if (probe->last[target->id] == result->status)
		return;
	probe->last[target->id] = result->status;
	if (result->status == 0)
		observe_say(&probe->observe, OBSERVE_WARNING, "%s: probe of %s failed: %s",
		            target->label, path_of(probe, target->id), result->error);
	else
		observe_say(&probe->observe, OBSERVE_NOTICE, "%s: probe of %s: status %d",
		            target->label, path_of(probe, target->id), result->status);
}

static enum rounds_verdict on_answer(void *data, const struct target *target,
                                     const struct fetch_result *result, usec_t now)
{
	struct probe *probe = data;
	struct facts *facts = probe->observe.facts;
	enum probe_result how = result_of(result);

	facts->counters->of[target->id].probes[how]++;
	say(probe, target, result);
	ejection_probed(facts, target->id, how == PROBE_GOOD || how == PROBE_NO_PAGE, now);
	return ROUNDS_GOOD; /* no back-off: the interval is the policy's */
}

struct probe *probe_new(const struct observe *observe, struct fetch *fetch,
                        const struct scraper *scraper, uint64_t seed)
{
	const struct health_policy *policy = &observe->facts->policy->health;
	struct rounds_options rounds = { .interval = policy->probe_interval,
		                         .jitter = jitter,
		                         .deadline = policy->probe_timeout,
		                         .backoff_max = policy->probe_interval,
		                         .answer_max = ANSWER_MAX,
		                         .seed = seed };
	struct rounds_visitor visitor = { .path = path_of,
		                          .refine = refine,
		                          .on_answer = on_answer,
		                          .wanted = wanted,
		                          .on_new = on_new };
	struct probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return NULL;
	visitor.data = probe;
	probe->observe = *observe;
	probe->scraper = scraper;
	probe->last = calloc(fleet_targets_max(observe->facts->fleet), sizeof(*probe->last));
	probe->rounds = rounds_new(observe, fetch, &rounds, &visitor);
	if (probe->last && probe->rounds)
		return probe;
	probe_free(probe);
	return NULL;
}

void probe_free(struct probe *probe)
{
	if (!probe)
		return;
	rounds_free(probe->rounds);
	free(probe->last);
	free(probe->body);
	free(probe);
}

void probe_start(struct probe *probe)
{
	rounds_start(probe->rounds);
}

void probe_stop(struct probe *probe)
{
	rounds_stop(probe->rounds);
}

void probe_set_policy(struct probe *probe)
{
	rounds_set_pace(probe->rounds, policy_of(probe)->probe_interval,
	                policy_of(probe)->probe_timeout);
}
