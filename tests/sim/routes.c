/* routes.c - one table: method, path, what it does. */
#include "tests/sim/routes.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "tests/sim/answer.h"
#include "tests/sim/call.h"
#include "tests/sim/connection.h"
#include "tests/sim/control.h"
#include "tests/sim/engine.h"
#include "tests/sim/metrics_page.h"

static void chat(struct connection *connection, const struct request *request)
{
	call_begin(connection, request, CALL_CHAT);
}

static void text(struct connection *connection, const struct request *request)
{
	call_begin(connection, request, CALL_TEXT);
}

static void embedding(struct connection *connection, const struct request *request)
{
	call_begin(connection, request, CALL_EMBEDDING);
}

/* parent: of an adapter; else NULL. */
static void model(struct bytes *body, const struct sim_options *options, const char *name,
                  const char *parent, bool first)
{
	/* Who has no page of metrics looks like Ollama. */
	const char *owner = strcmp(options->page, "none") == 0 ? "library" : options->page;
	const char *quote = parent ? "\"" : "";

	bytes_format(body,
	             "%s{\"id\":\"%s\",\"object\":\"model\",\"created\":%ld,"
	             "\"owned_by\":\"%s\",\"root\":\"%s\",\"parent\":%s%s%s,"
	             "\"max_model_len\":%lu}",
	             first ? "" : ",", name, (long)time(NULL), owner, name, quote,
	             parent ? parent : "null", quote,
	             (unsigned long)options->engine.kv_blocks * options->engine.block_tokens);
}

static void models(struct connection *connection, const struct request *request)
{
	const struct sim_options *options = connection->engine->options;
	struct bytes *body = &connection->engine->scratch;
	int count = options->models.count > 0 ? options->models.count : 1;

	(void)request;
	bytes_clear(body);
	bytes_text(body, "{\"object\":\"list\",\"data\":[");
	for (int i = 0; i < count; i++)
		model(body, options, options->models.count > 0 ? options->models.texts[i] : "sim",
		      NULL, i == 0);
	for (int i = 0; i < options->adapters.count; i++)
		model(body, options, options->adapters.texts[i],
		      options->models.count > 0 ? options->models.texts[0] : "sim", false);
	bytes_text(body, "]}");
	answer_whole(connection, 200, "application/json", bytes_span(body));
}

static void health(struct connection *connection, const struct request *request)
{
	(void)request;
	answer_whole(connection, 200, "text/plain", (struct span){ 0 });
}

static void metrics(struct connection *connection, const struct request *request)
{
	struct bytes *body = &connection->engine->scratch;

	(void)request;
	bytes_clear(body);
	if (!metrics_page_write(connection->engine, body)) {
		answer_whole(connection, 404, "text/plain", (struct span){ 0 });
		return;
	}
	answer_whole(connection, 200, "text/plain; version=0.0.4; charset=utf-8", bytes_span(body));
}

static const struct route {
	const char *method, *path;
	void (*serve)(struct connection *connection, const struct request *request);
	bool faulty; /* the engine's fault rules are looked at here; a call does so itself */
} routes[] = {
	{ "POST", "/v1/chat/completions", chat, false },
	{ "POST", "/v1/completions", text, false },
	{ "POST", "/v1/embeddings", embedding, false },
	{ "GET", "/v1/models", models, true },
	{ "GET", "/health", health, true },
	{ "GET", "/metrics", metrics, true },
	{ "GET", "/sim/state", control_state, false },
	{ "GET", "/sim/last", control_last, false },
	{ "POST", "/sim/fault", control_fault, false },
	{ "POST", "/sim/reset", control_reset, false },
};

/* True when a fault has taken the answer's place. */
static bool fails(struct connection *connection, const struct request *request)
{
	struct fault fault = { 0 };

	if (!connection->slept)
		fault = engine_fault(connection->engine, request->path, false);
	switch (fault.kind) {
	case FAULT_STATUS:
		answer_error(connection, fault.status, fault.retry_after, "Simulated fault.");
		return true;
	case FAULT_RESET:
	case FAULT_RESET_MID:
		connection_close(connection, true);
		return true;
	case FAULT_HANG:
	case FAULT_HANG_MID:
		connection_hang(connection, false);
		return true;
	case FAULT_SLOW:
		connection_sleep(connection, fault.delay_ms);
		return true;
	case FAULT_CLOSE:
		connection->close_after = true;
		return false;
	case FAULT_NONE:
		break;
	}
	return false;
}

void routes_serve(struct connection *connection, const struct request *request)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		if (!span_is(request->path, routes[i].path) ||
		    !span_is(request->head->words[0], routes[i].method))
			continue;
		if (!routes[i].faulty || !fails(connection, request))
			routes[i].serve(connection, request);
		return;
	}
	answer_error(connection, 404, -1, "Not Found");
}
