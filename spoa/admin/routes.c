/* routes.c - finds the page for a path, and asks for it. */
#include "spoa/admin/routes.h"

#include <stdlib.h>
#include <string.h>

#include "spoa/admin/act.h"
#include "spoa/admin/admin_parts.h"
#include "spoa/admin/explain.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/models.h"
#include "spoa/admin/state.h"
#include "spoa/web/listen.h"

enum who { ALL, READ, WRITE };

enum { DECISIONS_SHOWN = 50 };

struct route_row {
	const char *path;
	enum who who;
};

#define AS_ROW(id, path, who, help) { path, who },
static const struct route_row rows[] = { ROUTES(AS_ROW) };
#undef AS_ROW

static enum route route_of(const char *path)
{
	for (int i = 0; i < ROUTE_OTHER; i++) {
		size_t len = strlen(rows[i].path);
		bool open = rows[i].path[len - 1] == '/';

		if (open ? strncmp(path, rows[i].path, len) == 0 && path[len] != '\0'
		         : strcmp(path, rows[i].path) == 0)
			return (enum route)i;
	}
	return ROUTE_OTHER;
}

static void give_text(struct web_answer *answer, unsigned status, const char *text)
{
	answer->status = status;
	answer->content_type = "text/plain; charset=utf-8";
	answer->body = strdup(text);
	answer->len = answer->body ? strlen(text) : 0;
}

/* Takes the object. */
static void give_json(struct web_answer *answer, json_t *object)
{
	answer->body = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	json_decref(object);
	if (!answer->body) {
		web_problem(answer, 500, "Internal Server Error", "out of memory");
		return;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	answer->len = strlen(answer->body);
}

static void give_metrics(struct web_answer *answer, const struct sources *sources)
{
	struct page page = { 0 };

	metrics_print(&page, sources);
	answer->body = page_give(&page, &answer->len);
	if (!answer->body) {
		web_problem(answer, 500, "Internal Server Error", "out of memory");
		return;
	}
	answer->status = 200;
	answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
}

static void give_model(struct web_answer *answer, const struct sources *sources, const char *path)
{
	const char *name = path + strlen(rows[ROUTE_MODEL].path);
	json_t *model = models_one(sources, name);

	if (model)
		give_json(answer, model);
	else
		web_problem(answer, 404, "Not Found", "nobody serves this model");
}

static void give_decisions(struct web_answer *answer, const struct sources *sources,
                           const struct web_request *request)
{
	const struct decision_words words = { .now = sources->now,
		                              .wall_ms = sources->wall_ms,
		                              .stages = sources->stages,
		                              .ladder = &sources->facts->policy->ladder };
	const char *id = web_argument_named(request, "id");
	const char *n = web_argument_named(request, "n");
	unsigned long most = n ? strtoul(n, NULL, 10) : DECISIONS_SHOWN;
	json_t *found;

	if (!sources->decisions) {
		web_problem(answer, 404, "Not Found", "no decisions are kept");
	} else if (!id) {
		most = most > UINT32_MAX ? UINT32_MAX : most;
		give_json(answer,
		          json_pack("{s:o}", "decisions",
		                    decision_log_last(sources->decisions, (uint32_t)most,
		                                      web_argument_named(request, "candidates"),
		                                      &words)));
	} else {
		found = decision_log_find(sources->decisions, (struct span){ id, strlen(id) },
		                          &words);
		if (found)
			give_json(answer, found);
		else
			web_problem(answer, 404, "Not Found",
			            "no decision of this id, or it is too long ago");
	}
}

static void give_explained(struct web_answer *answer, const struct sources *sources,
                           const struct web_request *request)
{
	const char *id = web_argument_named(request, "id");
	bool dry = strcmp(request->method, "POST") == 0;
	json_t *explained = NULL;

	if (dry)
		explained = explain_dry(sources, request);
	else if (id)
		explained = explain_past(sources, (struct span){ id, strlen(id) });
	if (explained)
		give_json(answer, explained);
	else if (dry)
		web_problem(answer, 503, "Service Unavailable", "nothing can be decided here");
	else
		web_problem(answer, 404, "Not Found",
		            "no decision of this id, or it is too long ago");
}

static void give_ready(struct web_answer *answer, const struct sources *sources)
{
	if (sources->agent.ready)
		give_text(answer, 200, "ready\n");
	else
		web_problem(answer, 503, "Service Unavailable", "not listening yet, or no policy");
}

static void give(struct web_answer *answer, enum route route, const struct sources *sources,
                 const struct web_request *request)
{
	switch (route) {
	case ROUTE_HEALTHZ:
		give_text(answer, 200, "ok\n");
		break;
	case ROUTE_READYZ:
		give_ready(answer, sources);
		break;
	case ROUTE_METRICS:
		give_metrics(answer, sources);
		break;
	case ROUTE_MODELS:
		give_json(answer, models_list(sources));
		break;
	case ROUTE_MODEL:
		give_model(answer, sources, request->path);
		break;
	case ROUTE_AGENT:
		give_json(answer, state_agent(sources));
		break;
	case ROUTE_INSTANCES:
		give_json(answer, state_instances(sources));
		break;
	case ROUTE_REPLICAS:
		give_json(answer, state_replicas(sources, web_argument_named(request, "instance")));
		break;
	case ROUTE_PREFIX:
		give_json(answer, state_prefix(sources));
		break;
	case ROUTE_SESSIONS:
		give_json(answer, state_sessions(sources));
		break;
	case ROUTE_ADAPTERS:
		give_json(answer, state_adapters(sources));
		break;
	case ROUTE_HAPROXY:
		give_json(answer, state_haproxy(sources));
		break;
	case ROUTE_DECISIONS:
		give_decisions(answer, sources, request);
		break;
	case ROUTE_EXPLAIN:
		give_explained(answer, sources, request);
		break;
	case ROUTE_LIMITS:
		give_json(answer, state_limits(sources));
		break;
	case ROUTE_TENANTS:
		give_json(answer, state_tenants(sources));
		break;
	case ROUTE_STORE:
		give_json(answer, state_store(sources));
		break;
	case ROUTE_CONFIG:
		give_json(answer, state_config(sources));
		break;
	case ROUTE_ACT: /* changes something: routes_answer() */
	case ROUTE_OTHER:
	case ROUTE_COUNT:
		web_problem(answer, 404, "Not Found", request->path);
		break;
	}
}

void routes_answer(void *data, const struct web_request *request, struct web_answer *ret_answer)
{
	struct admin *admin = data;
	enum route route = route_of(request->path);
	struct sources sources;

	if (route == ROUTE_ACT && strcmp(request->method, "POST") == 0) {
		act_answer(admin->context, request, request->path + strlen(rows[ROUTE_ACT].path),
		           ret_answer);
	} else if (route == ROUTE_ACT) {
		web_problem(ret_answer, 405, "Method Not Allowed", request->method);
		ret_answer->allow = "POST";
	} else if (route != ROUTE_OTHER && strcmp(request->method, "GET") != 0 &&
	           !(route == ROUTE_EXPLAIN && strcmp(request->method, "POST") == 0)) {
		web_problem(ret_answer, 405, "Method Not Allowed", request->method);
		ret_answer->allow = route == ROUTE_EXPLAIN ? "GET, HEAD, POST" : "GET, HEAD";
	} else if (route != ROUTE_OTHER && rows[route].who == READ &&
	           request->peer == WEB_PEER_OTHER) {
		web_problem(ret_answer, 403, "Forbidden", "from here only /metrics and /v1/models");
	} else {
		admin_gather(admin, &sources);
		give(ret_answer, route, &sources, request);
	}
	if (ret_answer->status / 100 < 6)
		admin->routes.answers[route][ret_answer->status / 100]++;
}
