/* check_log.c - where the end lines go, and that none is held back.
 *
 * Which address is ours cannot be told from the file, so any UDP logger and any
 * ring count. */
#include <stdlib.h>
#include <string.h>

#include "spoa/config/check_rules.h"

enum { LINE_MIN = 2048, LINE_DEFAULT = 1024 };

enum transport { TRANSPORT_NONE, TRANSPORT_UDP, TRANSPORT_RING, TRANSPORT_UNIX };

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum transport transport_of(const char *target)
{
	if (begins(target, "ring@") || begins(target, "tcp@"))
		return TRANSPORT_RING;
	if (target[0] == '/' || begins(target, "unix@") || begins(target, "uxdg@"))
		return TRANSPORT_UNIX;
	if (begins(target, "std") || begins(target, "fd@") || strcmp(target, "global") == 0)
		return TRANSPORT_NONE;
	return TRANSPORT_UDP;
}

static const struct haproxy_section *ring_named(const struct facts *facts, const char *name)
{
	for (uint32_t i = 0; i < facts->cfg->count; i++)
		if (strcmp(facts->cfg->sections[i].type, "ring") == 0 &&
		    strcmp(facts->cfg->sections[i].name, name) == 0)
			return &facts->cfg->sections[i];
	return NULL;
}

/* The level behind the facility; NULL if there is none. */
static const char *level_of(const struct haproxy_line *line)
{
	uint32_t i = 2;

	while (i + 1 < line->count &&
	       (strcmp(line->words[i], "len") == 0 || strcmp(line->words[i], "format") == 0 ||
	        strcmp(line->words[i], "sample") == 0 || strcmp(line->words[i], "profile") == 0))
		i += 2;
	return i + 1 < line->count ? line->words[i + 1] : NULL;
}

static void level(const struct facts *facts, const struct haproxy_line *line)
{
	const char *word = level_of(line);

	if (word && strcmp(word, "info") != 0 && strcmp(word, "debug") != 0)
		report(facts, line, facts->frontend, SEVERITY_ERROR, "log-end",
		       "level %s: ends are logged at info and dropped here; slots are never "
		       "released",
		       word);
}

static void length(const struct facts *facts, const struct haproxy_line *line, const char *number)
{
	unsigned long bytes = number ? strtoul(number, NULL, 10) : LINE_DEFAULT;

	if (bytes < LINE_MIN)
		report(facts, line, facts->frontend, SEVERITY_WARNING, "log-len",
		       "end lines are cut at %lu", bytes);
}

static void ring_section(const struct facts *facts, const struct haproxy_section *section)
{
	const char *bytes = NULL;

	for (uint32_t i = 0; i < section->count; i++) {
		const struct haproxy_line *line = &section->lines[i];

		if (strcmp(line->words[0], "maxlen") == 0 && line->count > 1)
			bytes = line->words[1];
		if (strcmp(line->words[0], "server") == 0 && line->count > 2 &&
		    transport_of(line->words[2]) == TRANSPORT_UNIX && facts->version < 3000000)
			report(facts, line, NULL, SEVERITY_WARNING, "log-target",
			       "while nobody serves a unix path, a ring of 2.6 connects without "
			       "pause");
	}
	length(facts, section->head, bytes);
}

static void ring(const struct facts *facts, const struct haproxy_line *line)
{
	const char *name = begins(line->words[1], "ring@") ? line->words[1] + 5 : NULL;
	const struct haproxy_section *section = name ? ring_named(facts, name) : NULL;

	if (section)
		ring_section(facts, section);
	else if (name)
		report(facts, line, facts->frontend, SEVERITY_ERROR, "log-target",
		       "ring %s does not exist; HAProxy will not start", name);
}

static enum transport logger(const struct facts *facts, const struct haproxy_line *line)
{
	enum transport transport = transport_of(line->words[1]);

	if (transport == TRANSPORT_NONE)
		return transport;
	level(facts, line);
	if (transport == TRANSPORT_RING)
		ring(facts, line);
	else
		length(facts, line, line_after(line, "len"));
	if (transport == TRANSPORT_UNIX)
		report(facts, line, facts->frontend, SEVERITY_WARNING, "log-target",
		       "a unix datagram socket holds 11 lines; use UDP and a ring");
	return transport;
}

static void targets(const struct facts *facts)
{
	const struct haproxy_line *line, *last = facts->frontend->section->head;
	bool used[4] = { false };

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		if (strcmp(line->words[0], "log") != 0 || line->count < 2)
			continue;
		last = line;
		used[logger(facts, line)] = true;
		for (uint32_t j = 0; strcmp(line->words[1], "global") == 0 && facts->global &&
		                     j < facts->global->count;
		     j++)
			if (strcmp(facts->global->lines[j].words[0], "log") == 0 &&
			    facts->global->lines[j].count > 1)
				used[logger(facts, &facts->global->lines[j])] = true;
	}
	if (used[TRANSPORT_UNIX] || (used[TRANSPORT_RING] && used[TRANSPORT_UDP]))
		return;
	if (used[TRANSPORT_RING])
		report(facts, last, facts->frontend, SEVERITY_WARNING, "log-target",
		       "ring only: ends of streams that outlive a reload are lost");
	else if (used[TRANSPORT_UDP])
		report(facts, last, facts->frontend, SEVERITY_WARNING, "log-target",
		       "UDP only: ends are lost while the agent restarts");
	else
		report(facts, last, facts->frontend, SEVERITY_ERROR, "log-target",
		       "no log target of ours");
}

static void held_back(const struct facts *facts)
{
	static const char *const options[] = { "logasap", "dontlog-normal" };
	const struct haproxy_line *line;

	for (size_t i = 0; i < 2; i++)
		if (proxy_option(facts->frontend, options[i], &line))
			report(facts, line, facts->frontend, SEVERITY_ERROR, "log-end",
			       "option %s: %s; slots are never released", options[i],
			       i == 0 ? "the line comes at the headers" : "ends are not logged");
	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		if (strcmp(line->words[0], "no") == 0 && line->count == 2 &&
		    strcmp(line->words[1], "log") == 0)
			report(facts, line, facts->frontend, SEVERITY_ERROR, "log-end",
			       "no log: ends are not logged; slots are never released");
		if (line_has(line, "set-log-level") && line_has(line, "silent"))
			report(facts, line, facts->frontend, SEVERITY_ERROR, "log-end",
			       "set-log-level silent: ends are not logged; slots are never "
			       "released");
	}
}

void check_log(const struct facts *facts)
{
	if (strcmp(facts->frontend->section->type, "backend") == 0)
		return;
	targets(facts);
	held_back(facts);
}
