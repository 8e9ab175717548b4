/* check_answering.c - what is done with our answer, and what serves without one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/config/check_rules.h"
#include "spoa/config/refusals.h"

static bool returns(const struct facts *facts, const struct haproxy_line *line, int status)
{
	char variable[128];
	const char *number = line_after(line, "status");

	(void)snprintf(variable, sizeof(variable), "txn.%s.status", facts->prefix);
	return line->count > 2 && strcmp(line->words[0], "http-request") == 0 &&
	       (strcmp(line->words[1], "return") == 0 || strcmp(line->words[1], "deny") == 0) &&
	       number && strtol(number, NULL, 10) == status && line_holds(line, variable);
}

static const struct haproxy_line *asking(const struct facts *facts)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (strcmp(line->words[0], "http-request") == 0 &&
		    line_has(line, "send-spoe-group"))
			return line;
	return NULL;
}

static void refusal(const struct facts *facts, int status)
{
	const struct haproxy_line *line, *asked = asking(facts);

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		if (!returns(facts, line, status))
			continue;
		if (asked && line->number < asked->number)
			report(facts, line, facts->frontend, SEVERITY_ERROR, "refusals",
			       "http-request return %d stands before the agent is asked", status);
		return;
	}
	report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR, "refusals",
	       "policy can answer %d; no http-request return handles it", status);
}

static void fallback(const struct facts *facts)
{
	const struct haproxy_line *line;

	if (proxy_setting(facts->frontend, "default_backend", NULL) ||
	    strcmp(facts->frontend->section->type, "frontend") != 0)
		return;
	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (strcmp(line->words[0], "use_backend") == 0 && !line_has(line, "if") &&
		    !line_has(line, "unless"))
			return;
	report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR, "fallback",
	       "no default_backend: nothing serves while the agent is silent");
}

static void delay(const struct facts *facts)
{
	bool instances = false, all = true;

	if (proxy_option(facts->frontend, "http-no-delay", NULL))
		return;
	for (uint32_t i = 0; i < facts->proxy_count; i++)
		if (facts->proxies[i].instance) {
			instances = true;
			all = all && proxy_option(&facts->proxies[i], "http-no-delay", NULL);
		}
	if (!instances || !all)
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR,
		       "http-no-delay",
		       "option http-no-delay is missing; streams come in bursts of about 200 ms");
}

static void key(const struct facts *facts)
{
	const struct haproxy_line *line = proxy_setting(facts->frontend, "unique-id-format", NULL);

	if (strcmp(facts->frontend->section->type, "backend") != 0 &&
	    (!line || !line_holds(line, "uuid(")))
		report(facts, line ? line : facts->frontend->section->head, facts->frontend,
		       SEVERITY_ERROR, "unique-id",
		       "unique-id-format %%[uuid()] is missing; decisions and ends cannot be tied");
}

static void compressed(const struct facts *facts)
{
	const struct haproxy_line *algorithms =
	        proxy_setting(facts->frontend, "compression", "algo");
	const struct haproxy_line *types = proxy_setting(facts->frontend, "compression", "type");

	if (algorithms && (!types || line_has(types, "text/event-stream")))
		report(facts, algorithms, facts->frontend, SEVERITY_WARNING, "compression",
		       "compression of text/event-stream holds tokens back");
}

static void aborts(const struct facts *facts)
{
	const struct haproxy_section *section = facts->frontend->section;

	for (uint32_t i = 0; strcmp(section->type, "frontend") == 0 && i < section->count; i++)
		if (section->lines[i].count > 1 &&
		    strcmp(section->lines[i].words[0], "option") == 0 &&
		    strcmp(section->lines[i].words[1], "abortonclose") == 0)
			report(facts, &section->lines[i], facts->frontend, SEVERITY_ERROR,
			       "abortonclose",
			       "option abortonclose belongs into defaults; HAProxy 3.2 refuses it "
			       "here");
}

void check_answering(const struct facts *facts)
{
#define HANDLED(status, ...) refusal(facts, status);
	if (facts->route && strcmp(facts->frontend->section->type, "backend") != 0) {
		REFUSALS(HANDLED)
	}
#undef HANDLED
	fallback(facts);
	delay(facts);
	aborts(facts);
	key(facts);
	compressed(facts);
}
