/* affinity.c - what a policy file says of affinity.
 *
 * A rule has at most one kind of match and says at least one thing: only, never,
 * split. Instances need not be listed under "instances"; what is suspicious about
 * names there, the rules of models tell for theirs, and these for their own. */
#include "spoa/config/affinity.h"

#include "policies/defaults.h"
#include "spoa/config/names.h"
#include "spoa/config/tables.h"

static const struct {
	const char *name;
	enum affinity_match match;
} matches[] = {
	{ "exact", AFFINITY_ONE_OF },
	{ "one-of", AFFINITY_ONE_OF },
	{ "prefix", AFFINITY_PREFIX },
	{ "none-of", AFFINITY_NONE_OF },
};

/* One text, or a list of them. */
static void load_values(const struct loading *loading, const struct node *node,
                        struct affinity *affinity)
{
	const char *text = json_string_value(node->value);

	if (!text) {
		affinity->values = names_load(loading, node, &affinity->value_count);
		return;
	}
	affinity->values = loading_take(loading, 1, sizeof(affinity->values[0]));
	if (!affinity->values)
		return;
	name_copy(affinity->values[0], text);
	affinity->value_count = 1;
}

static void load_match(const struct loading *loading, const struct node *rule,
                       struct affinity *affinity)
{
	const struct node *first = NULL;

	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		const struct node *node = node_named(rule, matches[i].name);

		if (!node)
			continue;
		if (first) {
			loading_key_error(loading, node, "duplicate",
			                  "the rule has \"%s\" already, and takes one of exact, "
			                  "one-of, prefix, none-of",
			                  first->name);
			return;
		}
		first = node;
		affinity->match = matches[i].match;
		load_values(loading, node, affinity);
	}
}

static void load_split(const struct loading *loading, const struct node *split,
                       struct affinity *affinity)
{
	size_t count = split ? node_count(split) : 0;
	double total = 0;

	if (count == 0)
		return;
	affinity->split = loading_take(loading, count, NAME_MAX_BYTES);
	affinity->shares = loading_take(loading, count, sizeof(double));
	if (!affinity->split || !affinity->shares)
		return;
	for (const struct node *node = split->child; node; node = node->next) {
		if (!node->name)
			continue;
		affinity->shares[affinity->split_count] = json_number_value(node->value);
		total += affinity->shares[affinity->split_count];
		name_copy(affinity->split[affinity->split_count++], node->name);
	}
	if (total <= 0)
		loading_error(loading, split, "range", "no part has a share above 0");
}

static void check_rule(const struct loading *loading, const struct node *node,
                       const struct affinity *affinity)
{
	const struct node *header = node_named(node, "header");

	if (affinity->on == AFFINITY_HEADER && affinity->header[0] == '\0')
		loading_error(loading, node, "range", "on is header, but no header is named");
	if (affinity->on != AFFINITY_HEADER && header)
		loading_key_error(loading, header, "range", "means nothing unless on is header");
	if (affinity->only_count + affinity->never_count + affinity->split_count == 0)
		loading_error(loading, node, "range", "one of only, never and split must be there");
}

void affinity_load(const struct loading *loading, const struct node *list,
                   struct affinity **ret_affinities, uint32_t *ret_count)
{
	*ret_affinities = NULL;
	*ret_count = 0;
	if (!list || !list->child || !json_is_array(list->value))
		return;
	*ret_affinities = loading_take(loading, node_count(list), sizeof(**ret_affinities));
	for (const struct node *node = list->child; *ret_affinities && node; node = node->next) {
		struct affinity *affinity = &(*ret_affinities)[*ret_count];

		if (!node->is_object)
			continue;
		options_reset(affinity_options, affinity);
		table_load(affinity_options, affinity, node);
		load_match(loading, node, affinity);
		affinity->only =
		        names_load(loading, node_named(node, "only"), &affinity->only_count);
		affinity->never =
		        names_load(loading, node_named(node, "never"), &affinity->never_count);
		load_split(loading, node_named(node, "split"), affinity);
		check_rule(loading, node, affinity);
		(*ret_count)++;
	}
}
