/* generate_wire.c - docs/wire.md: the contract in words, from the lists themselves. */
#include "spoa/config/generate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "spoa/messages/contract.h"

/* A bar would end the cell of a table. */
static void cell(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '|')
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
}

static void row(FILE *out, const char *name, const char *middle, const char *help)
{
	(void)fprintf(out, "| `%s` | %s", name, *middle ? "`" : "");
	cell(out, middle);
	(void)fprintf(out, "%s | ", *middle ? "`" : "");
	cell(out, help);
	(void)fputs(" |\n", out);
}

static void messages(FILE *out)
{
#define AS_ROW(id, name, middle, help) row(out, name, middle, help);
	(void)fputs(
	        "\n## `" CONTRACT_ROUTE "`: which replica?\n\n"
	        "Sent as a SPOE group by `http-request send-spoe-group`, behind the rules that\n"
	        "compute its arguments. Any argument may be NULL or of another type; unknown\n"
	        "names are ignored.\n\n"
	        "| argument | HAProxy's expression | content |\n|---|---|---|\n",
	        out);
	ROUTE_ARGUMENTS(AS_ROW)
	row(out, CONTRACT_HEADER "NAME", "req.fhdr(NAME)",
	    "any other header that affinity rules look at: haproxy spoe --header NAME");
	row(out, "h0 ... hN", "",
	    "xxh64, seed 0, of each block of the ladder, all 64 bits; only blocks that end "
	    "within plen count");
	(void)fputs("\n## `" CONTRACT_FIRST "`: the first byte of a stream\n\n"
	            "Sent behind `http-response wait-for-body ... at-least 1`; its arrival is the\n"
	            "time to the first token.\n\n"
	            "| argument | HAProxy's expression | content |\n|---|---|---|\n",
	            out);
	FIRST_ARGUMENTS(AS_ROW)
#undef AS_ROW
}

static void variables(FILE *out)
{
#define AS_ROW(id, name, type, help) row(out, "txn." CONTRACT_ENGINE "." name, #type, help);
	(void)fputs("\n## What we answer\n\n"
	            "Variables in scope `txn`, at least one of them. HAProxy itself adds\n"
	            "`txn." CONTRACT_ENGINE
	            ".err` (1 timeout, 2 and 257 no agent or I/O error, 3 message "
	            "larger than the\n"
	            "frame, 4 and 5 stream aborted) and `txn." CONTRACT_ENGINE
	            ".pt` (ms waited).\n\n"
	            "| variable | type | content |\n|---|---|---|\n",
	            out);
	VARIABLES(AS_ROW)
#undef AS_ROW
}

static void end_line(FILE *out)
{
#define AS_ROW(id, name, middle, help) row(out, name, middle, help);
	(void)fputs(
	        "\n## The end-of-stream line\n\n"
	        "One datagram, or one line of a TCP stream, of at most 2048 bytes: the prefix\n"
	        "`" CONTRACT_END_PREFIX
	        "` and then, in this order, `name=value` with one space between.\n"
	        "Behind ` | ` own fields may follow; they are not read. Lines without the prefix\n"
	        "are counted and dropped. The answer was applied if `err` is `-`, `in` equals\n"
	        "`be`, and `re` equals `srv` where a replica was answered.\n\n"
	        "| field | HAProxy's expression | content |\n|---|---|---|\n",
	        out);
	END_FIELDS(AS_ROW)
#undef AS_ROW
}

void generate_wire(FILE *out)
{
	(void)fprintf(
	        out,
	        "# The variable contract, version %d\n\n"
	        "Printed by `inference-spoa haproxy wire` from `spoa/messages/contract.h`; a test\n"
	        "compares the two. New fields go to the end; a changed meaning is a new version.\n",
	        CONTRACT_VERSION);
	messages(out);
	variables(out);
	end_line(out);
}
