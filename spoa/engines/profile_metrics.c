/* profile_metrics.c - which metric says what: alternates, and what they are made of. */
#include <string.h>

#include "spoa/config/near.h"
#include "spoa/engines/profile_file.h"

static const char *const field_names[] = {
	[ENGINE_RUNNING] = "running",
	[ENGINE_WAITING] = "waiting",
	[ENGINE_KV_USAGE] = "kv-usage",
	[ENGINE_KV_TOKENS] = "kv-tokens",
	[ENGINE_PROMPT_TOKENS] = "prompt-tokens",
	[ENGINE_GENERATION_TOKENS] = "generation-tokens",
	[ENGINE_CACHE_QUERIES] = "cache-queries",
	[ENGINE_CACHE_HITS] = "cache-hits",
	[ENGINE_FINISHED] = "finished",
	[ENGINE_TOKEN_SECONDS] = "token-seconds",
	[ENGINE_TOKEN_GAPS] = "token-gaps",
	[ENGINE_UTILIZATION] = "utilization",
	[ENGINE_SEQUENCES] = "sequences",
	[ENGINE_LORA_SLOTS] = "lora-slots",
	[ENGINE_LORA_USED] = "lora-used",
	NULL,
};
_Static_assert(sizeof(field_names) / sizeof(field_names[0]) == ENGINE_FIELD_COUNT + 1,
               "each field has a name");

const char *engine_field_name(enum engine_field field)
{
	return field_names[field];
}

/* Where the metrics of one profile go. */
struct reading {
	const struct loading *loading;
	struct terms *terms;
	uint32_t profile;
	enum engine_field field;
};

/* NULL, with a problem, when there are too many. */
static struct term *take_term(const struct reading *reading, const struct node *node,
                              enum term_part part)
{
	struct terms *terms = reading->terms;
	struct term *term;

	if (terms->count == terms->room) {
		loading_error(reading->loading, node, "too-many", "more than %u metrics",
		              terms->room);
		return NULL;
	}
	term = &terms->at[terms->count++];
	*term = (struct term){ .field = reading->field,
		               .part = part,
		               .scale = 1,
		               .profile = reading->profile,
		               .next = TERM_NONE };
	return term;
}

static void read_series(const struct loading *loading, const struct node *node, struct term *term)
{
	const char *word = node ? json_string_value(node->value) : NULL;

	if (!node)
		return;
	term->largest = word && strcmp(word, "largest") == 0;
	if (!word || (!term->largest && strcmp(word, "sum") != 0))
		loading_error(loading, node, "type", "expected \"sum\" or \"largest\"");
}

static void read_scale(const struct loading *loading, const struct node *node, struct term *term)
{
	double scale = node ? json_number_value(node->value) : 1;

	if (scale > 0)
		term->scale = scale;
	else
		loading_error(loading, node, "type", "expected a number above 0");
}

static void read_factors(const struct loading *loading, const struct node *node, struct term *term)
{
	if (!node)
		return;
	if (!json_is_array(node->value) || node_count(node) != 2) {
		loading_error(loading, node, "type", "expected two names of labels");
		return;
	}
	term->factors[0] = profile_text(loading, node->child);
	term->factors[1] = profile_text(loading, node->child->next);
}

static void read_label(const struct loading *loading, const struct node *object, struct term *term)
{
	const struct node *label = node_named(object, "label"), *is = node_named(object, "is");

	if (!label && !is)
		return;
	if (!label || !is) {
		loading_error(loading, object, "missing", "\"label\" and \"is\" go together");
		return;
	}
	term->label = profile_text(loading, label);
	term->is = profile_text(loading, is);
}

static struct term *read_term(const struct reading *reading, const struct node *node,
                              enum term_part part)
{
	static const char *const names[] = { "name",  "series", "label", "is", "labels",
		                             "scale", "plus",   "times", NULL };
	struct term *term = take_term(reading, node, part);
	const struct node *name = node->is_object ? node_named(node, "name") : node;

	if (!term)
		return NULL;
	if (!name) {
		loading_error(reading->loading, node, "missing",
		              "expected \"name\", the name of a metric");
		return NULL;
	}
	term->name = profile_text(reading->loading, name);
	if (!node->is_object)
		return term;
	profile_keys(reading->loading, node, names);
	read_series(reading->loading, node_named(node, "series"), term);
	read_scale(reading->loading, node_named(node, "scale"), term);
	read_factors(reading->loading, node_named(node, "labels"), term);
	read_label(reading->loading, node, term);
	return term;
}

/* Of a part there are no parts. */
static void read_part(const struct reading *reading, const struct node *node, enum term_part part)
{
	const char *const none[] = { "plus", "times" };

	(void)read_term(reading, node, part);
	for (size_t i = 0; node->is_object && i < sizeof(none) / sizeof(none[0]); i++) {
		const struct node *more = node_named(node, none[i]);

		if (more)
			loading_key_error(reading->loading, more, "unknown-key",
			                  "\"%s\" is of an alternate only", none[i]);
	}
}

static void read_alternate(const struct reading *reading, const struct node *node)
{
	const struct node *plus = node->is_object ? node_named(node, "plus") : NULL;
	const struct node *times = node->is_object ? node_named(node, "times") : NULL;

	(void)read_term(reading, node, TERM_FIRST);
	if (plus && !json_is_array(plus->value))
		loading_error(reading->loading, plus, "type", "expected a list of metrics");
	else if (plus)
		for (const struct node *part = plus->child; part; part = part->next)
			read_part(reading, part, TERM_PLUS);
	if (times)
		read_part(reading, times, TERM_TIMES);
}

static bool field_of(const char *name, enum engine_field *ret_field)
{
	for (size_t i = 0; field_names[i]; i++) {
		if (near_distance(name, field_names[i]) != 0)
			continue;
		*ret_field = (enum engine_field)i;
		return true;
	}
	return false;
}

void profile_metrics_read(const struct loading *loading, const struct node *metrics, uint32_t index,
                          struct terms *terms)
{
	struct reading reading = { .loading = loading, .terms = terms, .profile = index };

	if (!metrics->is_object) {
		loading_error(loading, metrics, "type", "expected an object");
		return;
	}
	profile_keys(loading, metrics, field_names);
	for (const struct node *node = metrics->child; node; node = node->next) {
		if (!field_of(node->name, &reading.field))
			continue;
		if (!json_is_array(node->value) || !node->child) {
			loading_error(loading, node, "type",
			              "expected a list of metrics, the newest name first");
			continue;
		}
		for (const struct node *each = node->child; each; each = each->next)
			read_alternate(&reading, each);
	}
}
