/* shape.h - what a policy file looks like: which objects there are, with which
 * keys. The check of structure, the schema and the reference page are made from
 * these tables; the loader proper (chain, recipe, models, instances) relies on
 * the check and complains only about what spans several places. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/target.h"
#include "spoa/config/loading.h"

enum shape_kind {
	SHAPE_OBJECT,   /* fixed keys: fields, and the rows of tables */
	SHAPE_MAP,      /* the operator's names, each an element */
	SHAPE_LIST,     /* of elements, least..most */
	SHAPE_TEXT,     /* 1..NAME_MAX_BYTES-1 bytes */
	SHAPE_SHARE,    /* a number from 0 to SHARE_MAX */
	SHAPE_LADDER,   /* "4x1k,12x4k" */
	SHAPE_STRATEGY, /* the name of one, or a recipe: element */
	SHAPE_PICKER,   /* the name of one */
	SHAPE_SIGNALS,  /* names of signals, each a number or an element */
	SHAPE_LATER,    /* known, but not to this version */
};

struct shape;

struct field {
	const char *name; /* NULL after the last */
	const struct shape *shape;
	const char *help; /* one sentence */
};

enum { SHAPE_TABLES_MAX = 3, SHARE_MAX = 1000000 };

struct shape {
	const char *name; /* of its definition in the schema */
	enum shape_kind kind;
	const struct field *fields;
	const struct option *tables[SHAPE_TABLES_MAX]; /* NULL after the last */
	bool picker_options;                           /* and every picker's own */
	const struct shape *element;
	enum role role; /* SHAPE_STRATEGY: the phases of a pair have names, too; combined: none */
	size_t least, most; /* elements of a list or map; most 0: any number */
};

extern const struct shape shape_policy;

/* Complains about everything that a glance at single places shows: unknown keys,
 * types, ranges, unknown names of strategies, signals and pickers. */
void shape_check(const struct loading *loading, const struct shape *shape);
