/* check_agent.c - the backend that leads to us. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spoa/config/check_rules.h"

enum { SLOW_MS = 1000, INTER_MS = 2000, FALL = 3 };

static double word_ms(const struct facts *facts, const struct haproxy_line *server,
                      const char *word, double otherwise)
{
	const char *text = proxy_server_word(facts->agents, server, word);
	double ms;

	return text && time_ms(text, &ms) ? ms : otherwise;
}

/* From a frozen agent to its mark: a check that just began, then the others. */
static double noticed_ms(const struct facts *facts, const struct haproxy_line *server)
{
	double inter = word_ms(facts, server, "inter", INTER_MS);
	double fast = word_ms(facts, server, "fastinter", inter);
	double fall = word_ms(facts, server, "fall", FALL);
	double check = inter;

	(void)proxy_timeout(facts->agents, "check", &check);
	return inter + (fall - 1) * fast + fall * check;
}

static void checks(const struct facts *facts, const struct haproxy_line *server)
{
	const struct haproxy_line *option = NULL;

	if (!proxy_server_word(facts->agents, server, "check")) {
		report(facts, server, facts->agents, SEVERITY_ERROR, "spop-check",
		       "server %s has no SPOP check", server->words[1]);
		return;
	}
	if (!proxy_option(facts->agents, "spop-check", &option))
		return; /* said once, of the backend */
	if (noticed_ms(facts, server) > SLOW_MS)
		report(facts, server, facts->agents, SEVERITY_WARNING, "spop-check",
		       "a frozen agent is noticed after %.1f s", noticed_ms(facts, server) / 1000);
}

/* A path is looked up inside the chroot. */
static void outside(const struct facts *facts, const struct haproxy_line *server)
{
	const char *path = server->words[2], *root = NULL;
	char folder[512];

	for (uint32_t i = 0; facts->global && i < facts->global->count; i++)
		if (strcmp(facts->global->lines[i].words[0], "chroot") == 0)
			root = line_after(&facts->global->lines[i], "chroot");
	if (strncmp(path, "unix@", 5) == 0)
		path += 5;
	if (!root || path[0] != '/')
		return;
	(void)snprintf(folder, sizeof(folder), "%s%s", root, path);
	*strrchr(folder, '/') = '\0';
	if (access(folder, F_OK) != 0)
		report(facts, server, facts->agents, SEVERITY_ERROR, "chroot",
		       "%s is outside chroot %s; the agent is never reached", path, root);
}

static void server_rules(const struct facts *facts)
{
	const struct haproxy_line *server;

	for (uint32_t i = 0; (server = proxy_server(facts->agents, i)); i++) {
		checks(facts, server);
		outside(facts, server);
		if (proxy_server_word(facts->agents, server, "maxconn"))
			report(facts, server, facts->agents, SEVERITY_ERROR, "agent-maxconn",
			       "maxconn queues decisions");
	}
}

static void mode(const struct facts *facts)
{
	const struct haproxy_line *line = proxy_setting(facts->agents, "mode", NULL);

	if (line && line->count > 1 && strcmp(line->words[1], "spop") == 0 &&
	    facts->version < 3001000)
		report(facts, line, facts->agents, SEVERITY_ERROR, "agent-mode",
		       "mode spop is refused before 3.1; mode tcp works everywhere");
}

static void own_backend(const struct facts *facts)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if ((strcmp(line->words[0], "use_backend") == 0 ||
		     strcmp(line->words[0], "default_backend") == 0) &&
		    line->count > 1 && strcmp(line->words[1], facts->agents_name) == 0)
			report(facts, line, facts->frontend, SEVERITY_ERROR, "own-backend",
			       "%s is the agent's own backend", facts->agents_name);
	for (uint32_t i = 0; i < facts->agents->section->count; i++)
		if (strcmp(facts->agents->section->lines[i].words[0], "use-server") == 0)
			report(facts, &facts->agents->section->lines[i], facts->agents,
			       SEVERITY_ERROR, "own-backend", "%s is the agent's own backend",
			       facts->agents_name);
}

void check_agent(const struct facts *facts)
{
	const struct haproxy_line *retries;

	if (!facts->agents)
		return; /* HAProxy itself refuses that */
	if (!proxy_option(facts->agents, "spop-check", NULL))
		report(facts, facts->agents->section->head, facts->agents, SEVERITY_ERROR,
		       "spop-check",
		       "option spop-check is missing; a dead agent costs every "
		       "request its timeout");
	server_rules(facts);
	mode(facts);
	own_backend(facts);
	retries = proxy_setting(facts->agents, "retries", NULL);
	if (retries && retries->count > 1 && strcmp(retries->words[1], "0") == 0 &&
	    facts->version < 3001000)
		report(facts, retries, facts->agents, SEVERITY_ERROR, "retries-0",
		       "retries 0 spins before 3.1 when the agent is down");
}
