/* tables.c - JSON values and the rows of option tables. */
#include "spoa/config/tables.h"

#include <stdio.h>
#include <string.h>

#include "policies/core/target.h"

const char *json_kind(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "nothing";
}

static bool has_unit(enum option_type type)
{
	return type == OPTION_SIZE || type == OPTION_DURATION || type == OPTION_MSEC ||
	       type == OPTION_RATE;
}

static bool is_of_type(const struct option *option, const json_t *value)
{
	enum option_type type = option->type;

	if (type == OPTION_COUNT && option->choices && json_is_string(value))
		return true;
	if (type == OPTION_BOOL)
		return json_is_boolean(value);
	if (type == OPTION_COUNT || type == OPTION_NUMBER)
		return json_is_number(value);
	return json_is_string(value) || (has_unit(type) && json_is_number(value));
}

/* What the row wants to see, when it is not what the value is. */
static const char *expected(const struct option *option, const json_t *value)
{
	static const char *const types[] = {
		[OPTION_BOOL] = "true or false",
		[OPTION_COUNT] = "a number",
		[OPTION_NUMBER] = "a number",
		[OPTION_SIZE] = "a size like \"64k\"",
		[OPTION_DURATION] = "a duration like \"250ms\"",
		[OPTION_MSEC] = "a duration like \"250ms\"",
		[OPTION_RATE] = "a rate like \"50/s\"",
		[OPTION_TEXT] = "a text",
		[OPTION_CHOICE] = "one of the names",
	};

	return is_of_type(option, value) ? NULL : types[option->type];
}

static bool store(const struct option *option, void *settings, const json_t *value,
                  struct error *error)
{
	struct span text = { json_string_value(value), json_string_length(value) };

	if (json_is_string(value))
		return option_set_text(option, settings, text, error);
	if (json_is_boolean(value))
		return option_set_number(option, settings, json_is_true(value), error);
	return option_set_number(option, settings, json_number_value(value), error);
}

static bool fits(const struct option *option, const json_t *value)
{
	if (expected(option, value))
		return false;
	return !has_unit(option->type) || json_is_string(value) || json_number_value(value) == 0;
}

static void offer_choices(const char *choices, struct near *near, char copy[NAME_MAX_BYTES])
{
	char *rest = copy;

	(void)snprintf(copy, NAME_MAX_BYTES, "%s", choices);
	while (rest)
		near_offer(near, strsep(&rest, "|"));
}

/* The reason without the option's name in front: the path has said it. */
static const char *reason(const struct option *option, const struct error *error)
{
	size_t len = strlen(option->name);
	bool named = strncmp(error->text, option->name, len) == 0 &&
	             strncmp(error->text + len, ": ", 2) == 0;

	return error->text + (named ? len + 2 : 0);
}

void table_check(const struct loading *loading, const struct option *option,
                 const struct node *node)
{
	union {
		double number;
		struct rate rate;
		char text[NAME_MAX_BYTES];
	} scratch;
	struct option row = *option;
	struct error error = { .text = "" };
	struct near near =
	        near_to(json_is_string(node->value) ? json_string_value(node->value) : "");
	char names[NAME_MAX_BYTES];
	char hint[NEAR_HINT_MAX] = "";

	if (expected(option, node->value)) {
		loading_error(loading, node, "type", "is %s, not %s", json_kind(node->value),
		              expected(option, node->value));
		return;
	}
	if (!fits(option, node->value)) {
		loading_error(loading, node, "type", "%g needs a unit, as in %s",
		              json_number_value(node->value),
		              option->type == OPTION_SIZE   ? "\"64k\""
		              : option->type == OPTION_RATE ? "\"50/s\" or \"1M/m\""
		                                            : "\"250ms\" or \"30s\"");
		return;
	}
	row.offset = 0;
	if (store(&row, &scratch, node->value, &error))
		return;
	if (option->type == OPTION_CHOICE) {
		offer_choices(option->choices, &near, names);
		near_hint(&near, hint);
	}
	loading_error(loading, node, "range", "%s%s", reason(option, &error), hint);
}

void table_load(const struct option *options, void *settings, const struct node *object)
{
	struct error error = { .text = "" };

	for (const struct node *node = object ? object->child : NULL; node; node = node->next) {
		const struct option *option = table_row(options, node);

		if (option && fits(option, node->value))
			(void)!store(option, settings, node->value, &error);
	}
}

const struct option *table_row(const struct option *options, const struct node *node)
{
	if (!node->name)
		return NULL;
	return option_named(options, (struct span){ node->name, strlen(node->name) });
}

void table_offer(const struct option *options, struct near *near)
{
	for (; options && options->name; options++)
		near_offer(near, options->name);
}
