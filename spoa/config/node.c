/* node.c - a place in a document: its children, its path. */
#include <stdio.h>
#include <string.h>

#include "spoa/config/document.h"

/* name_is() of policies/core wants one of the two in our own spelling; here both
 * may be the operator's. */
static char folded(char letter)
{
	if (letter == '_')
		return '-';
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool same(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return folded(*a) == folded(*b);
}

const struct node *node_named(const struct node *object, const char *name)
{
	for (const struct node *node = object ? object->child : NULL; node; node = node->next) {
		if (node->name && same(node->name, name))
			return node;
	}
	return NULL;
}

size_t node_count(const struct node *node)
{
	size_t count = 0;

	for (const struct node *child = node->child; child; child = child->next)
		count++;
	return count;
}

/* Writes so that the text ends at end; what would begin before start is cut. */
static char *prepend(const char *start, char *end, const char *text)
{
	size_t len = strlen(text);
	size_t room = (size_t)(end - start);

	if (len > room) {
		text += len - room;
		len = room;
	}
	return memcpy(end - len, text, len); /* NOLINT(bugprone-not-null-terminated-result) */
}

void node_path(const struct node *node, char ret_path[NODE_PATH_MAX])
{
	char *at = ret_path + NODE_PATH_MAX - 1;
	char place[32];

	*at = '\0';
	for (; node->parent; node = node->parent) {
		if (node->name) {
			at = prepend(ret_path, at, node->name);
			if (node->parent->parent)
				at = prepend(ret_path, at, ".");
		} else {
			(void)snprintf(place, sizeof(place), "[%zu]", node->index);
			at = prepend(ret_path, at, place);
		}
	}
	memmove(ret_path, at, strlen(at) + 1);
}

const struct node *node_behind(const struct node *node, size_t *depth)
{
	while (*depth > 0 && !node->next) {
		node = node->parent;
		--*depth;
	}
	return *depth > 0 ? node->next : NULL;
}
