/* control.c - /sim/state, /sim/last, /sim/fault and /sim/reset. */
#include "tests/sim/control.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "tests/sim/answer.h"
#include "tests/sim/connection.h"
#include "tests/sim/engine.h"

void control_state(struct connection *connection, const struct request *request)
{
	struct engine *engine = connection->engine;
	const struct engine_counts *counts = &engine->counts;
	struct bytes *body = &engine->scratch;
	struct engine_load load;

	(void)request;
	engine_catch_up(engine);
	load = engine_load_now(engine);
	bytes_clear(body);
#define NUMBER(name, value) bytes_format(body, ",\"" name "\":%" PRIu64, (uint64_t)(value))
	bytes_format(body, "{\"port\":%d", engine->port);
	NUMBER("requests", counts->requests);
	NUMBER("served", counts->served);
	NUMBER("aborted", counts->aborted);
	NUMBER("failed", counts->failed);
	NUMBER("refused", counts->refused);
	NUMBER("connections", counts->connections);
	NUMBER("prefill_asked", counts->prefill_asked);
	NUMBER("prefill_failed", counts->prefill_failed);
	NUMBER("hanging", engine->hanging);
	NUMBER("running", load.running);
	NUMBER("waiting", load.waiting);
	NUMBER("max_running", load.running_max);
	NUMBER("prompt_tokens", load.prompt_tokens);
	NUMBER("cached_tokens", load.cached_tokens);
	NUMBER("generated_tokens", load.generated_tokens);
	NUMBER("prefill_tokens", load.prefill_tokens);
	NUMBER("lora_loads", engine->loras.loads);
	NUMBER("blocks_used", load.blocks_used);
	NUMBER("blocks_cached", load.blocks_cached);
	bytes_text(body, ",\"ranks\":[");
	for (uint32_t rank = 0; rank < engine->options->ranks; rank++)
		bytes_format(body, "%s%" PRIu64, rank > 0 ? "," : "", counts->by_rank[rank]);
	bytes_text(body, "]");
#undef NUMBER
	bytes_text(body, "}\n");
	answer_whole(connection, 200, "application/json", bytes_span(body));
}

void control_last(struct connection *connection, const struct request *request)
{
	struct bytes *last = &connection->engine->last;
	struct span none = { "{}\n", 3 };

	(void)request;
	answer_whole(connection, 200, "application/json",
	             bytes_len(last) > 0 ? bytes_span(last) : none);
}

/* The rule for this path, or a free one; NULL when all are taken. */
static struct fault_rule *rule_for(struct engine *engine, const char *path)
{
	struct fault_rule *unused = NULL;

	for (int i = 0; i < FAULT_RULES_MAX; i++) {
		struct fault_rule *rule = &engine->rules[i];

		if (rule->fault.kind == FAULT_NONE)
			unused = rule;
		else if (strcmp(rule->path, path) == 0)
			return rule;
	}
	return unused;
}

static bool takes_rule(struct engine *engine, struct span body)
{
	const char *name = NULL;
	const char *path = "";
	json_t *root = json_loadb(body.at, body.len, 0, NULL);
	json_int_t count = -1;
	struct fault_rule *rule;
	struct fault fault;
	bool taken = false;

	if (root && json_unpack(root, "{s:s, s?I, s?s}", "fault", &name, "count", &count, "path",
	                        &path) == 0) {
		rule = rule_for(engine, path);
		if (rule && strlen(path) < sizeof(rule->path) && count != 0 &&
		    fault_parse((struct span){ name, strlen(name) }, &fault)) {
			rule->fault = fault;
			rule->count = count;
			memcpy(rule->path, path, strlen(path) + 1);
			taken = true;
		}
	}
	json_decref(root);
	return taken;
}

void control_fault(struct connection *connection, const struct request *request)
{
	if (takes_rule(connection->engine, request->body))
		answer_whole(connection, 200, "application/json", (struct span){ "{}\n", 3 });
	else
		answer_error(connection, 400, -1, "Expected fault, and perhaps count and path.");
}

void control_reset(struct connection *connection, const struct request *request)
{
	struct engine *engine = connection->engine;
	struct engine_load load;

	(void)request;
	engine_catch_up(engine);
	load = engine_load_now(engine);
	if (load.running + load.waiting > 0) {
		answer_error(connection, 409, -1, "Requests are running.");
		return;
	}
	for (uint32_t rank = 0; engine->models[0] && rank < engine->options->ranks; rank++)
		engine_model_clear(engine->models[rank]);
	engine_clear_counts(engine);
	answer_whole(connection, 200, "application/json", (struct span){ "{}\n", 3 });
}
