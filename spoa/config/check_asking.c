/* check_asking.c - the groups are sent, when they should be, and only then. */
#include <stdio.h>
#include <string.h>

#include "spoa/config/check_rules.h"
#include "spoa/messages/contract.h"

static const char *processing(const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->agent->count; i++) {
		const struct haproxy_line *line = &facts->agent->lines[i];

		if (strcmp(line->words[0], "timeout") == 0 && line->count > 2 &&
		    strcmp(line->words[1], "processing") == 0)
			return line->words[2];
	}
	return "the processing timeout";
}

static bool sends(const struct facts *facts, const struct haproxy_line *line, const char *group)
{
	const char *engine = line_after(line, "send-spoe-group");

	return engine && strcmp(engine, facts->engine) == 0 && line_has(line, group);
}

static bool guarded(const struct facts *facts, const struct proxy *proxy,
                    const struct haproxy_line *line)
{
	return line_asks(proxy, line, "nbsrv(", false) ||
	       line_asks(proxy, line, "srv_is_up(", false) || facts->agents_name[0] == '\0';
}

static void guard_error(const struct facts *facts, const struct proxy *proxy,
                        const struct haproxy_line *line)
{
	char variable[128];

	if (strcmp(line->words[0], "http-response") != 0)
		return;
	(void)snprintf(variable, sizeof(variable), "var(txn.%s.err)", facts->prefix);
	if (!line_asks(proxy, line, variable, true))
		report(facts, line, proxy, SEVERITY_ERROR, "guard-err",
		       "%s needs !{ %s -m found }; HAProxy 2.6 can hang here", CONTRACT_FIRST,
		       variable);
}

static bool sent(const struct facts *facts, const char *group)
{
	bool found = false;

	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];

		for (uint32_t j = 0; j < proxy->section->count; j++) {
			const struct haproxy_line *line = &proxy->section->lines[j];

			if (!sends(facts, line, group))
				continue;
			found = true;
			if (!guarded(facts, proxy, line))
				report(facts, line, proxy, SEVERITY_ERROR, "guard-up",
				       "%s is not guarded by nbsrv(%s); each request waits %s "
				       "while the "
				       "agent is down",
				       group, facts->agents_name, processing(facts));
			guard_error(facts, proxy, line);
		}
	}
	return found;
}

/* The group of the SPOE file that sends a message. */
static const char *group_of(const struct facts *facts, const char *message)
{
	for (uint32_t i = 0; i < facts->spoe->count; i++) {
		const struct haproxy_section *section = &facts->spoe->sections[i];

		for (uint32_t j = 0; strcmp(section->type, "spoe-group") == 0 && j < section->count;
		     j++)
			if (strcmp(section->lines[j].words[0], "messages") == 0 &&
			    line_has(&section->lines[j], message))
				return section->name;
	}
	return NULL;
}

static void message(const struct facts *facts, const struct haproxy_section *section)
{
	const char *group;

	for (uint32_t i = 0; section && i < section->count; i++)
		if (strcmp(section->lines[i].words[0], "event") == 0) {
			report_spoe(facts, &section->lines[i], SEVERITY_ERROR, "group",
			            "%s is sent by an event, before the rules that compute its "
			            "arguments",
			            section->name);
			return;
		}
	if (!section)
		return;
	group = group_of(facts, section->name);
	if (!group)
		report_spoe(facts, section->head, SEVERITY_ERROR, "group",
		            "%s is in no spoe-group; nothing sends it", section->name);
	else if (!sent(facts, group))
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR,
		       "group", "no rule says send-spoe-group %s %s", facts->engine, group);
}

void check_asking(const struct facts *facts)
{
	message(facts, facts->route);
	message(facts, facts->first);
}
