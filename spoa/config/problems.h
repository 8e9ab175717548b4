/* problems.h - what is wrong with the operator's files: collected, then shown.
 *
 * A loader or checker does not stop at the first mistake; it adds each to one
 * list, which a command prints in the order of the files:
 *
 *     FILE:LINE:COLUMN: SEVERITY: PATH: TEXT [RULE]
 *
 * At most PROBLEMS_MAX are kept; more are counted, not shown. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PROBLEMS_MAX = 1000 };

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

/* Where. Line and column start at 1; 0: of the whole line, of the whole file. */
struct place {
	const char *file; /* NULL: of no file */
	uint32_t line;
	uint32_t column; /* in bytes */
};

struct problem {
	struct place place;
	enum severity severity;
	char *path; /* "instances.be_a.strategy", "backend be_a"; "" when there is none */
	char *rule; /* one word: "unknown-key" */
	char *text; /* lower case, no full stop */
	size_t order;
};

struct problems;

/* NULL when there is no memory. */
struct problems *problems_new(void);
void problems_free(struct problems *problems);

/* All texts are copied; path may be NULL. Of what finds no memory only the
 * count stays. */
void problems_add(struct problems *problems, struct place place, enum severity severity,
                  const char *path, const char *rule, const char *format, ...)
        __attribute__((format(printf, 6, 7)));

/* Forgets every problem of this rule (the operator said: ignore). */
void problems_ignore(struct problems *problems, const char *rule);

/* How many were added, ignored ones left out. */
size_t problems_count(const struct problems *problems, enum severity severity);

/* The i-th that was kept, files in order of appearance, lines ascending within
 * one; NULL after the last. Good until the next change of the list. */
const struct problem *problems_at(struct problems *problems, size_t i);

/* A line each, then "2 errors, 1 warning" unless there are none at all. */
void problems_print(struct problems *problems, FILE *out);
/* One object: {"problems": [...], "errors": 2, "warnings": 1, "notes": 0}. */
void problems_print_json(struct problems *problems, FILE *out);

const char *severity_name(enum severity severity);
