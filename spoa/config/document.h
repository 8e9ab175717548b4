/* document.h - a JSON text with the place of every key and value.
 *
 * jansson says whether a text is JSON and what its values are; it tells a place
 * for syntax errors only. So a small pass over the text, which jansson has found
 * correct, makes a tree of nodes beside jansson's own, each with its line and
 * column. Keys that start with "//" are comments: they are checked for syntax
 * and then left out. A key that occurs twice in an object is a problem, told
 * with both places; the later one stays in the tree. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spoa/config/arena.h"
#include "spoa/config/problems.h"

enum {
	DOCUMENT_DEPTH_MAX = 32,
	DOCUMENT_NODES_MAX = 500000,
	NODE_PATH_MAX = 256,
};

struct node {
	const char *name; /* its key, decoded; NULL for the root and in arrays */
	size_t index;     /* its place in an array */
	const json_t *value;
	bool is_object;
	struct node *parent; /* NULL: the root */
	struct node *child;  /* the first; in the order of the text */
	struct node *last;
	struct node *next;
	uint32_t line, column; /* of the value; from 1, columns in bytes */
	uint32_t key_line, key_column;
};

struct document;

/* NULL when the text is not JSON, or too deep or too large; the problems say
 * why. Duplicates are told, and do not make it NULL. */
struct document *document_parse(const char *file, const char *text, size_t len,
                                struct problems *problems);
void document_free(struct document *document);

const struct node *document_root(const struct document *document);

/* The child of that name: capitals and _ for - do not matter. NULL if none. */
const struct node *node_named(const struct node *object, const char *name);
/* How many children. */
size_t node_count(const struct node *node);
/* "instances.be_a.replicas.gpu7", "rules[0].chain[1]"; "" for the root. What is
 * too long loses its front. */
void node_path(const struct node *node, char ret_path[NODE_PATH_MAX]);
/* The next node behind this one and all below it; NULL behind the last. *depth, 0 at
 * the root, follows. */
const struct node *node_behind(const struct node *node, size_t *depth);
