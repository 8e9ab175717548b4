/* option.h - how a module says what can be configured about it.
 *
 * An option table is the only place where a knob is written down. The JSON
 * loader, the JSON schema, the reference page and the help are all made from
 * it. A table ends with a row that has no name; NULL is a table without rows.
 *
 * Numbers in a row (min, max, otherwise) are in the unit that is stored:
 * durations in microseconds, sizes in bytes, rates per second. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policies/core/error.h"
#include "policies/core/rate.h"
#include "policies/core/span.h"

enum option_type {
	OPTION_BOOL,     /* bool */
	OPTION_COUNT,    /* uint32_t, whole */
	OPTION_NUMBER,   /* double */
	OPTION_SIZE,     /* double, bytes; written "64k" */
	OPTION_DURATION, /* usec_t; written "250ms", "30m" */
	OPTION_MSEC,     /* double, milliseconds; written as a duration */
	OPTION_RATE,     /* struct rate; written "50/s", "600/m", "1M/m" */
	OPTION_TEXT,     /* char[NAME_MAX_BYTES]; min..max are lengths */
	OPTION_CHOICE,   /* int (an enum); choices is "a|b|c", the value its place */
};

struct option {
	const char *name;
	enum option_type type;
	size_t offset; /* of the field in the module's settings */
	double min, max, otherwise;
	const char *unit;    /* "" when there is none */
	const char *help;    /* one sentence */
	const char *choices; /* OPTION_CHOICE; of OPTION_COUNT one word that may stand for 0, which
	                      * is below min then */
	bool restart;        /* a change needs a restart */
};

/* Every option of the table at its default. OPTION_TEXT defaults to "". */
void options_reset(const struct option *options, void *settings);

/* NULL when there is no such option. */
const struct option *option_named(const struct option *options, struct span name);

/* For numbers, counts, booleans (0, 1), sizes, durations (in microseconds, or in
 * ms for OPTION_MSEC), rates (per second) and choices (their place): false, with a
 * reason, when the value does not fit. The settings are then as they were. */
MUST_CHECK bool option_set_number(const struct option *option, void *settings, double value,
                                  struct error *error);
/* For every type, from text: "250ms", "64k", "true", "least-work", "0.5", "1M/m". A
 * bare number for a duration, size or rate is an error unless it is 0. */
MUST_CHECK bool option_set_text(const struct option *option, void *settings, struct span text,
                                struct error *error);

/* The place of a name in "a|b|c"; -1 when it is not there. */
int choice_named(const char *choices, struct span name);
/* The name at that place, which must be there. */
struct span choice_at(const char *choices, int place);
