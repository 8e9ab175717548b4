/* profile_file.c - from JSON to a profile, with a place for each mistake. */
#include "spoa/engines/profile_file.h"

#include <string.h>

#include "spoa/config/near.h"

enum { TEXT_MAX = 128, LIST_MAX = 64 };

void profile_keys(const struct loading *loading, const struct node *object,
                  const char *const *names)
{
	for (const struct node *node = object->child; node; node = node->next) {
		struct near near = near_to(node->name);
		char hint[NEAR_HINT_MAX];
		bool known = false;

		for (size_t i = 0; names[i]; i++) {
			known = known || near_distance(node->name, names[i]) == 0;
			near_offer(&near, names[i]);
		}
		if (known)
			continue;
		near_hint(&near, hint);
		loading_key_error(loading, node, "unknown-key", "unknown key%s", hint);
	}
}

const char *profile_text(const struct loading *loading, const struct node *node)
{
	const char *text = json_string_value(node->value);
	size_t length = text ? strlen(text) : 0;

	if (length == 0 || length >= TEXT_MAX || length != json_string_length(node->value)) {
		loading_error(loading, node, "type", "expected a text of 1 to %d bytes",
		              TEXT_MAX - 1);
		return NULL;
	}
	return arena_text(loading->arena, text, length);
}

static const char *path_text(const struct loading *loading, const struct node *node)
{
	const char *text = profile_text(loading, node);

	if (!text || text[0] == '/')
		return text;
	loading_error(loading, node, "type", "expected a path that begins with /");
	return NULL;
}

/* One that must be there. NULL, with a problem, when it is not. */
static const struct node *needed(const struct loading *loading, const char *name, const char *what)
{
	const struct node *node = node_named(loading->root, name);

	if (!node)
		loading_error(loading, loading->root, "missing", "expected \"%s\", %s", name, what);
	return node;
}

static struct texts read_texts(const struct loading *loading, const struct node *node,
                               const char *(*read)(const struct loading *, const struct node *))
{
	struct texts texts = { NULL, 0 };

	if (!node)
		return texts;
	if (!json_is_array(node->value) || node_count(node) > LIST_MAX) {
		loading_error(loading, node, "type", "expected a list of at most %d texts",
		              LIST_MAX);
		return texts;
	}
	texts.at = arena_take(loading->arena, node_count(node), sizeof(*texts.at));
	for (const struct node *each = node->child; texts.at && each; each = each->next)
		texts.at[texts.count++] = read(loading, each);
	return texts;
}

static const char *read_name(const struct loading *loading)
{
	const struct node *node = needed(loading, "engine", "its name");
	const char *name = node ? profile_text(loading, node) : NULL;

	if (name && strlen(name) >= PROFILE_NAME_MAX)
		loading_error(loading, node, "type", "expected a name of at most %d bytes",
		              PROFILE_NAME_MAX - 1);
	return name;
}

/* "" is none. */
static const char *read_models(const struct loading *loading, const struct node *node)
{
	if (!node)
		return "/v1/models";
	return json_is_string(node->value) && json_string_length(node->value) == 0
	               ? ""
	               : path_text(loading, node);
}

static void read_adapters(const struct loading *loading, const struct node *node,
                          struct adapters *adapters)
{
	static const char *const names[] = { "name", "running", "waiting", "slots", NULL };
	const char **const fields[] = { &adapters->name, &adapters->running, &adapters->waiting,
		                        &adapters->slots };

	if (!node)
		return;
	if (!node->is_object || !node_named(node, "name") || !node_named(node, "running")) {
		loading_error(loading, node, "type",
		              "expected an object with \"name\", the name of a metric, and "
		              "\"running\", the label that lists adapters");
		return;
	}
	profile_keys(loading, node, names);
	for (size_t i = 0; names[i]; i++) {
		const struct node *text = node_named(node, names[i]);

		if (text)
			*fields[i] = profile_text(loading, text);
	}
}

bool profile_file_read(const struct loading *loading, uint32_t index, struct terms *terms,
                       struct engine_profile *ret_profile)
{
	static const char *const names[] = {
		"engine",      "recognise",          "owner",   "pages",    "health", "models",
		"rank-labels", "other-ranks-repeat", "metrics", "adapters", NULL
	};
	size_t before = problems_count(loading->problems, SEVERITY_ERROR);
	const struct node *root = loading->root, *metrics, *owner, *health;

	*ret_profile = (struct engine_profile){ .health = "/health", .first = terms->count };
	if (!root->is_object) {
		loading_error(loading, root, "type",
		              "expected an object, the profile of an engine");
		return false;
	}
	profile_keys(loading, root, names);
	ret_profile->name = read_name(loading);
	ret_profile->prefixes = read_texts(
	        loading, needed(loading, "recognise", "how its metrics begin"), profile_text);
	ret_profile->pages = read_texts(
	        loading, needed(loading, "pages", "the paths of its metric page"), path_text);
	ret_profile->rank_labels =
	        read_texts(loading, node_named(root, "rank-labels"), profile_text);
	ret_profile->repeats =
	        read_texts(loading, node_named(root, "other-ranks-repeat"), profile_text);
	ret_profile->models = read_models(loading, node_named(root, "models"));
	owner = node_named(root, "owner");
	if (owner)
		ret_profile->owner = profile_text(loading, owner);
	health = node_named(root, "health");
	if (health)
		ret_profile->health = path_text(loading, health);
	read_adapters(loading, node_named(root, "adapters"), &ret_profile->adapters);
	metrics = needed(loading, "metrics", "which metric says what");
	if (metrics)
		profile_metrics_read(loading, metrics, index, terms);
	ret_profile->terms = terms->count - ret_profile->first;
	return problems_count(loading->problems, SEVERITY_ERROR) == before;
}
