/* names.c - lists of names in a policy file. */
#include "spoa/config/names.h"

#include <jansson.h>
#include <string.h>

void name_copy(char ret_name[NAME_MAX_BYTES], const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES - 1);

	memcpy(ret_name, name, len);
	ret_name[len] = '\0';
}

char (*names_load(const struct loading *loading, const struct node *list,
                  uint32_t *ret_count))[NAME_MAX_BYTES]
{
	char(*names)[NAME_MAX_BYTES];
	json_t *seen;
	uint32_t count = 0;

	*ret_count = 0;
	if (!list || !list->child)
		return NULL;
	names = loading_take(loading, node_count(list), sizeof(names[0]));
	if (!names)
		return NULL;
	seen = json_object();
	for (const struct node *node = list->child; node; node = node->next) {
		const char *name = json_string_value(node->value);

		if (!name)
			continue;
		if (json_object_get(seen, name))
			loading_error(loading, node, "duplicate", "\"%s\" is in the list twice",
			              name);
		(void)json_object_set_new(seen, name, json_true());
		name_copy(names[count++], name);
	}
	json_decref(seen);
	*ret_count = count;
	return names;
}
