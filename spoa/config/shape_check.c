/* shape_check.c - does a document look like its shape?
 *
 * One pass over the nodes in the order of the text, without recursion: the depth
 * of a document is bounded, so the shapes of the nodes above fit into an array. */
#include <stdio.h>
#include <string.h>

#include "policies/core/ladder.h"
#include "policies/core/name.h"
#include "policies/phases.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "spoa/config/recipe.h"
#include "spoa/config/shape.h"
#include "spoa/config/strategy.h"
#include "spoa/config/tables.h"

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static const struct field *field_of(const struct shape *shape, const struct node *node)
{
	for (const struct field *field = shape->fields; field && field->name; field++) {
		if (name_is(field->name, span_of(node->name)))
			return field;
	}
	return NULL;
}

static const struct option *row_of(const struct shape *shape, const struct node *node)
{
	const struct option *row = NULL;

	for (size_t i = 0; !row && i < SHAPE_TABLES_MAX && shape->tables[i]; i++)
		row = table_row(shape->tables[i], node);
	return row;
}

static bool picker_has(const struct shape *shape, const struct node *node)
{
	for (size_t i = 0; shape->picker_options && recipe_picker_at(i); i++) {
		if (table_row(recipe_picker_at(i)->options, node))
			return true;
	}
	return false;
}

static void tell_unknown_key(const struct loading *loading, const struct shape *shape,
                             const struct node *node)
{
	struct near near = near_to(node->name);
	char hint[NEAR_HINT_MAX];

	for (const struct field *field = shape->fields; field && field->name; field++) {
		if (field->shape->kind != SHAPE_LATER)
			near_offer(&near, field->name);
	}
	for (size_t i = 0; i < SHAPE_TABLES_MAX && shape->tables[i]; i++)
		table_offer(shape->tables[i], &near);
	for (size_t i = 0; shape->picker_options && recipe_picker_at(i); i++)
		table_offer(recipe_picker_at(i)->options, &near);
	near_hint(&near, hint);
	loading_key_error(loading, node, "unknown-key", "unknown key%s", hint);
}

static bool is_one(const struct loading *loading, const struct node *node, bool right,
                   const char *wanted)
{
	if (!right)
		loading_error(loading, node, "type", "is %s, not %s", json_kind(node->value),
		              wanted);
	return right;
}

static bool is_text(const struct loading *loading, const struct node *node)
{
	return is_one(loading, node, json_is_string(node->value), "a text");
}

static void check_count(const struct loading *loading, const struct shape *shape,
                        const struct node *node, const char *what)
{
	size_t count = node_count(node);

	if (count < shape->least)
		loading_error(loading, node, "range", "%zu %s, at least %zu must be there", count,
		              what, shape->least);
	if (shape->most > 0 && count > shape->most)
		loading_error(loading, node, "range", "%zu %s, at most %zu can be there", count,
		              what, shape->most);
}

static void check_name_length(const struct loading *loading, const struct node *node, size_t len,
                              bool key)
{
	if (len > 0 && len < NAME_MAX_BYTES)
		return;
	if (key)
		loading_key_error(loading, node, "range", "%zu bytes are not between 1 and %d", len,
		                  NAME_MAX_BYTES - 1);
	else
		loading_error(loading, node, "range", "%zu bytes are not between 1 and %d", len,
		              NAME_MAX_BYTES - 1);
}

static void check_ladder(const struct loading *loading, const struct node *node)
{
	struct error error = { .text = "" };
	struct ladder ladder;

	if (is_text(loading, node) &&
	    !ladder_parse(span_of(json_string_value(node->value)), &ladder, &error))
		loading_error(loading, node, "range", "%s", error.text);
}

static void check_share(const struct loading *loading, const struct node *node)
{
	double share = json_number_value(node->value);

	if (is_one(loading, node, json_is_number(node->value), "a number") &&
	    !(share >= 0 && share <= SHARE_MAX))
		loading_error(loading, node, "range", "%g is not between 0 and %d", share,
		              SHARE_MAX);
}

static void check_strategy(const struct loading *loading, const struct node *node)
{
	const char *name = json_string_value(node->value);
	struct near near = near_to(name ? name : "");
	char hint[NEAR_HINT_MAX];

	if (json_is_object(node->value) ||
	    !is_one(loading, node, name, "the name of a strategy or a recipe") ||
	    recipe_known(loading, name) || strategy_is_string(name))
		return;
	recipe_offer(loading, &near);
	near_hint(&near, hint);
	loading_error(loading, node, "unknown-strategy", "unknown name \"%s\"%s", name, hint);
}

static bool is_phase(const struct shape *shape, const struct node *node)
{
	const char *name = json_string_value(node->value);

	return name && shape->role != ROLE_COMBINED && phase_named(shape->role, span_of(name));
}

static void check_picker(const struct loading *loading, const struct node *node)
{
	const char *name = json_string_value(node->value);
	struct near near = near_to(name ? name : "");
	char hint[NEAR_HINT_MAX];

	if (!is_one(loading, node, name, "the name of a picker") || picker_named(span_of(name)))
		return;
	for (size_t i = 0; recipe_picker_at(i); i++)
		near_offer(&near, recipe_picker_at(i)->name);
	near_hint(&near, hint);
	loading_error(loading, node, "unknown-picker", "unknown name \"%s\"%s", name, hint);
}

/* One of the signals in a recipe: a weight, or an object with one. */
static const struct shape *check_signal(const struct loading *loading, const struct shape *shape,
                                        const struct node *node)
{
	struct near near = near_to(node->name);
	char hint[NEAR_HINT_MAX];

	if (!signal_named(span_of(node->name))) {
		for (size_t i = 0; recipe_signal_at(i); i++)
			near_offer(&near, recipe_signal_at(i)->name);
		near_hint(&near, hint);
		loading_key_error(loading, node, "unknown-signal", "unknown name%s", hint);
		return NULL;
	}
	if (json_is_object(node->value))
		return shape->element;
	table_check(loading, &weighing_options[0], node);
	return NULL;
}

/* The node alone, without what is in it. The shape to go on with; NULL: do not
 * look inside. */
static const struct shape *check_node(const struct loading *loading, const struct shape *shape,
                                      const struct node *node)
{
	switch (shape->kind) {
	case SHAPE_OBJECT:
		return is_one(loading, node, node->is_object, "an object") ? shape : NULL;
	case SHAPE_MAP:
	case SHAPE_SIGNALS:
		if (!is_one(loading, node, node->is_object, "an object"))
			return NULL;
		check_count(loading, shape, node, "names");
		return shape;
	case SHAPE_LIST:
		if (!is_one(loading, node, json_is_array(node->value), "a list"))
			return NULL;
		check_count(loading, shape, node, "elements");
		return shape;
	case SHAPE_TEXT:
		if (is_text(loading, node))
			check_name_length(loading, node, json_string_length(node->value), false);
		return NULL;
	case SHAPE_SHARE:
		check_share(loading, node);
		return NULL;
	case SHAPE_LADDER:
		check_ladder(loading, node);
		return NULL;
	case SHAPE_STRATEGY:
		if (!is_phase(shape, node))
			check_strategy(loading, node);
		return node->is_object ? shape->element : NULL;
	case SHAPE_PICKER:
		check_picker(loading, node);
		return NULL;
	case SHAPE_LATER:
		loading_key_error(loading, node, "unknown-key", "is not supported by this version");
		return NULL;
	}
	return NULL;
}

/* A key of an object: a field, a row of a table, a picker's option, or unknown.
 * Which picker's, and whether it is the right one, the chain knows. */
static const struct shape *check_key(const struct loading *loading, const struct shape *shape,
                                     const struct node *node)
{
	const struct field *field = field_of(shape, node);
	const struct option *row = row_of(shape, node);
	const struct node *first;

	if (!field && !row && !picker_has(shape, node)) {
		tell_unknown_key(loading, shape, node);
		return NULL;
	}
	first = node_named(node->parent, field ? field->name : row ? row->name : node->name);
	if (first != node) {
		loading_key_error(loading, node, "duplicate",
		                  "is the same as \"%s\" at line %u, column %u", first->name,
		                  first->key_line, first->key_column);
		return NULL;
	}
	if (row)
		table_check(loading, row, node);
	return field ? check_node(loading, field->shape, node) : NULL;
}

static const struct shape *check_child(const struct loading *loading, const struct shape *shape,
                                       const struct node *node)
{
	if (shape->kind == SHAPE_SIGNALS)
		return check_signal(loading, shape, node);
	if (shape->kind == SHAPE_OBJECT)
		return check_key(loading, shape, node);
	if (shape->kind == SHAPE_MAP)
		check_name_length(loading, node, strlen(node->name), true);
	return check_node(loading, shape->element, node);
}

void shape_check(const struct loading *loading, const struct shape *shape)
{
	const struct shape *shapes[DOCUMENT_DEPTH_MAX + 2] = { NULL };
	const struct node *node = loading->root;
	size_t depth = 0;

	shapes[0] = check_node(loading, shape, node);
	for (;;) {
		if (shapes[depth] && node->child) {
			node = node->child;
			depth++;
		} else {
			node = node_behind(node, &depth);
			if (!node)
				return;
		}
		shapes[depth] = check_child(loading, shapes[depth - 1], node);
	}
}
