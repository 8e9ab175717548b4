/* check_messages.c - the arguments of both messages against the contract, and the
 * hashes against the ladder. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/config/check_rules.h"
#include "spoa/messages/contract.h"

/* One NAME=EXPRESSION of an args line. */
struct argument {
	struct span name;
	const char *expression;
	const struct haproxy_line *line;
};

static bool is(struct span name, const char *word)
{
	return name.len == strlen(word) && memcmp(name.at, word, name.len) == 0;
}

/* Steps through a message; false behind the last. */
static bool next(const struct haproxy_section *message, uint32_t *line, uint32_t *word,
                 struct argument *ret_argument)
{
	for (; *line < message->count; (*line)++, *word = 1) {
		const struct haproxy_line *at = &message->lines[*line];
		const char *text, *equals;

		if (strcmp(at->words[0], "args") != 0 || *word >= at->count)
			continue;
		text = at->words[(*word)++];
		equals = strchr(text, '=');
		if (equals)
			*ret_argument = (struct argument){ { text, (size_t)(equals - text) },
				                           equals + 1,
				                           at };
		else
			*ret_argument = (struct argument){ { text, strlen(text) }, "", at };
		return true;
	}
	return false;
}

/* The number of "h12"; -1 for another name. */
static int block_of(struct span name)
{
	char digits[4] = "";

	if (name.len < 2 || name.len > 4 || name.at[0] != 'h')
		return -1;
	memcpy(digits, name.at + 1, name.len - 1);
	return strspn(digits, "0123456789") == name.len - 1 ? (int)strtol(digits, NULL, 10) : -1;
}

static const char *const route_names[] = {
#define AS_NAME(id, name, expression, help) name,
	ROUTE_ARGUMENTS(AS_NAME)
};
static const char *const first_names[] = { FIRST_ARGUMENTS(AS_NAME) };
#undef AS_NAME

enum {
	ROUTE_NAMES = sizeof(route_names) / sizeof(route_names[0]),
	FIRST_NAMES = sizeof(first_names) / sizeof(first_names[0]),
};

static bool listed(const char *const *names, size_t count, struct span name)
{
	for (size_t i = 0; i < count; i++)
		if (is(name, names[i]))
			return true;
	return false;
}

/* What the route message may have beside what is listed: hashes, and headers of affinity rules. */
static bool is_extra(struct span name)
{
	const size_t header = strlen(CONTRACT_HEADER);

	return block_of(name) >= 0 ||
	       (name.len > header && memcmp(name.at, CONTRACT_HEADER, header) == 0);
}

static void names(const struct facts *facts, const struct haproxy_section *message,
                  const char *const *known, size_t count)
{
	struct argument argument;

	for (uint32_t line = 0, word = 1; next(message, &line, &word, &argument);) {
		if (!listed(known, count, argument.name) &&
		    (message != facts->route || !is_extra(argument.name)))
			report_spoe(facts, argument.line, SEVERITY_ERROR, "contract",
			            "%.*s is no argument of %s in contract %d",
			            (int)argument.name.len, argument.name.at, message->name,
			            CONTRACT_VERSION);
		if (is(argument.name, "v") &&
		    strtol(argument.expression + strcspn(argument.expression, "0123456789"), NULL,
		           10) != CONTRACT_VERSION)
			report_spoe(facts, argument.line, SEVERITY_ERROR, "contract",
			            "v is %s, this build speaks contract %d", argument.expression,
			            CONTRACT_VERSION);
		if (is(argument.name, "id") && strcmp(argument.expression, "unique-id") != 0)
			report_spoe(facts, argument.line, SEVERITY_ERROR, "unique-id",
			            "id is %s; only unique-id ties a decision to its end",
			            argument.expression);
	}
}

static void required(const struct facts *facts, const struct haproxy_section *message,
                     const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct argument argument;
		bool found = false;

		for (uint32_t line = 0, word = 1; next(message, &line, &word, &argument);)
			found = found || is(argument.name, wanted[i]);
		if (!found)
			report_spoe(facts, message->head, SEVERITY_ERROR, "contract",
			            "%s has no argument %s", message->name, wanted[i]);
	}
}

/* True if some rule of the main file sets the variable. */
static bool is_set(const struct facts *facts, const char *variable)
{
	char rule[96];

	(void)snprintf(rule, sizeof(rule), "set-var(%s)", variable);
	for (uint32_t i = 0; i < facts->proxy_count; i++)
		for (uint32_t j = 0; j < facts->proxies[i].section->count; j++)
			if (line_has(&facts->proxies[i].section->lines[j], rule))
				return true;
	return false;
}

static void source(const struct facts *facts, const struct argument *argument, int block)
{
	const char *at = strstr(argument->expression, "(txn.");
	char variable[64];

	if (block != 0 || !at)
		return;
	(void)snprintf(variable, sizeof(variable), "%.*s", (int)strcspn(at + 1, "),"), at + 1);
	if (!is_set(facts, variable))
		report_spoe(facts, argument->line, SEVERITY_ERROR, "contract",
		            "hashes are made of %s, which no rule of %s sets", variable,
		            facts->path);
}

/* The last bytes(...) of an expression is the slice. */
static const char *slice_of(const char *expression)
{
	const char *slice = NULL;

	for (const char *at = strstr(expression, "bytes("); at; at = strstr(at + 1, "bytes("))
		slice = at;
	return slice;
}

static void block(const struct facts *facts, const struct argument *argument, int i)
{
	const struct ladder *ladder = facts->ladder;
	const char *slice = slice_of(argument->expression);
	char wanted[64];

	source(facts, argument, i);
	if ((uint32_t)i >= ladder->count) {
		report_spoe(facts, argument->line, SEVERITY_ERROR, "ladder",
		            "h%d: ladder %s has only %" PRIu32 " blocks", i, ladder->id,
		            ladder->count);
		return;
	}
	(void)snprintf(wanted, sizeof(wanted), "bytes(%" PRIu32 ",%" PRIu32 ")", ladder->offset[i],
	               ladder->length[i]);
	if (!slice || strncmp(slice, wanted, strlen(wanted)) != 0)
		report_spoe(facts, argument->line, SEVERITY_ERROR, "ladder",
		            "h%d: %.*s, ladder expects %s", i,
		            slice ? (int)strcspn(slice, ")") + 1 : 5, slice ? slice : "whole",
		            wanted);
	else if (strcmp(slice + strlen(wanted), ",xxh64(0)") != 0)
		report_spoe(facts, argument->line, SEVERITY_ERROR, "ladder",
		            "h%d: %s is not hashed by xxh64(0) alone", i, wanted);
}

static void ladder(const struct facts *facts)
{
	struct argument argument;
	uint32_t blocks = 0;
	char id[LADDER_TEXT_MAX + 16];

	for (uint32_t line = 0, word = 1; next(facts->route, &line, &word, &argument);) {
		int i = block_of(argument.name);

		blocks += i >= 0;
		if (i >= 0)
			block(facts, &argument, i);
		if (!is(argument.name, "lid"))
			continue;
		(void)snprintf(id, sizeof(id), "str(\"%s\")", facts->ladder->id);
		if (strcmp(argument.expression, id) != 0)
			report_spoe(facts, argument.line, SEVERITY_ERROR, "ladder",
			            "lid is %s, the policy's ladder is %s", argument.expression,
			            facts->ladder->id);
	}
	if (blocks < facts->ladder->count)
		report_spoe(facts, facts->route->head, SEVERITY_ERROR, "ladder",
		            "%" PRIu32 " hashes, ladder %s has %" PRIu32 " blocks", blocks,
		            facts->ladder->id, facts->ladder->count);
}

void check_messages(const struct facts *facts)
{
	static const char *const route_needs[] = { "v", "id", "blen", "bsize", "plen", "lid" };

	if (facts->route) {
		names(facts, facts->route, route_names, ROUTE_NAMES);
		required(facts, facts->route, route_needs,
		         sizeof(route_needs) / sizeof(route_needs[0]));
		ladder(facts);
	}
	if (facts->first) {
		names(facts, facts->first, first_names, FIRST_NAMES);
		required(facts, facts->first, first_names, FIRST_NAMES);
	}
}
