/* check_arguments.c - the rules that compute what we are told. */
#include <stdio.h>
#include <string.h>

#include "spoa/config/check_ours.h"
#include "spoa/config/check_rules.h"
#include "spoa/config/steering.h"

/* The expression of "set-var(txn.infer_...) EXPRESSION", NULL for other lines. */
static const char *working_variable(const struct haproxy_line *line)
{
	if (line->count < 3 || strncmp(line->words[0], "http-re", 7) != 0 ||
	    strncmp(line->words[1], "set-var(txn.infer_", 18) != 0)
		return NULL;
	return line->words[2];
}

static bool splits_at_commas(const char *expression)
{
	const char *at = strstr(expression, "hdr(");

	/* req.fhdr(), res.fhdr() are whole. */
	return at && (at == expression || at[-1] != 'f');
}

static void whole_headers(const struct facts *facts)
{
	const struct haproxy_line *line;
	const struct haproxy_section *sections[] = { facts->route, facts->first };
	static const char text[] =
	        "req.hdr() keeps only what follows the last comma; use req.fhdr()";

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		const char *expression = working_variable(line);

		if (expression && splits_at_commas(expression))
			report(facts, line, facts->frontend, SEVERITY_ERROR, "hdr-comma", "%s",
			       text);
	}
	for (size_t i = 0; i < 2; i++)
		for (uint32_t j = 0; sections[i] && j < sections[i]->count; j++)
			for (uint32_t k = 1; k < sections[i]->lines[j].count; k++) {
				line = &sections[i]->lines[j];
				if (strchr(line->words[k], '=') &&
				    splits_at_commas(strchr(line->words[k], '=') + 1))
					report_spoe(facts, line, SEVERITY_ERROR, "hdr-comma",
					            "%.*s: %s", (int)strcspn(line->words[k], "="),
					            line->words[k], text);
			}
}

static void queries(const struct facts *facts)
{
	static const char *const arrays[] = { "$.messages", "$.tools", "$.input", "$.stop" };
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		const char *expression = working_variable(line);
		const char *query = expression ? strstr(expression, "json_query(") : NULL;
		bool array = false;

		if (!query || strstr(query, "$.model"))
			continue;
		for (size_t j = 0; j < sizeof(arrays) / sizeof(arrays[0]); j++)
			array = array || strstr(query, arrays[j]);
		if (array && facts->version < 2009000)
			report(facts, line, facts->frontend, SEVERITY_ERROR, "json-array",
			       "json_query reads no arrays before 2.9");
		else
			report(facts, line, facts->frontend, SEVERITY_WARNING, "json-late",
			       "a late key costs 2 ns per byte of the body");
	}
}

static void seed(const struct facts *facts)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++) {
		const char *expression = working_variable(line);

		if (!expression || !strstr(line->words[1], "tenant"))
			continue;
		if (strstr(expression, "xxh64(0)") || strstr(expression, "xxh64()") ||
		    (facts->options->tenant_leaves && strstr(expression, "xxh64(1)")))
			report(facts, line, facts->frontend, SEVERITY_ERROR, "seed",
			       "tenant hash has the shipped seed; set INFER_SEED");
	}
}

/* The variable that the hashes are made of, if it is one: "txn.infer_p". */
static bool hashed_variable(const struct facts *facts, char ret_name[64])
{
	for (uint32_t i = 0; facts->route && i < facts->route->count; i++) {
		const char *at;
		const struct haproxy_line *line = &facts->route->lines[i];

		for (uint32_t j = 1; j < line->count; j++) {
			if (strncmp(line->words[j], "h0=var(", 7) != 0)
				continue;
			at = line->words[j] + 7;
			(void)snprintf(ret_name, 64, "%.*s", (int)strcspn(at, ")"), at);
			return true;
		}
	}
	return false;
}

static void kept_prompt(const struct facts *facts)
{
	char name[64], rule[96];

	if (!hashed_variable(facts, name))
		return;
	(void)snprintf(rule, sizeof(rule), "unset-var(%s)", name);
	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct haproxy_section *section = facts->proxies[i].section;

		for (uint32_t j = 0; j < section->count; j++)
			if (line_has(&section->lines[j], rule))
				return;
	}
	report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR, "unset-var",
	       "%s lives as long as the stream; unset it behind the group", name);
}

/* What would steer an engine or its side-car must not reach it. */
static void stripped(const struct facts *facts)
{
#define AS_ROW(name, help) { name, help },
	static const struct {
		const char *name, *help;
	} headers[] = { STEERING_HEADERS(AS_ROW) };
#undef AS_ROW
	const struct haproxy_line *line;

	if (strcmp(facts->frontend->section->type, "backend") == 0)
		return;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		bool found = false;

		for (uint32_t j = 0; (line = proxy_line(facts->frontend, j)); j++)
			found = found || (line_deletes(line, headers[i].name) &&
			                  ours_are_all(facts->ours, line));
		if (!found)
			report(facts, facts->frontend->section->head, facts->frontend,
			       SEVERITY_ERROR, "strip", "%s of clients reaches the engines; %s",
			       headers[i].name, headers[i].help);
	}
}

void check_arguments(const struct facts *facts)
{
	whole_headers(facts);
	queries(facts);
	seed(facts);
	kept_prompt(facts);
	stripped(facts);
}
