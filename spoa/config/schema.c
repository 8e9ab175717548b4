/* schema.c - the JSON schema (draft-07) of a policy file, made from its shape.
 *
 * Each named shape becomes a definition. The schema is a little stricter than
 * the loader: only the canonical spelling of a key is in it. Values of keys that
 * begin with "//" are comments. */
#include "spoa/config/schema.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "policies/core/target.h"
#include "policies/phases.h"
#include "policies/strategies.h"
#include "spoa/config/measure.h"
#include "spoa/config/recipe.h"
#include "spoa/config/shape.h"

enum { SHAPES_MAX = 64, TEXT_MAX = 512 };

/* Shapes whose definition is wanted; the queue instead of recursion. */
struct queue {
	const struct shape *shapes[SHAPES_MAX];
	size_t count;
};

static json_t *number(double value)
{
	return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
	                                                   : json_real(value);
}

static json_t *choices_of(const char *choices)
{
	json_t *list = json_array();

	while (*choices) {
		size_t len = strcspn(choices, "|");

		(void)json_array_append_new(list, json_stringn(choices, len));
		choices += len + (choices[len] == '|');
	}
	return list;
}

/* A text with a unit, or 0. */
static json_t *measured(const char *pattern)
{
	return json_pack("{s[{ssss}{si}]}", "anyOf", "type", "string", "pattern", pattern, "const",
	                 0);
}

static json_t *type_of(const struct option *row, double min, double max)
{
	switch (row->type) {
	case OPTION_BOOL:
		return json_pack("{ss}", "type", "boolean");
	case OPTION_COUNT:
		if (row->choices)
			return json_pack("{s[{ss so so}{ss}]}", "anyOf", "type", "integer",
			                 "minimum", number(min), "maximum", number(max), "const",
			                 row->choices);
		return json_pack("{ss so so}", "type", "integer", "minimum", number(min), "maximum",
		                 number(max));
	case OPTION_NUMBER:
		return json_pack("{ss so so}", "type", "number", "minimum", number(min), "maximum",
		                 number(max));
	case OPTION_SIZE:
		return measured("^[0-9]+([.][0-9]+)?(b|k|m|g)$");
	case OPTION_DURATION:
	case OPTION_MSEC:
		return measured("^[0-9]+([.][0-9]+)?(us|ms|s|m|h|d)$");
	case OPTION_RATE:
		return measured("^[0-9]+([.][0-9]+)?[kKmMgG]?/(s|m|h|d)$");
	case OPTION_TEXT:
		return json_pack("{ss so so}", "type", "string", "minLength", number(min),
		                 "maxLength", number(max));
	case OPTION_CHOICE:
		return json_pack("{so}", "enum", choices_of(row->choices));
	}
	return NULL;
}

static json_t *default_of(const struct option *row)
{
	char text[MEASURE_MAX];

	if (row->type == OPTION_BOOL)
		return json_boolean(row->otherwise != 0);
	if (row->type == OPTION_COUNT || row->type == OPTION_NUMBER)
		return number(row->otherwise);
	if (row->type == OPTION_TEXT)
		return json_string("");
	measure_show(row, row->otherwise, text);
	return json_string(text);
}

static json_t *description_of(const struct option *row)
{
	char text[TEXT_MAX];
	char min[MEASURE_MAX];
	char max[MEASURE_MAX];
	bool ranged =
	        row->type != OPTION_BOOL && row->type != OPTION_TEXT && row->type != OPTION_CHOICE;

	measure_show(row, row->min, min);
	measure_show(row, row->max, max);
	(void)snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s%s", row->help, ranged ? " From " : "",
	               ranged ? min : "", ranged ? " to " : "", ranged ? max : "",
	               ranged && *row->unit ? " " : "", ranged ? row->unit : "", ranged ? "." : "",
	               row->restart ? " A change needs a restart." : "");
	return json_string(text);
}

static json_t *property_of(const struct option *row, double min, double max)
{
	json_t *property = type_of(row, min, max);

	(void)json_object_set_new(property, "default", default_of(row));
	(void)json_object_set_new(property, "description", description_of(row));
	return property;
}

static void add_choices(json_t *property, const char *choices)
{
	json_t *list = json_object_get(property, "enum");

	while (*choices) {
		struct span name = choice_at(choices, 0);
		json_t *text = json_stringn(name.at, name.len);
		bool there = false;

		for (size_t i = 0; i < json_array_size(list); i++)
			there |= json_equal(json_array_get(list, i), text);
		if (!there)
			(void)json_array_append(list, text);
		json_decref(text);
		choices = name.at + name.len + (name.at[name.len] == '|');
	}
}

/* Strategies have options of the same names as pickers, with choices of their own. */
static void add_strategy_choices(json_t *property, const char *name)
{
	for (size_t i = 0; strategy_at(i); i++) {
		const struct option *row =
		        option_named(strategy_at(i)->options, (struct span){ name, strlen(name) });

		if (row && row->choices)
			add_choices(property, row->choices);
	}
}

/* One option that several pickers have, each with its own range: the widest. */
static void add_picker_option(json_t *properties, const struct option *row)
{
	double min = row->min;
	double max = row->max;
	json_t *property;

	if (json_object_get(properties, row->name))
		return;
	for (size_t i = 0; recipe_picker_at(i); i++) {
		const struct option *other =
		        option_named(recipe_picker_at(i)->options,
		                     (struct span){ row->name, strlen(row->name) });

		if (other) {
			min = fmin(min, other->min);
			max = fmax(max, other->max);
		}
	}
	property = type_of(row, min, max);
	if (row->type == OPTION_CHOICE)
		add_strategy_choices(property, row->name);
	(void)json_object_set_new(property, "description", json_string(row->help));
	(void)json_object_set_new(properties, row->name, property);
}

static json_t *strategy_names(enum role role)
{
	json_t *names = json_array();

	for (size_t i = 0; role != ROLE_COMBINED && phase_at(i); i++)
		if (phase_at(i)->role == role)
			(void)json_array_append_new(names, json_string(phase_at(i)->name));
	for (size_t i = 0; strategy_at(i); i++)
		(void)json_array_append_new(names, json_string(strategy_at(i)->name));
	return names;
}

static json_t *picker_names(void)
{
	json_t *names = json_array();

	for (size_t i = 0; recipe_picker_at(i); i++)
		(void)json_array_append_new(names, json_string(recipe_picker_at(i)->name));
	return names;
}

static json_t *reference(struct queue *queue, const struct shape *shape)
{
	char text[TEXT_MAX];
	size_t i = 0;

	while (i < queue->count && queue->shapes[i] != shape)
		i++;
	if (i == queue->count && i < SHAPES_MAX)
		queue->shapes[queue->count++] = shape;
	(void)snprintf(text, sizeof(text), "#/definitions/%s", shape->name);
	return json_pack("{ss}", "$ref", text);
}

/* Values that are no container, and references to those that are. */
static json_t *value_of(struct queue *queue, const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_TEXT:
		return json_pack("{ss si si}", "type", "string", "minLength", 1, "maxLength",
		                 NAME_MAX_BYTES - 1);
	case SHAPE_SHARE:
		return json_pack("{ss si si}", "type", "number", "minimum", 0, "maximum",
		                 SHARE_MAX);
	case SHAPE_LADDER:
		return json_pack("{ss ss}", "type", "string", "pattern",
		                 "^[0-9]+x[0-9]+k?(,[0-9]+x[0-9]+k?)*$");
	case SHAPE_PICKER:
		return json_pack("{so}", "enum", picker_names());
	case SHAPE_STRATEGY:
		return json_pack("{s[{so}{ss}o]}", "anyOf", "enum", strategy_names(shape->role),
		                 "type", "string", reference(queue, shape->element));
	case SHAPE_OBJECT:
	case SHAPE_MAP:
	case SHAPE_LIST:
	case SHAPE_SIGNALS:
		return reference(queue, shape);
	case SHAPE_LATER:
		break;
	}
	return NULL;
}

static json_t *object_definition(struct queue *queue, const struct shape *shape)
{
	json_t *properties = json_object();

	for (const struct field *field = shape->fields; field && field->name; field++) {
		json_t *property = value_of(queue, field->shape);

		if (!property)
			continue;
		/* Beside a $ref everything else is ignored. */
		if (json_object_get(property, "$ref"))
			property = json_pack("{s[o]}", "allOf", property);
		(void)json_object_set_new(property, "description", json_string(field->help));
		(void)json_object_set_new(properties, field->name, property);
	}
	for (size_t i = 0; i < SHAPE_TABLES_MAX && shape->tables[i]; i++) {
		for (const struct option *row = shape->tables[i]; row->name; row++)
			(void)json_object_set_new(properties, row->name,
			                          property_of(row, row->min, row->max));
	}
	for (size_t i = 0; shape->picker_options && recipe_picker_at(i); i++) {
		const struct option *row = recipe_picker_at(i)->options;

		for (; row && row->name; row++)
			add_picker_option(properties, row);
	}
	return json_pack("{ss so s{s{}} sb}", "type", "object", "properties", properties,
	                 "patternProperties", "^//", "additionalProperties", 0);
}

static json_t *signals_definition(struct queue *queue, const struct shape *shape)
{
	json_t *properties = json_object();

	for (size_t i = 0; recipe_signal_at(i); i++) {
		json_t *weight = type_of(&weighing_options[0], weighing_options[0].min,
		                         weighing_options[0].max);

		(void)json_object_set_new(
		        properties, recipe_signal_at(i)->name,
		        json_pack("{s[o o]}", "anyOf", weight, reference(queue, shape->element)));
	}
	return json_pack("{ss so s{s{}} sb}", "type", "object", "properties", properties,
	                 "patternProperties", "^//", "additionalProperties", 0);
}

static json_t *list_definition(struct queue *queue, const struct shape *shape)
{
	json_t *list =
	        json_pack("{ss so}", "type", "array", "items", value_of(queue, shape->element));

	if (shape->least > 0)
		(void)json_object_set_new(list, "minItems", json_integer((json_int_t)shape->least));
	if (shape->most > 0)
		(void)json_object_set_new(list, "maxItems", json_integer((json_int_t)shape->most));
	return list;
}

static json_t *definition_of(struct queue *queue, const struct shape *shape)
{
	if (shape->kind == SHAPE_OBJECT)
		return object_definition(queue, shape);
	if (shape->kind == SHAPE_SIGNALS)
		return signals_definition(queue, shape);
	if (shape->kind == SHAPE_LIST)
		return list_definition(queue, shape);
	return json_pack("{ss s{s{}} so}", "type", "object", "patternProperties", "^//",
	                 "additionalProperties", value_of(queue, shape->element));
}

bool schema_print(FILE *out)
{
	struct queue queue = { .count = 0 };
	json_t *definitions = json_object();
	json_t *schema =
	        json_pack("{ss ss so}", "$schema", "http://json-schema.org/draft-07/schema#",
	                  "title", "Policy of inference-spoa", "allOf",
	                  json_pack("[o]", reference(&queue, &shape_policy)));
	bool printed;

	for (size_t i = 0; i < queue.count; i++)
		(void)json_object_set_new(definitions, queue.shapes[i]->name,
		                          definition_of(&queue, queue.shapes[i]));
	printed = schema && json_object_set_new(schema, "definitions", definitions) == 0 &&
	          json_dumpf(schema, out, JSON_INDENT(1)) == 0 && fputc('\n', out) != EOF;
	json_decref(schema);
	return printed;
}
