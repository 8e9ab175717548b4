/* policy.c - from the operator's policy file to struct policy.
 *
 * First the text becomes a document, then every place of it is checked against
 * its shape, then the parts are loaded; each step goes on after a mistake, so
 * that all of them are told at once. */
#include "spoa/config/policy.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "policies/defaults.h"
#include "spoa/config/adapters.h"
#include "spoa/config/chain.h"
#include "spoa/config/classes.h"
#include "spoa/config/document.h"
#include "spoa/config/health.h"
#include "spoa/config/instances.h"
#include "spoa/config/policy_file.h"
#include "spoa/config/profile.h"
#include "spoa/config/recipe.h"
#include "spoa/config/rules.h"
#include "spoa/config/session.h"
#include "spoa/config/shape.h"
#include "spoa/config/sharing.h"
#include "spoa/config/tables.h"
#include "spoa/config/tenants.h"
#include "spoa/config/text.h"

static const char embedded[] = "{}";

void policy_file_free(struct policy_file *file)
{
	if (!file)
		return;
	document_free(file->document);
	arena_free(file->arena);
	free(file);
}

const struct policy *policy_file_policy(const struct policy_file *file)
{
	return &file->policy;
}

const char *policy_file_name(const struct policy_file *file)
{
	return file->name;
}

uint64_t policy_file_hash(const struct policy_file *file)
{
	return file->hash;
}

const char *policy_file_ignored(const struct policy_file *file, size_t i)
{
	const struct node *list =
	        node_named(node_named(document_root(file->document), "check"), "ignore");
	const struct node *node = list ? list->child : NULL;

	while (node && i-- > 0)
		node = node->next;
	return node ? json_string_value(node->value) : NULL;
}

static void load_ladder(const struct node *node, struct ladder *ladder)
{
	const char *text = node ? json_string_value(node->value) : NULL;
	struct error error = { .text = "" };

	if (text)
		(void)!ladder_parse((struct span){ text, strlen(text) }, ladder, &error);
}

/* What spans several options. */
static void check_process(const struct loading *loading, const struct policy *policy,
                          const struct node *defaults)
{
	const struct node *status = node_named(defaults, "overload-status");
	const struct node *ttl = node_named(defaults, "ledger-ttl");
	const struct node *width = node_named(defaults, "ledger-width");

	if (status && policy->overload_status != 429 && policy->overload_status != 503)
		loading_error(loading, status, "range", "%u is neither 429 nor 503",
		              policy->overload_status);
	if ((ttl || width) && policy->ledger_ttl % policy->ledger_width != 0)
		loading_error(loading, ttl ? ttl : width, "range",
		              "ledger-ttl is not a multiple of ledger-width");
}

static void load(struct loading *loading, struct policy *policy)
{
	const struct node *defaults = node_named(loading->root, "defaults");
	struct layers layers = { .nodes = { defaults }, .count = 1, .level = 1 };
	struct entry_policy chain[CHAIN_MAX];

	shape_check(loading, &shape_policy);
	table_load(policy_options, policy, defaults);
	table_load(prefix_options, &policy->prefix, node_named(defaults, "prefix"));
	health_load(loading, node_named(defaults, "health"), &policy->health);
	session_load(loading, node_named(defaults, "session"), &policy->session);
	table_load(blend_options, &policy->blend, node_named(defaults, "blend"));
	load_ladder(node_named(defaults, "ladder"), &policy->ladder);
	check_process(loading, policy, defaults);
	classes_load(loading, policy);
	loading->policy = policy;
	recipes_load(loading, policy);
	profiles_load(loading, policy);
	(void)chain_load(loading, &layers, chain); /* for what is wrong in it */
	instances_load(loading, policy);
	rules_load(loading, policy);
	adapters_load(loading, policy);
	tenants_load(loading, policy);
	sharing_load(loading, node_named(loading->root, "redis"), &policy->sharing);
}

struct policy_file *policy_parse(const char *name, const char *text, size_t len,
                                 struct problems *problems)
{
	size_t before = problems_count(problems, SEVERITY_ERROR);
	struct policy_file *file = calloc(1, sizeof(*file));
	struct loading loading = { .file = name, .problems = problems };

	if (file)
		file->arena = arena_new();
	if (file && file->arena)
		file->name = arena_text(file->arena, name, strlen(name));
	if (file && file->name) {
		file->hash = text == embedded ? 0 : XXH64(text, len, 0);
		file->document = document_parse(name, text, len, problems);
	}
	if (file && file->document) {
		loading.arena = file->arena;
		loading.root = document_root(file->document);
		policy_default(&file->policy);
		load(&loading, &file->policy);
	} else if (problems_count(problems, SEVERITY_ERROR) == before) {
		problems_add(problems, (struct place){ .file = name }, SEVERITY_ERROR, NULL,
		             "memory", "there is no memory for it");
	}
	if (problems_count(problems, SEVERITY_ERROR) == before)
		return file;
	policy_file_free(file);
	return NULL;
}

struct policy_file *policy_load(const char *path, struct problems *problems)
{
	struct error error = { .text = "" };
	struct policy_file *file;
	size_t len;
	char *text;

	if (!path)
		return policy_parse("default", embedded, sizeof(embedded) - 1, problems);
	text = text_read(path, POLICY_FILE_MAX, &len, &error);
	if (!text) {
		problems_add(problems, (struct place){ .file = path }, SEVERITY_ERROR, NULL,
		             "syntax", "%s", error.text);
		return NULL;
	}
	file = policy_parse(path, text, len, problems);
	free(text);
	return file;
}
