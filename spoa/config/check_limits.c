/* check_limits.c - what HAProxy cuts or wraps without a word. */
#include <string.h>

#include "spoa/config/check_rules.h"
#include "spoa/config/generate.h"
#include "spoa/messages/contract.h"

enum { NAME_MAX_BYTES = 63 }; /* of a whole variable name */

static void lines(const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->spoe->count; i++)
		for (uint32_t j = 0; j < facts->spoe->sections[i].count; j++) {
			const struct haproxy_line *line = &facts->spoe->sections[i].lines[j];

			if (line->count > GENERATE_WORDS_MAX || line->bytes >= GENERATE_LINE_MAX)
				report_spoe(facts, line, SEVERITY_ERROR, "args",
				            "%u words, %u characters; HAProxy takes %d and %d",
				            line->count, line->bytes, GENERATE_WORDS_MAX,
				            GENERATE_LINE_MAX - 1);
		}
}

static void count(const struct facts *facts, const struct haproxy_section *message)
{
	uint32_t arguments = 0;

	for (uint32_t i = 0; message && i < message->count; i++)
		if (strcmp(message->lines[i].words[0], "args") == 0)
			arguments += message->lines[i].count - 1;
	if (arguments > GENERATE_ARGUMENTS_MAX)
		report_spoe(facts, message->head, SEVERITY_ERROR, "args",
		            "%s has %u arguments; HAProxy wraps at %d silently", message->name,
		            arguments, GENERATE_ARGUMENTS_MAX);
}

static const struct haproxy_line *registered(const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->agent->count; i++)
		if (strcmp(facts->agent->lines[i].words[0], "register-var-names") == 0)
			return &facts->agent->lines[i];
	return NULL;
}

static void name(const struct facts *facts, const struct haproxy_line *line, const char *variable)
{
	const struct haproxy_line *place = line ? line : facts->agent->head;
	size_t length = strlen("txn..") + strlen(facts->prefix) + strlen(variable);

	if (!line || !line_has(line, variable))
		report_spoe(facts, place, SEVERITY_ERROR, "names",
		            "txn.%s.%s is not in register-var-names; HAProxy drops it",
		            facts->prefix, variable);
	if (length > NAME_MAX_BYTES)
		report_spoe(facts, place, SEVERITY_ERROR, "names",
		            "txn.%s.%s has %zu letters; HAProxy drops names of more than %d",
		            facts->prefix, variable, length, NAME_MAX_BYTES);
}

void check_limits(const struct facts *facts)
{
	const struct haproxy_line *line = registered(facts);

	lines(facts);
	count(facts, facts->route);
	count(facts, facts->first);
#define NAMED(id, variable, type, help) name(facts, line, variable);
	VARIABLES(NAMED)
#undef NAMED
}
