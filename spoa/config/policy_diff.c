/* policy_diff.c - what a reload changes, by path, for the log.
 *
 * Compares what the operator wrote, not what follows from it: that is what he
 * wants to see again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/defaults.h"
#include "spoa/config/policy.h"
#include "spoa/config/policy_file.h"
#include "spoa/config/tables.h"

struct diff {
	void (*say)(void *context, const struct policy_change *change);
	void *context;
	size_t count;
};

static bool is_at(const struct node *node, const char *name, const struct node *parent)
{
	return node && node->name && strcmp(node->name, name) == 0 && node->parent == parent;
}

static bool option_restarts(const struct node *node)
{
	const struct node *above = node->parent;
	const struct node *root = node;
	const struct option *row = NULL;

	while (root->parent)
		root = root->parent;
	if (is_at(above, "defaults", root)) {
		row = table_row(policy_options, node);
		return row ? row->restart : is_at(node, "ladder", above);
	}
	if (is_at(above, "redis", root))
		row = table_row(sharing_options, node);
	if (above && is_at(above, "prefix", above->parent) &&
	    is_at(above->parent, "defaults", root))
		row = table_row(prefix_options, node);
	if (above && is_at(above, "session", above->parent) &&
	    is_at(above->parent, "defaults", root))
		row = table_row(session_options, node);
	return row && row->restart;
}

/* The option itself, or an object that holds one: "defaults", "prefix". */
static bool restarts(const struct node *node)
{
	bool needed = option_restarts(node);

	for (const struct node *child = node->child; child; child = child->next) {
		needed |= option_restarts(child);
		for (const struct node *inner = child->child; inner; inner = inner->next)
			needed |= option_restarts(inner);
	}
	return needed;
}

/* Whole objects and lists in one line; the caller frees it. */
static char *shown(const struct node *node)
{
	return node ? json_dumps(node->value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}

/* node is one of both, the one whose path is told. */
static void say(struct diff *diff, const struct node *node, const struct node *before,
                const struct node *after)
{
	char path[NODE_PATH_MAX];
	char *old = shown(before);
	char *new = shown(after);
	struct policy_change change = {
		.path = path, .before = old, .after = new, .restart = restarts(node)
	};

	node_path(node, path);
	diff->count++;
	diff->say(diff->context, &change);
	free(old);
	free(new);
}

static bool is_twin(const struct node *twin, const struct node *node)
{
	if (node->name)
		return twin->name && strcmp(twin->name, node->name) == 0;
	return !twin->name && twin->index == node->index;
}

/* The same key, or the same place of a list. Mostly what follows the last twin. */
static const struct node *twin_in(const struct node *parent, const struct node *last,
                                  const struct node *node)
{
	const struct node *twin = last ? last->next : parent->child;

	if (twin && is_twin(twin, node))
		return twin;
	twin = parent->child;
	while (twin && !is_twin(twin, node))
		twin = twin->next;
	return twin;
}

/* Children are compared one by one only if both are of one kind. */
static bool alike(const struct node *a, const struct node *b)
{
	return (a->is_object && b->is_object) ||
	       (json_is_array(a->value) && json_is_array(b->value));
}

/* What the node is in the other tree; says what differs. NULL: do not look into it. */
static const struct node *compare(struct diff *diff, const struct node *node,
                                  const struct node *twin, bool gone)
{
	if (!twin) {
		say(diff, node, gone ? node : NULL, gone ? NULL : node);
		return NULL;
	}
	if (alike(node, twin))
		return twin;
	if (!gone && !json_equal(node->value, twin->value))
		say(diff, node, twin, node);
	return NULL;
}

/* Each node of one tree against the other: what is only here, and (unless gone)
 * what differs. Depth is bounded by the document. */
static void walk(struct diff *diff, const struct node *node, const struct node *other, bool gone)
{
	const struct node *twins[DOCUMENT_DEPTH_MAX + 2] = { NULL };
	const struct node *last[DOCUMENT_DEPTH_MAX + 2] = { NULL };
	size_t depth = 0;

	twins[0] = compare(diff, node, other, gone);
	for (;;) {
		if (twins[depth] && node->child) {
			node = node->child;
			last[++depth] = NULL;
		} else {
			node = node_behind(node, &depth);
			if (!node)
				return;
		}
		last[depth] = twin_in(twins[depth - 1], last[depth], node);
		twins[depth] = compare(diff, node, last[depth], gone);
	}
}

size_t policy_diff(const struct policy_file *before, const struct policy_file *after,
                   void (*say_change)(void *context, const struct policy_change *change),
                   void *context)
{
	struct diff diff = { .say = say_change, .context = context };

	walk(&diff, document_root(after->document), document_root(before->document), false);
	walk(&diff, document_root(before->document), document_root(after->document), true);
	return diff.count;
}
