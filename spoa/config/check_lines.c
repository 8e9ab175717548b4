/* check_lines.c - questions about lines and proxies that many rules ask, and the
 * one way to report. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spoa/config/check_facts.h"

const struct haproxy_line *proxy_line(const struct proxy *proxy, uint32_t i)
{
	uint32_t before = proxy->defaults ? proxy->defaults->count : 0;

	if (i < before)
		return &proxy->defaults->lines[i];
	return i - before < proxy->section->count ? &proxy->section->lines[i - before] : NULL;
}

const struct haproxy_line *proxy_setting(const struct proxy *proxy, const char *first,
                                         const char *second)
{
	const struct haproxy_line *line, *found = NULL;

	for (uint32_t i = 0; (line = proxy_line(proxy, i)); i++)
		if (strcmp(line->words[0], first) == 0 &&
		    (!second || (line->count > 1 && strcmp(line->words[1], second) == 0)))
			found = line;
	return found;
}

bool proxy_option(const struct proxy *proxy, const char *name, const struct haproxy_line **ret_line)
{
	const struct haproxy_line *line, *found = NULL;
	bool on = false;

	for (uint32_t i = 0; (line = proxy_line(proxy, i)); i++) {
		uint32_t no = strcmp(line->words[0], "no") == 0 ? 1 : 0;

		if (line->count > no + 1 && strcmp(line->words[no], "option") == 0 &&
		    strcmp(line->words[no + 1], name) == 0) {
			found = line;
			on = no == 0;
		}
	}
	if (ret_line)
		*ret_line = found;
	return on;
}

const struct haproxy_line *proxy_server(const struct proxy *proxy, uint32_t i)
{
	for (uint32_t j = 0; j < proxy->section->count; j++) {
		const struct haproxy_line *line = &proxy->section->lines[j];

		if (strncmp(line->words[0], "server", 6) == 0 && line->count > 2 && i-- == 0)
			return line;
	}
	return NULL;
}

const char *proxy_server_word(const struct proxy *proxy, const struct haproxy_line *server,
                              const char *word)
{
	const struct haproxy_line *line;
	const char *found = line_after(server, word);

	for (uint32_t i = 0; !found && (line = proxy_line(proxy, i)) && line != server; i++)
		if (strcmp(line->words[0], "default-server") == 0 && line_after(line, word))
			found = line_after(line, word);
	return found;
}

bool line_has(const struct haproxy_line *line, const char *word)
{
	for (uint32_t i = 0; i < line->count; i++)
		if (strcmp(line->words[i], word) == 0)
			return true;
	return false;
}

bool line_holds(const struct haproxy_line *line, const char *part)
{
	for (uint32_t i = 0; i < line->count; i++)
		if (strstr(line->words[i], part))
			return true;
	return false;
}

const char *line_after(const struct haproxy_line *line, const char *word)
{
	for (uint32_t i = 0; i < line->count; i++)
		if (strcmp(line->words[i], word) == 0)
			return i + 1 < line->count ? line->words[i + 1] : "";
	return NULL;
}

static bool acl_holds(const struct proxy *proxy, const char *name, const char *part)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(proxy, i)); i++)
		if (strcmp(line->words[0], "acl") == 0 && line->count > 2 &&
		    strcmp(line->words[1], name) == 0 && line_holds(line, part))
			return true;
	return false;
}

/* A condition is what follows "if" or "unless": names of acls and { tests }, each
 * with a ! before it or not. */
bool line_deletes(const struct haproxy_line *line, const char *header)
{
	const char *name = line_after(line, "del-header"), *method = line_after(line, "-m");
	size_t len = strlen(header);

	if (!name || strcmp(line->words[0], "http-request") != 0)
		return false;
	if (method && strcmp(method, "beg") == 0)
		return name[0] != '\0' && strncasecmp(header, name, strlen(name)) == 0;
	return (!method || strcmp(method, "str") == 0) && header[len - 1] != '-' &&
	       strcasecmp(header, name) == 0;
}

bool line_asks(const struct proxy *proxy, const struct haproxy_line *line, const char *part,
               bool negated)
{
	bool condition = false, unless = false, not = false;

	for (uint32_t i = 0; i < line->count; i++) {
		const char *word = line->words[i];
		bool opposite = *word == '!';

		if (!condition) {
			unless = strcmp(word, "unless") == 0;
			condition = unless || strcmp(word, "if") == 0;
			continue;
		}
		if (strcmp(word + opposite, "{") == 0) {
			not = opposite;
			continue;
		}
		if (strcmp(word, "}") == 0) {
			not = false;
			continue;
		}
		if ((strstr(word, part) && (not != unless) == negated) ||
		    (acl_holds(proxy, word + opposite, part) && (opposite != unless) == negated))
			return true;
	}
	return false;
}

bool time_ms(const char *text, double *ret_ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {
		{ "", 1 },         { "us", 0.001 },     { "ms", 1 },          { "s", 1000 },
		{ "m", 60 * 1e3 }, { "h", 3600 * 1e3 }, { "d", 24 * 3600e3 },
	};
	char *end = NULL;
	unsigned long number = strtoul(text, &end, 10);

	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0) {
			*ret_ms = (double)number * units[i].ms;
			return true;
		}
	return false;
}

bool proxy_timeout(const struct proxy *proxy, const char *name, double *ret_ms)
{
	const struct haproxy_line *line = proxy_setting(proxy, "timeout", name);

	return line && line->count > 2 && time_ms(line->words[2], ret_ms);
}

static bool silenced(const char *rules, const char *rule)
{
	size_t length = strlen(rule);

	for (const char *at = strstr(rules, rule); at; at = strstr(at + 1, rule))
		if ((at == rules || at[-1] == ' ') && strchr(" \t\r", at[length]))
			return true;
	return false;
}

/* The walks for two versions, or over two filters, find the same. */
static bool known(struct problems *problems, const char *file, uint32_t line, const char *rule,
                  const char *text)
{
	const struct problem *problem;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		if (problem->place.line == line && problem->place.file &&
		    strcmp(problem->place.file, file) == 0 && strcmp(problem->rule, rule) == 0 &&
		    strcmp(problem->text, text) == 0)
			return true;
	return false;
}

/* Of which file, and where in it. */
struct origin {
	const char *file;
	const struct haproxy_cfg *cfg;
	const struct haproxy_line *line; /* NULL: of the whole file */
	const char *title;               /* NULL: of no proxy */
};

static void add(const struct facts *facts, struct origin origin, enum severity severity,
                const char *rule, const char *text)
{
	struct place place = { .file = origin.file, .line = origin.line ? origin.line->number : 0 };

	if ((origin.cfg && silenced(origin.cfg->ignored, rule)) ||
	    (origin.line && silenced(origin.line->ignored, rule)) ||
	    known(facts->problems, origin.file, place.line, rule, text))
		return;
	problems_add(facts->problems, place, severity, origin.title, rule, "%s", text);
}

/* The file of the main configuration that the line is of. */
static const char *path_of(const struct facts *facts, const struct haproxy_line *line)
{
	uint32_t section = 0;

	for (uint32_t i = 0; line && i < facts->file_count; i++) {
		for (; section < facts->files[i].end; section++) {
			const struct haproxy_section *at = &facts->cfg->sections[section];

			if (line == at->head || (line >= at->lines && line < at->lines + at->count))
				return facts->files[i].path;
		}
	}
	return facts->path;
}

void report(const struct facts *facts, const struct haproxy_line *line, const struct proxy *proxy,
            enum severity severity, const char *rule, const char *format, ...)
{
	const struct origin origin = { path_of(facts, line), facts->cfg, line,
		                       proxy ? proxy->title : NULL };
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add(facts, origin, severity, rule, text);
}

void report_spoe(const struct facts *facts, const struct haproxy_line *line, enum severity severity,
                 const char *rule, const char *format, ...)
{
	const struct origin origin = { facts->spoe_path, facts->spoe, line, NULL };
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add(facts, origin, severity, rule, text);
}
