/* check_names.c - does what a policy names exist in HAProxy's configuration?
 *
 * HAProxy cannot say: to it the names we answer are only texts, and one that does
 * not exist makes it fall back in silence. */
#include "spoa/config/check_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/pattern.h"
#include "policies/core/policy.h"
#include "spoa/config/haproxy_cfg.h"
#include "spoa/config/haproxy_condition.h"
#include "spoa/config/loading.h"
#include "spoa/config/near.h"
#include "spoa/config/policy_file.h"
#include "spoa/config/text.h"

enum { CONFIG_BYTES_MAX = 16 << 20, NEWEST = 9000000 };

struct configs {
	const struct haproxy_cfg *cfgs[CHECK_CONFIGS_MAX];
	const char *paths[CHECK_CONFIGS_MAX];
	size_t count;
};

static const char *value_of(const void *data, struct span name)
{
	char text[256];

	(void)data;
	(void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.at);
	return name.len < sizeof(text) ? getenv(text) : NULL;
}

static const struct haproxy_cfg *read_config(const char *path, uint32_t version,
                                             struct arena *arena)
{
	static const struct haproxy_environment environment = { value_of, NULL };
	struct error error = { .text = "" };
	const struct haproxy_cfg *cfg = NULL;
	size_t len;
	char *text = text_read(path, CONFIG_BYTES_MAX, &len, &error);

	if (text)
		cfg = haproxy_cfg_read((struct span){ text, len }, version, &environment, arena);
	free(text);
	return cfg;
}

static bool is_backend(const struct haproxy_section *section)
{
	return strcmp(section->type, "backend") == 0 || strcmp(section->type, "listen") == 0;
}

/* NULL if there is none; offers the names of all. */
static const struct haproxy_section *backend_named(const struct configs *configs, const char *name,
                                                   struct near *near, const char **ret_path)
{
	for (size_t i = 0; i < configs->count; i++) {
		for (uint32_t j = 0; j < configs->cfgs[i]->count; j++) {
			const struct haproxy_section *section = &configs->cfgs[i]->sections[j];

			if (!is_backend(section))
				continue;
			*ret_path = configs->paths[i];
			if (strcmp(section->name, name) == 0)
				return section;
			near_offer(near, section->name);
		}
	}
	return NULL;
}

static const struct haproxy_section *expect_backend(const struct loading *loading,
                                                    const struct configs *configs,
                                                    const struct node *node, const char *name,
                                                    const char **ret_path)
{
	struct near near = near_to(name);
	const struct haproxy_section *backend = backend_named(configs, name, &near, ret_path);
	char hint[NEAR_HINT_MAX];

	near_hint(&near, hint);
	if (!backend)
		loading_key_error(loading, node, "unknown-backend", "no such backend in %s%s%s",
		                  configs->paths[0], configs->count > 1 ? " and the others" : "",
		                  hint);
	return backend;
}

/* "gpu12" of "server-template gpu 1-16 ...", "gpu3" of "server gpu3 ...", or the
 * address of the latter; a pattern of one of them. */
static bool is_server(const struct haproxy_line *line, const char *name)
{
	char first[NAME_MAX_BYTES];
	size_t len;

	if (line->count < 3)
		return false;
	if (strcmp(line->words[0], "server") == 0)
		return pattern_fits(name, line->words[1]) || pattern_fits(name, line->words[2]);
	len = strlen(line->words[1]);
	(void)snprintf(first, sizeof(first), "%s1", line->words[1]);
	if (strcmp(line->words[0], "server-template") == 0 && strchr(name, '*'))
		return pattern_fits(name, first);
	return strcmp(line->words[0], "server-template") == 0 &&
	       strncmp(line->words[1], name, len) == 0 && name[len] &&
	       strspn(name + len, "0123456789") == strlen(name + len);
}

/* An address of a template's server is in the DNS, not in the file. */
static bool has_server(const struct haproxy_section *backend, const char *name)
{
	for (uint32_t i = 0; i < backend->count; i++) {
		if (is_server(&backend->lines[i], name) ||
		    (strcmp(backend->lines[i].words[0], "server-template") == 0 &&
		     strchr(name, ':')))
			return true;
	}
	return false;
}

static void check_replicas(const struct loading *loading, const struct haproxy_section *backend,
                           const char *path, const struct node *replicas)
{
	for (const struct node *node = replicas ? replicas->child : NULL; node; node = node->next) {
		if (!has_server(backend, node->name))
			loading_key_error(loading, node, "unknown-server",
			                  "no such server in backend %s (%s:%u)", backend->name,
			                  path, backend->head->number);
	}
}

static void check_instances(const struct loading *loading, const struct configs *configs)
{
	const struct node *instances = node_named(loading->root, "instances");

	for (const struct node *node = instances ? instances->child : NULL; node;
	     node = node->next) {
		const char *path = NULL;
		const struct haproxy_section *backend =
		        expect_backend(loading, configs, node, node->name, &path);

		if (backend)
			check_replicas(loading, backend, path, node_named(node, "replicas"));
	}
}

/* The lists of every rule: in models or in rules. */
static void check_lists(const struct loading *loading, const struct configs *configs,
                        const char *rules, const char *list)
{
	const struct node *node = node_named(loading->root, rules);
	const char *path;

	for (node = node ? node->child : NULL; node; node = node->next) {
		const struct node *names = node_named(node, list);

		for (names = names ? names->child : NULL; names; names = names->next)
			(void)expect_backend(loading, configs, names,
			                     json_string_value(names->value), &path);
	}
}

void check_names(const struct policy_file *file, const char *const *configs, size_t count,
                 const char *version, struct problems *problems)
{
	struct loading loading = { .file = file->name,
		                   .problems = problems,
		                   .root = document_root(file->document) };
	struct configs read = { .count = 0 };
	struct arena *arena = arena_new();
	uint32_t number =
	        version ? haproxy_condition_version((struct span){ version, strlen(version) })
	                : NEWEST;

	for (size_t i = 0; arena && i < count && i < CHECK_CONFIGS_MAX; i++) {
		read.paths[i] = configs[i];
		read.cfgs[i] = read_config(configs[i], number, arena);
		if (!read.cfgs[i])
			break;
		read.count++;
	}
	if (read.count > 0 && read.count == count) {
		check_instances(&loading, &read);
		check_lists(&loading, &read, "models", "instances");
		check_lists(&loading, &read, "models", "fallback-services");
		check_lists(&loading, &read, "rules", "instances");
		check_lists(&loading, &read, "rules", "fallback-services");
	}
	arena_free(arena);
}
