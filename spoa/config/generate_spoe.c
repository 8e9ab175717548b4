/* generate_spoe.c - the SPOE file: the agent, its groups, and the arguments of
 * both messages.
 *
 * The offsets of the ladder are printed as numbers. In the head form the body is
 * cut once at txn.infer_o0 and then by the very same numbers, so the two forms
 * differ in one word, and need no rule per block. A literal with commas is in
 * double quotes inside single ones: HAProxy takes off both. */
#include "spoa/config/generate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "spoa/messages/contract.h"

enum { WIDTH = 150 }; /* where a line of arguments ends; far below HAProxy's limits */

/* Puts arguments on lines. */
struct lines {
	FILE *out;
	unsigned column; /* 0 = no line begun */
};

static void argument(struct lines *lines, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static void argument(struct lines *lines, const char *format, ...)
{
	char text[256];
	va_list args;
	unsigned length;

	va_start(args, format);
	length = (unsigned)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (lines->column > 0 && lines->column + 1 + length > WIDTH) {
		(void)fputc('\n', lines->out);
		lines->column = 0;
	}
	if (lines->column == 0)
		lines->column = (unsigned)fprintf(lines->out, "    args");
	(void)fprintf(lines->out, " %s", text);
	lines->column += 1 + length;
}

static void arguments_done(struct lines *lines)
{
	(void)fputc('\n', lines->out);
	lines->column = 0;
}

static void route_message(const struct generate *generate, FILE *out)
{
	const struct ladder *ladder = &generate->ladder;
	const char *prompt = generate_head_form(generate->version) ? "req.body,bytes(txn.infer_o0)"
	                                                           : "var(txn.infer_p)";
	struct lines lines = { out, 0 };

#define PRINTED(tag, name, expression, help)                                                       \
	if (*expression)                                                                           \
		argument(&lines, "%s=%s", name, expression);                                       \
	else                                                                                       \
		argument(&lines, "'%s=str(\"%s\")'", name, ladder->id);
	(void)fprintf(out, "\nspoe-message %s\n", CONTRACT_ROUTE);
	ROUTE_ARGUMENTS(PRINTED)
	for (size_t i = 0; i < generate->header_count; i++)
		argument(&lines, CONTRACT_HEADER "%s=req.fhdr(%s)", generate->headers[i],
		         generate->headers[i]);
	arguments_done(&lines);
	for (uint32_t i = 0; i < ladder->count; i++)
		argument(&lines, "h%" PRIu32 "=%s,bytes(%" PRIu32 ",%" PRIu32 "),xxh64(0)", i,
		         prompt, ladder->offset[i], ladder->length[i]);
	arguments_done(&lines);
#undef PRINTED
}

static void first_message(FILE *out)
{
	struct lines lines = { out, 0 };

#define PRINTED(tag, name, expression, help) argument(&lines, "%s=%s", name, expression);
	(void)fprintf(out, "\nspoe-message %s\n", CONTRACT_FIRST);
	FIRST_ARGUMENTS(PRINTED)
	arguments_done(&lines);
#undef PRINTED
}

static void agent(FILE *out)
{
#define PRINTED(id, name, type, help) " " name
	(void)fprintf(out,
	              "[%s]\n"
	              "spoe-agent %s\n"
	              "    groups      %s %s\n"
	              "    option      var-prefix %s\n"
	              "    option      set-on-error err\n"
	              "    option      set-process-time pt\n"
	              "    option      pipelining\n"
	              "    no option   send-frag-payload\n"
	              "    register-var-names%s\n"
	              "    timeout     hello 200ms\n"
	              "    timeout     idle 5m\n"
	              "    timeout     processing 50ms\n"
	              "    use-backend %s\n",
	              CONTRACT_ENGINE, CONTRACT_ENGINE, CONTRACT_ROUTE, CONTRACT_FIRST,
	              CONTRACT_ENGINE, VARIABLES(PRINTED), CONTRACT_BACKEND);
#undef PRINTED
}

bool generate_spoe(const struct generate *generate, FILE *out, struct error *error)
{
#define COUNTED(id, name, expression, help) +1
	const unsigned fixed = 0 ROUTE_ARGUMENTS(COUNTED) + (unsigned)generate->header_count;
#undef COUNTED

	if (fixed + generate->ladder.count > GENERATE_ARGUMENTS_MAX)
		return error_set(error, "%s: %u arguments, HAProxy wraps at %d", CONTRACT_ROUTE,
		                 fixed + generate->ladder.count, GENERATE_ARGUMENTS_MAX);
	(void)fprintf(out,
	              "# SPOE file of inference-spoa, contract %d, ladder %s%s.\n"
	              "# Printed by \"inference-spoa haproxy spoe%s\"; print it again rather than "
	              "edit it.\n",
	              CONTRACT_VERSION, generate->ladder.id,
	              generate_head_form(generate->version) ? ", HAProxy 3.0 and newer" : "",
	              generate_head_form(generate->version) ? " --for 3.0" : "");
	agent(out);
	(void)fprintf(out,
	              "\nspoe-group %s\n    messages    %s\n"
	              "spoe-group %s\n    messages    %s\n",
	              CONTRACT_ROUTE, CONTRACT_ROUTE, CONTRACT_FIRST, CONTRACT_FIRST);
	first_message(out);
	route_message(generate, out);
	return true;
}
