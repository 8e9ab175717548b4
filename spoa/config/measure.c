/* measure.c - the numbers of option rows, as an operator would write them. */
#include "spoa/config/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	double size;
};

/* The largest first; the last is the one that is stored. */
static const struct unit sizes[] = {
	{ "g", 1073741824 }, { "m", 1048576 }, { "k", 1024 }, { "b", 1 }, { 0 }
};
static const struct unit durations[] = {
	{ "d", 86400e6 }, { "h", 3600e6 }, { "m", 60e6 }, { "s", 1e6 },
	{ "ms", 1e3 },    { "us", 1 },     { 0 }
};
static const struct unit milliseconds[] = { { "d", 86400e3 }, { "h", 3600e3 }, { "m", 60e3 },
	                                    { "s", 1e3 },     { "ms", 1 },     { 0 } };

static void show_units(const struct unit *unit, double value, char ret_text[MEASURE_MAX])
{
	while (unit[1].name && (value < unit->size || fmod(value, unit->size) != 0))
		unit++;
	if (value == 0)
		(void)snprintf(ret_text, MEASURE_MAX, "0");
	else
		(void)snprintf(ret_text, MEASURE_MAX, "%.10g%s", value / unit->size, unit->name);
}

static void show_choice(const char *choices, int place, char ret_text[MEASURE_MAX])
{
	while (place-- > 0 && strchr(choices, '|'))
		choices = strchr(choices, '|') + 1;
	(void)snprintf(ret_text, MEASURE_MAX, "%.*s", (int)strcspn(choices, "|"), choices);
}

void measure_show(const struct option *option, double value, char ret_text[MEASURE_MAX])
{
	switch (option->type) {
	case OPTION_BOOL:
		(void)snprintf(ret_text, MEASURE_MAX, "%s", value != 0 ? "true" : "false");
		break;
	case OPTION_SIZE:
		show_units(sizes, value, ret_text);
		break;
	case OPTION_DURATION:
		show_units(durations, value, ret_text);
		break;
	case OPTION_MSEC:
		show_units(milliseconds, value, ret_text);
		break;
	case OPTION_CHOICE:
		show_choice(option->choices, (int)value, ret_text);
		break;
	case OPTION_RATE:
		(void)snprintf(ret_text, MEASURE_MAX, value > 0 ? "%.10g/s" : "%.10g", value);
		break;
	case OPTION_COUNT:
	case OPTION_NUMBER:
	case OPTION_TEXT:
		(void)snprintf(ret_text, MEASURE_MAX, "%.10g", value);
		break;
	}
}

const char *measure_type(const struct option *option)
{
	switch (option->type) {
	case OPTION_BOOL:
		return "true or false";
	case OPTION_COUNT:
		return "whole number";
	case OPTION_NUMBER:
		return "number";
	case OPTION_SIZE:
		return "size";
	case OPTION_DURATION:
	case OPTION_MSEC:
		return "duration";
	case OPTION_RATE:
		return "rate";
	case OPTION_TEXT:
		return "text";
	case OPTION_CHOICE:
		return "one of";
	}
	return "";
}
