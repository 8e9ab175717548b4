/* live.c - one loop, run until everybody has answered or is late. */
#include "spoa/live.h"

#include <ev.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/clock.h"
#include "spoa/messages/contract.h"
#include "spoa/observe/models.h"
#include "spoa/observe/runtime.h"
#include "spoa/observe/snapshot.h"
#include "spoa/web/fetch.h"

enum { ANSWER_MAX = 16 * 1024 * 1024, LIST_MAX = 1024 * 1024, AT_ONCE = 32, DEADLINE_MS = 3000 };

static void copy_text(char to[LIVE_TEXT_MAX], struct span text)
{
	size_t len = text.len < LIVE_TEXT_MAX ? text.len : LIVE_TEXT_MAX - 1;

	if (len > 0)
		memcpy(to, text.at, len);
	to[len] = '\0';
}

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static void on_gone(void *data, uint32_t target)
{
	(void)data;
	(void)target;
}

struct asking {
	struct ev_loop *loop;
	struct live *live;
	uint32_t source;
	struct snapshot snapshot;
};

static void on_answer(void *data, const struct runtime_answer *answer)
{
	struct asking *asking = data;
	struct live_haproxy *haproxy = &asking->live->haproxy[asking->source];

	if (answer->status != RUNTIME_OK) {
		copy_text(haproxy->error, span_of(answer->error));
	} else if (!snapshot_read(&asking->snapshot, answer->text)) {
		copy_text(haproxy->error, span_of("the answer is not HAProxy's"));
	} else {
		copy_text(haproxy->version, asking->snapshot.read.info.version);
		(void)fleet_apply(asking->live->fleet, asking->source, asking->snapshot.facts,
		                  asking->snapshot.read.count, clock_monotonic(), on_gone, NULL);
	}
	ev_break(asking->loop, EVBREAK_ALL);
}

static bool ask_haproxy(struct live *live, struct ev_loop *loop, uint32_t source,
                        struct error *error)
{
	struct observe observe = { .loop = loop, .now = clock_monotonic };
	struct runtime_options options = { .address = live->haproxy[source].address,
		                           .deadline = DEADLINE_MS * MSEC,
		                           .answer_max = ANSWER_MAX };
	struct asking asking = { .loop = loop, .live = live, .source = source };
	struct runtime *runtime = runtime_new(&observe, &options, error);

	if (!runtime)
		return false;
	if (runtime_ask(runtime, RUNTIME_QUESTIONS, on_answer, &asking))
		ev_run(loop, 0);
	runtime_free(runtime);
	snapshot_done(&asking.snapshot);
	return true;
}

/* Answers of engines, into their places. */

static void on_list(void *data, const struct fetch_result *result)
{
	struct live_engine *engine = data;
	struct span names[INSTANCE_MODELS_MAX];
	size_t count;
	json_t *tree;

	engine->status = result->status;
	if (result->status == 0)
		copy_text(engine->error, span_of(result->error));
	if (result->status != 200 || !models_read((struct span){ result->body, result->body_bytes },
	                                          INSTANCE_MODELS_MAX, names, NULL, &count, &tree))
		return;
	for (size_t i = 0; i < count; i++)
		(void)snprintf(engine->names[engine->count++], NAME_MAX_BYTES, "%.*s",
		               (int)names[i].len, names[i].at);
	json_decref(tree);
}

static void on_version(void *data, const struct fetch_result *result)
{
	struct live_engine *engine = data;
	json_t *tree = result->status == 200 ? json_loadb(result->body, result->body_bytes, 0, NULL)
	                                     : NULL;
	const char *version = json_string_value(json_object_get(tree, "version"));

	if (version)
		copy_text(engine->version, span_of(version));
	json_decref(tree);
}

static void ask_engine(struct fetch *fetch, struct ev_loop *loop, const struct live *live,
                       struct live_engine *engine, const struct credential *credential,
                       bool version)
{
	const char *headers[] = { credential && credential->line[0] ? credential->line : NULL,
		                  NULL };
	char url[ADDRESS_MAX_BYTES + NAME_MAX_BYTES];
	struct fetch_request request = {
		.url = url, .headers = headers, .deadline_ms = DEADLINE_MS, .answer_max = LIST_MAX
	};

	(void)snprintf(url, sizeof(url), "http://%s%s",
	               fleet_target(live->fleet, engine->target)->label,
	               version ? "/version" : "/v1/models");
	while (!fetch_start(fetch, &request, version ? on_version : on_list, engine) &&
	       fetch_open(fetch) > 0)
		ev_run(loop, EVRUN_ONCE);
}

static bool is_known(const struct live *live, uint32_t target)
{
	return live_engine_at(live, target) != NULL;
}

static bool gather_engines(struct live *live)
{
	size_t replicas = 0;

	for (size_t i = 0; i < fleet_instance_count(live->fleet); i++)
		replicas += fleet_instance_at(live->fleet, i)->replica_count;
	live->engines = calloc(replicas + 1, sizeof(*live->engines));
	if (!live->engines)
		return false;
	for (size_t i = 0; i < fleet_instance_count(live->fleet); i++) {
		const struct instance *instance = fleet_instance_at(live->fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++) {
			uint32_t target = instance->replicas[k].target->id;

			if (!is_known(live, target))
				live->engines[live->engine_count++].target = target;
		}
	}
	return true;
}

static bool ask_engines(struct live *live, struct ev_loop *loop,
                        const struct credential *credential)
{
	struct fetch *fetch = fetch_new(loop, AT_ONCE);

	if (!fetch)
		return false;
	for (int version = 0; version < 2; version++)
		for (uint32_t i = 0; i < live->engine_count; i++)
			ask_engine(fetch, loop, live, &live->engines[i], credential, version);
	while (fetch_open(fetch) > 0)
		ev_run(loop, EVRUN_ONCE);
	fetch_free(fetch);
	return true;
}

static bool ask_all(struct live *live, const struct policy *policy,
                    const struct credential *credential, struct error *error)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	bool asked = loop != NULL;

	(void)fleet_skip(live->fleet, span_of(CONTRACT_BACKEND));
	(void)fleet_skip(live->fleet, span_of("infer-models"));
	for (uint32_t i = 0; asked && i < live->haproxy_count; i++)
		asked = ask_haproxy(live, loop, i, error);
	fleet_bind(live->fleet, policy);
	asked = asked && gather_engines(live) && ask_engines(live, loop, credential);
	if (loop)
		ev_loop_destroy(loop);
	return asked || error_set(error, "out of memory");
}

struct live *live_new(const struct policy *policy, const char *const *sockets, size_t socket_count,
                      const struct credential *credential, struct error *error)
{
	const struct fleet_limits limits = { .instances = 1024, .replicas = 16384, .models = 4096 };
	struct live *live = calloc(1, sizeof(*live));

	if (live)
		live->fleet = fleet_new(&limits);
	if (!live || !live->fleet) {
		(void)error_set(error, "out of memory");
		live_free(live);
		return NULL;
	}
	for (size_t i = 0; i < socket_count && i < SOURCES_MAX; i++)
		live->haproxy[live->haproxy_count++].address = sockets[i];
	if (ask_all(live, policy, credential, error))
		return live;
	live_free(live);
	return NULL;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	fleet_free(live->fleet);
	free(live->engines);
	free(live);
}

const struct live_engine *live_engine_at(const struct live *live, uint32_t target)
{
	for (uint32_t i = 0; i < live->engine_count; i++)
		if (live->engines[i].target == target)
			return &live->engines[i];
	return NULL;
}

bool live_serves(const struct live_engine *engine, const char *model)
{
	for (uint32_t i = 0; i < engine->count; i++)
		if (strcmp(engine->names[i], model) == 0)
			return true;
	return false;
}
