/* check_log_format.c - the end line's format against the contract.
 *
 * A log-profile (3.1 and newer) may hold ours; the frontend's own log-format then
 * still decides when the line is written. */
#include <string.h>

#include "spoa/config/check_rules.h"
#include "spoa/messages/contract.h"

struct field {
	const char *name;
	const char *expression;
};

static const struct field fields[] = {
#define AS_ROW(id, name, expression, help) { name, expression },
	END_FIELDS(AS_ROW)
#undef AS_ROW
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static const char *next_field(const char *at)
{
	at += strcspn(at, " ");
	return *at == ' ' ? at + 1 : at;
}

/* Our variables carry another prefix if the SPOE file says so. */
static bool same_expression(const struct facts *facts, const char *at, size_t length,
                            const char *wanted)
{
	if (strcmp(facts->prefix, CONTRACT_ENGINE) != 0 && strncmp(wanted, "%[var(txn.", 10) == 0)
		return length > 10 && strncmp(at, wanted, 10) == 0;
	return length == strlen(wanted) && strncmp(at, wanted, length) == 0;
}

static bool field(const struct facts *facts, const struct haproxy_line *line, size_t i,
                  const char *at)
{
	size_t length = strcspn(at, " "), name = strcspn(at, "= ");

	if (name != strlen(fields[i].name) || strncmp(at, fields[i].name, name) != 0) {
		report(facts, line, NULL, SEVERITY_ERROR, "contract",
		       "log field %zu is %.*s, contract %d expects %s", i + 1, (int)name, at,
		       CONTRACT_VERSION, fields[i].name);
		return false;
	}
	if (length == name ||
	    !same_expression(facts, at + name + 1, length - name - 1, fields[i].expression)) {
		report(facts, line, NULL, SEVERITY_ERROR, "contract",
		       "log field %.*s, contract %d expects %s=%s", (int)length, at,
		       CONTRACT_VERSION, fields[i].name, fields[i].expression);
		return false;
	}
	return true;
}

static void format(const struct facts *facts, const struct haproxy_line *line, const char *text)
{
	if (strncmp(text, CONTRACT_END_PREFIX, strlen(CONTRACT_END_PREFIX)) != 0) {
		report(facts, line, NULL, SEVERITY_ERROR, "contract",
		       "the log format does not begin with \"%s\"; no end is understood",
		       CONTRACT_END_PREFIX);
		return;
	}
	text += strlen(CONTRACT_END_PREFIX);
	for (size_t i = 0; i < FIELD_COUNT; i++, text = next_field(text)) {
		if (*text == '\0' && i >= END_FIELDS_AT_FIRST) {
			report(facts, line, NULL, SEVERITY_WARNING, "first-try",
			       "log field %s=%s is missing; what a retry hides is not known",
			       fields[i].name, fields[i].expression);
			return;
		}
		if (!field(facts, line, i, text))
			return;
	}
}

/* The line "on close format TEXT" of the profile that a logger names. */
static const struct haproxy_line *profile_line(const struct facts *facts)
{
	const struct haproxy_line *line;
	const char *name = NULL;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (strcmp(line->words[0], "log") == 0 && line_after(line, "profile"))
			name = line_after(line, "profile");
	for (uint32_t i = 0; name && i < facts->cfg->count; i++) {
		const struct haproxy_section *section = &facts->cfg->sections[i];

		for (uint32_t j = 0; strcmp(section->type, "log-profile") == 0 &&
		                     strcmp(section->name, name) == 0 && j < section->count;
		     j++)
			if (line_has(&section->lines[j], "close") &&
			    line_after(&section->lines[j], "format"))
				return &section->lines[j];
	}
	return NULL;
}

void check_log_format(const struct facts *facts)
{
	const struct haproxy_line *line = proxy_setting(facts->frontend, "log-format", NULL);
	const struct haproxy_line *profile = profile_line(facts);

	if (strcmp(facts->frontend->section->type, "backend") == 0)
		return;
	if (!line || line->count < 2) {
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_ERROR,
		       "contract", "log-format is missing; no end is understood");
		return;
	}
	if (!strstr(line->words[1], "%ID") && !strstr(line->words[1], "%B") &&
	    !strstr(line->words[1], "%Ta"))
		report(facts, line, facts->frontend, SEVERITY_ERROR, "log-end",
		       "log-format without %%ID, %%B or %%Ta: the line comes at the headers; slots "
		       "are never released");
	if (profile)
		format(facts, profile, line_after(profile, "format"));
	else
		format(facts, line, line->words[1]);
}
