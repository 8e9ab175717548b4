/* check_backends.c - the backends whose servers are replicas. */
#include <stdlib.h>
#include <string.h>

#include "spoa/config/check_rules.h"

enum {
	POOL_PURGE_MS = 4000, /* vLLM's server closes idle connections after 5 s */
	QUEUE_MS = 60 * 1000, /* clients give up at 600 s in all */
	SERVER_MS = 300 * 1000,
	MARGIN_MS = 5 * 1000,
};

static const struct haproxy_line *or_head(const struct haproxy_line *line,
                                          const struct proxy *proxy)
{
	return line ? line : proxy->section->head;
}

static void options(const struct facts *facts, const struct proxy *proxy)
{
	const struct haproxy_line *line;
	const char *interval = NULL;

	if (facts->version < 3003000 && !proxy_option(proxy, "abortonclose", &line))
		report(facts, or_head(line, proxy), proxy, SEVERITY_ERROR, "abortonclose",
		       "option abortonclose is missing; engines work on for clients that left");
	if (proxy_option(proxy, "redispatch", &line))
		interval = line_after(line, "redispatch");
	if (!interval || strcmp(interval, "1") != 0)
		report(facts, or_head(line, proxy), proxy, SEVERITY_WARNING, "redispatch",
		       "option redispatch 1 is missing; the first retry hits the same server");
}

/* A retry on an answer hides what the first one said. On 2.6.12 with these rules a request
 * whose server closed the connection behind a 503 was lost instead of tried again, 7 of 60;
 * on 3.0.11 and 3.2.26 none of 640. */
static void first_try(const struct facts *facts, const struct proxy *proxy)
{
	const struct haproxy_line *retry = proxy_setting(proxy, "retry-on", NULL);

	if (facts->version < 3000000 || !retry ||
	    !(line_has(retry, "500") || line_has(retry, "503")))
		return;
	for (uint32_t i = 0; i < proxy->section->count; i++) {
		if (line_holds(&proxy->section->lines[i], "set-var-fmt(txn.infer_f1)"))
			return;
	}
	report(facts, proxy->section->head, proxy, SEVERITY_NOTE, "first-try",
	       "no tcp-response content set-var-fmt(txn.infer_f1): a full engine whose answer is "
	       "retried is not held back for its retry-after");
}

static void guards(const struct facts *facts, const struct proxy *proxy)
{
	for (uint32_t i = 0; i < proxy->section->count; i++) {
		const struct haproxy_line *line = &proxy->section->lines[i];

		if (strcmp(line->words[0], "use-server") == 0 && line_holds(line, "%[var(") &&
		    !line_asks(proxy, line, "be_name", false))
			report(facts, line, proxy, SEVERITY_ERROR, "guard",
			       "use-server needs { be_name,strcmp(txn.%s.instance) eq 0 }",
			       facts->prefix);
	}
}

static void timeouts(const struct facts *facts, const struct proxy *proxy)
{
	const struct haproxy_line *queue_line = proxy_setting(proxy, "timeout", "queue");
	const struct haproxy_line *server_line = proxy_setting(proxy, "timeout", "server");
	double queue = 0, server = 0;
	bool queue_known = proxy_timeout(proxy, "queue", &queue);

	if (!proxy_timeout(proxy, "server", &server)) {
		report(facts, proxy->section->head, proxy, SEVERITY_WARNING, "timeouts",
		       "timeout server is missing; a dead engine holds its requests for ever");
		return;
	}
	if (server < SERVER_MS)
		report(facts, server_line, proxy, SEVERITY_WARNING, "timeouts",
		       "timeout server %s cuts long prefills and silent answers",
		       server_line->words[2]);
	if (queue > QUEUE_MS)
		report(facts, queue_line, proxy, SEVERITY_WARNING, "timeouts",
		       "timeout queue %s: clients give up at 600 s in all", queue_line->words[2]);
	if (!queue_known && proxy_server_word(proxy, proxy_server(proxy, 0), "maxconn"))
		report(facts, proxy->section->head, proxy, SEVERITY_WARNING, "timeouts",
		       "server maxconn without timeout queue: requests wait for timeout connect");
	if (queue + server + MARGIN_MS > 1000.0 * facts->ttl_s)
		report(facts, server_line, proxy, SEVERITY_WARNING, "ttl",
		       "timeout queue %s + server %s exceed the ledger TTL %us; long requests "
		       "leave "
		       "the load until scur corrects it",
		       queue_known ? queue_line->words[2] : "0", server_line->words[2],
		       facts->ttl_s);
}

static void keep_alive(const struct facts *facts, const struct proxy *proxy,
                       const struct haproxy_line *server)
{
	const struct haproxy_line *retry = proxy_setting(proxy, "retry-on", NULL);
	const char *purge = proxy_server_word(proxy, server, "pool-purge-delay");
	double ms;

	if (!purge || !time_ms(purge, &ms) || ms > POOL_PURGE_MS)
		report(facts, server, proxy, SEVERITY_WARNING, "keep-alive",
		       "no pool-purge-delay of 4 s or less; vLLM closes idle connections after 5 "
		       "s");
	if (!retry || !line_has(retry, "conn-failure"))
		report(facts, or_head(retry, proxy), proxy, SEVERITY_WARNING, "keep-alive",
		       "no retry-on conn-failure; vLLM closes idle connections after 5 s");
}

static void ejection(const struct facts *facts, const struct proxy *proxy,
                     const struct haproxy_line *server)
{
	const char *observe = proxy_server_word(proxy, server, "observe");
	const char *error = proxy_server_word(proxy, server, "on-error");
	const char *weight = proxy_server_word(proxy, server, "weight");

	if (observe && error && strcmp(observe, "layer7") == 0 && strcmp(error, "mark-down") == 0)
		report(facts, server, proxy, SEVERITY_WARNING, "observe",
		       "engines answer 503 when full; overload would take all servers down");
	if (proxy_server_word(proxy, server, "agent-check") &&
	    (!weight || strtoul(weight, NULL, 10) < 100))
		report(facts, server, proxy, SEVERITY_ERROR, "weight",
		       "40 %% of weight %s is 0: no traffic, status UP", weight ? weight : "1");
	if (!proxy_server_word(proxy, server, "maxconn"))
		report(facts, server, proxy, SEVERITY_WARNING, "maxconn",
		       "server %s has no maxconn; the backlog waits in the engine, where no "
		       "priority "
		       "reaches it",
		       server->words[1]);
}

static void servers(const struct facts *facts, const struct proxy *proxy)
{
	const struct haproxy_line *server;
	bool template = false;

	/* Or slots that a controller fills, or what needs lines of its own. */
	for (uint32_t i = 0; (server = proxy_server(proxy, i)); i++) {
		keep_alive(facts, proxy, server);
		ejection(facts, proxy, server);
		template = template || strcmp(server->words[0], "server-template") == 0 ||
		           line_has(server, "enabled") || line_has(server, "disabled") ||
		           proxy_server_word(proxy, server, "agent-check");
	}
	if (!template)
		report(facts, proxy->section->head, proxy, SEVERITY_WARNING, "scaling",
		       "no server-template: a replica more needs a reload");
}

void check_backends(const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];

		if (proxy != facts->agents)
			guards(facts, proxy);
		if (!proxy->instance)
			continue;
		options(facts, proxy);
		first_try(facts, proxy);
		timeouts(facts, proxy);
		servers(facts, proxy);
	}
}
