/* options_doc.c - every knob of a policy, for people. */
#include "spoa/config/options_doc.h"

#include "policies/classes.h"
#include "policies/defaults.h"
#include "policies/lora.h"
#include "policies/pickers/pickers.h"
#include "policies/queue.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "spoa/config/instances.h"
#include "spoa/config/measure.h"
#include "spoa/config/profile.h"
#include "spoa/config/recipe.h"
#include "spoa/config/shape.h"

enum { RANGE_MAX = 3 * MEASURE_MAX };

struct section {
	const char *title;
	const char *where; /* paths in the file, for both kinds of page */
	const struct option *options;
};

static const struct section sections[] = {
	{ "The process", "defaults", policy_options },
	{ "The index of prompt prefixes", "defaults.prefix", prefix_options },
	{ "What strategies are blended with", "defaults.blend", blend_options },
	{ "LoRA adapters", "defaults.lora", lora_options },
	{ "Failing replicas", "defaults.health", health_options },
	{ "Sessions", "defaults.session", session_options },
	{ "Choosing a target",
	  "defaults, defaults.level1, defaults.level2, models.NAME, instances.NAME, rules[], "
	  "and each entry of a chain there",
	  entry_options },
	{ "Limits", "admit and hard-limits, wherever a target is chosen", limits_options },
	{ "Instances", "defaults.level2, instances.NAME", instance_options },
	{ "Affinity", "affinity[], models.NAME.affinity[], rules[].affinity[]", affinity_options },
	{ "The queue", "defaults.queue", queue_options },
	{ "Classes", "classes.NAME", class_options },
	{ "Objectives", "defaults.queue, classes.NAME", objective_options },
	{ "Tenants", "tenants.NAME", tenant_options },
	{ "Limits of callers and models",
	  "tenants.NAME.limits, tenants.NAME.models.NAME, models.NAME.limits", quota_options },
	{ "Sharing", "redis", sharing_options },
	{ "Replicas", "instances.NAME.replicas.NAME", replica_options },
	{ "Recipes", "strategies.NAME, or in place of a strategy's name", recipe_options },
	{ "Steps of a profile", "models.NAME.profile.by-length[]", profile_step_options },
	{ "Signals of a recipe", "signals.NAME of a recipe", weighing_options },
};

/* "a, b, c" of "a|b|c". */
static void list_choices(const char *choices, char ret_list[RANGE_MAX])
{
	size_t at = 0;

	for (; *choices && at + 3 < RANGE_MAX; choices++) {
		ret_list[at++] = *choices == '|' ? ',' : *choices;
		if (*choices == '|')
			ret_list[at++] = ' ';
	}
	ret_list[at] = '\0';
}

/* Empty for what has no range worth showing. */
static void range_of(const struct option *row, char ret_range[RANGE_MAX])
{
	char min[MEASURE_MAX];
	char max[MEASURE_MAX];

	ret_range[0] = '\0';
	if (row->type == OPTION_CHOICE) {
		list_choices(row->choices, ret_range);
	} else if (row->type != OPTION_BOOL && row->type != OPTION_TEXT) {
		measure_show(row, row->min, min);
		measure_show(row, row->max, max);
		(void)snprintf(ret_range, RANGE_MAX, "%s to %s%s%s", min, max,
		               *row->unit ? " " : "", row->unit);
	}
}

static void print_row(FILE *out, bool markdown, const struct option *row)
{
	char otherwise[MEASURE_MAX] = "";
	char range[RANGE_MAX] = "";

	if (row->type != OPTION_TEXT)
		measure_show(row, row->otherwise, otherwise);
	range_of(row, range);
	if (markdown)
		(void)fprintf(out, "| `%s` | %s | %s | %s | %s%s |\n", row->name, measure_type(row),
		              range, otherwise, row->help, row->restart ? " Needs a restart." : "");
	else
		(void)fprintf(out, "  %-30s %s%s%s%s%s\n      %s%s\n", row->name, measure_type(row),
		              !*range                      ? ""
		              : row->type == OPTION_CHOICE ? " "
		                                           : ", ",
		              range, *otherwise ? ", default " : "", otherwise, row->help,
		              row->restart ? " Needs a restart." : "");
}

static void print_rows(FILE *out, bool markdown, const struct option *options)
{
	if (markdown)
		(void)fprintf(out, "\n| name | type | range | default | what it does |\n"
		                   "|---|---|---|---|---|\n");
	for (; options && options->name; options++)
		print_row(out, markdown, options);
}

static void print_title(FILE *out, bool markdown, const char *title, const char *where)
{
	(void)fprintf(out, "\n%s%s\n", markdown ? "## " : "", title);
	if (where)
		(void)fprintf(out, markdown ? "\nIn the file: %s.\n" : "  in the file: %s\n",
		              where);
}

static void print_name(FILE *out, bool markdown, const char *name, const char *help)
{
	if (markdown)
		(void)fprintf(out, "- `%s`: %s\n", name, help);
	else
		(void)fprintf(out, "  %-30s %s\n", name, help);
}

static void print_strategy(FILE *out, bool markdown, const struct strategy *strategy)
{
	const char *separator = "";

	print_name(out, markdown, strategy->name, strategy->help);
	(void)fprintf(out, "%s", markdown ? "  (" : "      ");
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		(void)fprintf(out, "%s%s %g", separator, strategy->weighings[i].signal->name,
		              strategy->weighings[i].weight);
		separator = ", ";
	}
	(void)fprintf(out, "%spicker %s", *separator ? "; " : "", strategy->picker->name);
	if (strategy->prefix != PREFIX_OFF)
		(void)fprintf(out, "; prefix %s",
		              strategy->prefix == PREFIX_SOLE ? "sole" : "score");
	if (strategy->falls_to)
		(void)fprintf(out, "; falls to %s", strategy->falls_to->name);
	(void)fprintf(out, "%s\n", markdown ? ")" : "");
}

static void print_pickers(FILE *out, bool markdown)
{
	char title[64];

	for (size_t i = 0; recipe_picker_at(i); i++) {
		const struct picker *picker = recipe_picker_at(i);

		if (!picker->options)
			continue;
		(void)snprintf(title, sizeof(title), "Options of the picker %s", picker->name);
		print_title(out, markdown, title, "beside the strategy that has this picker");
		print_rows(out, markdown, picker->options);
	}
}

static void print_names(FILE *out, bool markdown)
{
	print_title(out, markdown, "Strategies", NULL);
	(void)fprintf(out, "%s", markdown ? "\n" : "");
	for (size_t i = 0; strategy_at(i); i++)
		print_strategy(out, markdown, strategy_at(i));
	print_title(out, markdown, "Signals", NULL);
	(void)fprintf(out, "%s", markdown ? "\n" : "");
	for (size_t i = 0; recipe_signal_at(i); i++)
		print_name(out, markdown, recipe_signal_at(i)->name, recipe_signal_at(i)->help);
	print_title(out, markdown, "Pickers", NULL);
	(void)fprintf(out, "%s", markdown ? "\n" : "");
	for (size_t i = 0; recipe_picker_at(i); i++)
		print_name(out, markdown, recipe_picker_at(i)->name, recipe_picker_at(i)->help);
}

/* The keys of one part of the file: "rules" and "[]" give "rules[].chain". */
static void print_keys_of(FILE *out, bool markdown, const char *part, const struct shape *shape)
{
	const char *between = shape->kind == SHAPE_LIST ? "[]" : "";
	char path[128];

	if (shape->kind == SHAPE_MAP)
		between = ".NAME";
	if (shape->element)
		shape = shape->element;
	for (const struct field *field = shape->fields; field && field->name; field++) {
		if (field->shape->kind == SHAPE_LATER)
			continue;
		(void)snprintf(path, sizeof(path), "%s%s.%s", part, between, field->name);
		print_name(out, markdown, path, field->help);
	}
}

/* The keys that are no single value: lists, objects, names. */
static void print_keys(FILE *out, bool markdown)
{
	print_title(out, markdown, "The file", NULL);
	(void)fprintf(out, "%s", markdown ? "\n" : "");
	for (const struct field *field = shape_policy.fields; field->name; field++) {
		if (field->shape->kind == SHAPE_LATER)
			continue;
		print_name(out, markdown, field->name, field->help);
		print_keys_of(out, markdown, field->name, field->shape);
	}
}

void options_doc_print(FILE *out, bool markdown)
{
	if (markdown)
		(void)fprintf(
		        out,
		        "# Options\n\nPrinted by `inference-spoa options --markdown`; do not "
		        "edit.\n\nA policy is a JSON file. Keys, and the names of strategies, "
		        "signals and pickers, may be written with `_` for `-` and in capitals; "
		        "names of models and backends are taken as they stand. Durations are texts "
		        "with a unit (us, ms, s, m, h, "
		        "d), sizes as well (b, k, m, g, by 1024); only 0 needs none. Keys that "
		        "begin with `//` are comments. What is not set comes from `defaults`, "
		        "and from here otherwise.\n");
	print_keys(out, markdown);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		print_title(out, markdown, sections[i].title, sections[i].where);
		print_rows(out, markdown, sections[i].options);
	}
	print_pickers(out, markdown);
	print_names(out, markdown);
}
