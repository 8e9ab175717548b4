/* act.c - finds the target, does it, says how things are then.
 *
 * A drained target is kept out of new decisions here. HAProxy knows of it only where the server
 * has agent-check; else what it sends by itself (while the agent is away, or by a retry) may
 * still go there. */
#include "spoa/admin/act.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "policies/state/facts.h"
#include "spoa/admin/admin.h"
#include "spoa/web/listen.h"

#define AS_ENUM(id, ...) ACT_##id,
enum act { ACTS(AS_ENUM) ACT_COUNT };
#undef AS_ENUM

#define AS_NAME(id, name, help) name,
static const char *const names[] = { ACTS(AS_NAME) };
#undef AS_NAME

static enum act act_named(const char *name)
{
	int act = 0;

	while (act < ACT_COUNT && strcmp(names[act], name) != 0)
		act++;
	return (enum act)act;
}

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

/* NULL: there is none. */
static struct target *target_named(const struct fleet *fleet, const char *name)
{
	const struct instance *instance = fleet_instance_named(fleet, span_of(name));
	const char *slash = strchr(name, '/');
	const struct replica *replica = NULL;

	if (instance)
		return instance->target;
	if (slash)
		instance =
		        fleet_instance_named(fleet, (struct span){ name, (size_t)(slash - name) });
	for (uint32_t source = 0; instance && !replica && source < SOURCES_MAX; source++)
		replica = fleet_replica_named(fleet, instance, source, span_of(slash + 1));
	return replica ? replica->target : fleet_target_at(fleet, span_of(name));
}

/* For itself, and for the replicas of an instance. */
static void each(struct facts *facts, const struct target *target,
                 void (*visit)(struct facts *facts, uint32_t target))
{
	const struct instance *instance = NULL;

	if (target->kind == TARGET_INSTANCE)
		instance = fleet_instance_named(facts->fleet, span_of(target->label));
	visit(facts, target->id);
	for (uint32_t i = 0; instance && i < instance->replica_count; i++)
		visit(facts, instance->replicas[i].target->id);
}

static void flush_prefix(struct facts *facts, uint32_t target)
{
	prefix_index_forget(facts->prefix, target);
}

static void flush_averages(struct facts *facts, uint32_t target)
{
	averages_forget(facts->averages, target);
}

static void flush_sessions(struct facts *facts, uint32_t target)
{
	pins_forget(facts->sessions, target);
}

static void take_back(struct facts *facts, uint32_t target)
{
	health_forget(facts->health, target);
}

/* What was done, and how it is now; requests in flight there, ours and others'. */
static void tell(const struct admin_context *context, const struct target *target,
                 struct web_answer *answer)
{
	const struct facts *facts = context->facts;
	usec_t now = context->now();
	json_t *object = json_pack("{ss sb ss sf}", "target", target->label, "drained",
	                           target->held, "health",
	                           health_state_names[health_state(facts->health, target->id, now)],
	                           "running", ledger_running(facts->ledger, target->id, now));

	answer->body = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	answer->status = 200;
	answer->content_type = "application/json";
	answer->len = answer->body ? strlen(answer->body) : 0;
}

/* NULL, or why it cannot be done. */
static const char *flush(struct facts *facts, const struct target *target, const char *what)
{
	static const struct {
		const char *name;
		void (*forget)(struct facts *facts, uint32_t target);
	} whats[] = { { "prefix", flush_prefix },
		      { "sessions", flush_sessions },
		      { "averages", flush_averages } };

	for (size_t i = 0; what && i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (strcmp(what, whats[i].name) != 0)
			continue;
		each(facts, target, whats[i].forget);
		return NULL;
	}
	return "what is prefix, sessions or averages";
}

/* NULL, or why it cannot be done. */
static const char *do_to(const struct admin_context *context, enum act act, struct target *target,
                         const char *what)
{
	struct facts *facts = context->facts;

	switch (act) {
	case ACT_DRAIN:
		fleet_hold(facts->fleet, target->id, true);
		break;
	case ACT_ENABLE:
		fleet_hold(facts->fleet, target->id, false);
		each(facts, target, take_back);
		break;
	case ACT_EJECT:
		if (target->kind == TARGET_INSTANCE)
			return "an instance cannot be ejected; drain it";
		health_eject(facts->health, target->id, context->now());
		break;
	case ACT_FLUSH:
		return flush(facts, target, what);
	case ACT_RELOAD:
	case ACT_COUNT:
		break;
	}
	return NULL;
}

/* To all ranks of a server that is not called by one of them. */
static void do_to_all(const struct admin_context *context, enum act act, struct target *target,
                      const struct web_request *request, struct web_answer *answer)
{
	const char *what = web_argument_named(request, "what");
	const char *problem = do_to(context, act, target, what);
	struct span address = target_address(target);
	char label[NAME_MAX_BYTES];

	if (strchr(web_argument_named(request, "target"), '#'))
		address.len = 0;
	for (uint32_t i = 1; i < target->ranks && address.len > 0 && !problem; i++) {
		struct target *rank;

		(void)snprintf(label, sizeof(label), "%.*s#%u", (int)address.len, address.at, i);
		rank = fleet_target_at(context->facts->fleet, span_of(label));
		if (rank)
			problem = do_to(context, act, rank, what);
	}
	if (problem)
		web_problem(answer, 400, "Bad Request", problem);
	else
		tell(context, target, answer);
}

static void reload(const struct admin_context *context, struct web_answer *answer)
{
	if (!context->reload || !context->reload(context->data)) {
		web_problem(answer, 422, "Unprocessable Content",
		            "the policy is refused, the old one goes on; the agent's log says why");
		return;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	answer->body = strdup("{\"reloaded\":true}");
	answer->len = answer->body ? strlen(answer->body) : 0;
}

static bool may(const struct web_request *request)
{
	return request->peer == WEB_PEER_UNIX && (request->uid == 0 || request->uid == geteuid());
}

void act_answer(const struct admin_context *context, const struct web_request *request,
                const char *verb, struct web_answer *ret_answer)
{
	const char *name = web_argument_named(request, "target");
	enum act act = act_named(verb);
	struct target *target;

	if (act == ACT_COUNT) {
		web_problem(ret_answer, 404, "Not Found", request->path);
	} else if (!may(request)) {
		web_problem(ret_answer, 403, "Forbidden",
		            "only root or the agent's own user may, over its unix socket: run "
		            "--admin unix:/run/inference-spoa/admin.sock");
	} else if (act == ACT_RELOAD) {
		reload(context, ret_answer);
	} else {
		target = name ? target_named(context->facts->fleet, name) : NULL;
		if (target)
			do_to_all(context, act, target, request, ret_answer);
		else
			web_problem(
			        ret_answer, 404, "Not Found",
			        "no target of this name: an instance, INSTANCE/SERVER, ip:port, "
			        "ip:port#rank");
	}
}
