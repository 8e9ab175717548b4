/* profile.h - what is to be known of a kind of engine: how its page is recognised, which
 * of its metrics says what, where it says how it is.
 *
 * Read-only once it is loaded; owned by its set (profiles.h). Names change with versions,
 * so a field has alternates: the first that is on the page counts. A field whose alternates
 * are all absent is unknown, never 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/state/engine.h"

enum { PROFILE_NAME_MAX = 32 };

/* Of an alternate: FIRST begins one; PLUS adds to the row before it where it is on the page;
 * TIMES is a factor of it, without which the alternate is absent. */
enum term_part { TERM_FIRST, TERM_PLUS, TERM_TIMES };

/* One metric. */
struct term {
	enum engine_field field;
	enum term_part part;
	bool largest; /* of several series; otherwise their sum */
	double scale;
	const char *name;
	const char *label, *is; /* only series whose label is this; NULL: all */
	const char *factors[2]; /* the value is the product of these labels; NULL: the sample's */
	uint32_t profile;       /* index in the set */
	uint32_t next;          /* of the same name; TERM_NONE: the last */
};

#define TERM_NONE UINT32_MAX

struct texts {
	const char **at;
	size_t count;
};

/* Labels of the series that lists adapters, NULL when there is none. The newest series
 * counts, its value being the time. */
struct adapters {
	const char *name;
	const char *running, *waiting; /* names with commas between */
	const char *slots;             /* a number */
};

struct engine_profile {
	const char *name;
	struct texts prefixes;    /* of metrics: by them its page is recognised */
	const char *owner;        /* of its models, as its list says; NULL: by that it is not */
	struct texts pages;       /* paths of the metric page; none: it has no such page */
	const char *health;       /* path */
	const char *models;       /* path of the model list; "" = none */
	struct texts rank_labels; /* labels whose value is the data-parallel rank */
	struct texts repeats;     /* labels: series of another rank than 0 say the same again */
	struct adapters adapters;
	uint32_t first, terms; /* of the set's */
};

/* "kv-usage" for ENGINE_KV_USAGE. */
const char *engine_field_name(enum engine_field field);
