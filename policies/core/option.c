/* option.c - put values where a table says they belong.
 *
 * Text is read by hand: strtod() asks the locale, and would take "inf". */
#include "policies/core/option.h"
#include "policies/core/bug.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "policies/core/name.h"
#include "policies/core/target.h"
#include "policies/core/time.h"

struct unit {
	const char *name;
	double size;
};

static const struct unit sizes[] = {
	{ "g", 1073741824 }, { "m", 1048576 }, { "k", 1024 }, { "b", 1 }, { NULL, 0 },
};
/* In microseconds. */
static const struct unit durations[] = {
	{ "d", 86400e6 }, { "h", 3600e6 }, { "m", 60e6 }, { "s", 1e6 },
	{ "ms", 1e3 },    { "us", 1 },     { NULL, 0 },
};
static const struct unit milliseconds[] = {
	{ "d", 86400e3 }, { "h", 3600e3 }, { "m", 60e3 }, { "s", 1e3 },
	{ "ms", 1 },      { "us", 1e-3 },  { NULL, 0 },
};

/* A count's thousands. */
static const struct unit thousands[] = {
	{ "g", 1e9 }, { "m", 1e6 }, { "k", 1e3 }, { "", 1 }, { NULL, 0 },
};
/* In seconds. */
static const struct unit periods[] = {
	{ "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 }, { NULL, 0 },
};

/* NULL for types whose numbers are written bare. */
static const struct unit *units_of(enum option_type type)
{
	switch (type) {
	case OPTION_SIZE:
		return sizes;
	case OPTION_DURATION:
		return durations;
	case OPTION_MSEC:
		return milliseconds;
	case OPTION_BOOL:
	case OPTION_COUNT:
	case OPTION_NUMBER:
	case OPTION_TEXT:
	case OPTION_CHOICE:
	case OPTION_RATE:
		break;
	}
	return NULL;
}

enum { SHOWN_MAX = 40 };

static void show(char *shown, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void show(char *shown, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(shown, SHOWN_MAX, format, args);
	va_end(args);
}

/* As an operator would write it: 1800000000 is "30m". */
static void show_value(const struct option *option, double value, char shown[SHOWN_MAX])
{
	const struct unit *unit = units_of(option->type);

	while (unit && unit[1].name && !(value >= unit->size))
		unit++;
	/* A value of no whole number of units is clearer in the next smaller one. */
	while (unit && unit[1].name && value < 1e15 &&
	       value / unit->size != (double)(int64_t)(value / unit->size))
		unit++;
	if (unit && value > 0)
		show(shown, "%.10g%s", value / unit->size, unit->name);
	else
		show(shown, "%g%s", value, option->type == OPTION_RATE && value > 0 ? "/s" : "");
}

static void store(const struct option *option, void *settings, double value)
{
	void *field = (char *)settings + option->offset;

	switch (option->type) {
	case OPTION_BOOL:
		*(bool *)field = value != 0;
		break;
	case OPTION_COUNT:
		*(uint32_t *)field = (uint32_t)value;
		break;
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_MSEC:
		*(double *)field = value;
		break;
	case OPTION_DURATION:
		*(usec_t *)field = (usec_t)(value + 0.5);
		break;
	case OPTION_CHOICE:
		*(int *)field = (int)value;
		break;
	case OPTION_RATE:
		*(struct rate *)field = (struct rate){ value, 1 };
		break;
	case OPTION_TEXT:
		*(char *)field = '\0';
		break;
	}
}

static bool must_be_whole(enum option_type type)
{
	return type == OPTION_BOOL || type == OPTION_COUNT || type == OPTION_CHOICE;
}

void options_reset(const struct option *options, void *settings)
{
	for (; options && options->name; options++)
		store(options, settings, options->otherwise);
}

const struct option *option_named(const struct option *options, struct span name)
{
	for (; options && options->name; options++) {
		if (name_is(options->name, name))
			return options;
	}
	return NULL;
}

static bool out_of_range(const struct option *option, double value, struct error *error)
{
	char is[SHOWN_MAX], least[SHOWN_MAX], most[SHOWN_MAX];
	bool bare = !units_of(option->type) && *option->unit;

	show_value(option, value, is);
	show_value(option, option->min, least);
	show_value(option, option->max, most);
	return error_set(error, "%s: %s is not between %s and %s%s%s", option->name, is, least,
	                 most, bare ? " " : "", bare ? option->unit : "");
}

bool option_set_number(const struct option *option, void *settings, double value,
                       struct error *error)
{
	if (option->type == OPTION_TEXT)
		return error_set(error, "%s: %g is not a text", option->name, value);
	/* Written so that what is not a number fails, too. */
	if (!(value >= option->min && value <= option->max))
		return out_of_range(option, value, error);
	if (must_be_whole(option->type) && value != (double)(uint32_t)value)
		return error_set(error, "%s: %g is not a whole number", option->name, value);
	store(option, settings, value);
	return true;
}

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* Digits with an optional sign and fraction; the rest of the text is left in
 * *text. False when there is no digit where one must be. */
static bool take_number(struct span *text, double *ret_value)
{
	struct span rest = *text;
	bool negative = rest.len > 0 && rest.at[0] == '-';
	double value = 0, place = 1;
	bool fraction = false;

	if (negative)
		rest = (struct span){ rest.at + 1, rest.len - 1 };
	if (rest.len == 0 || !is_digit(rest.at[0]))
		return false;
	for (; rest.len > 0; rest.at++, rest.len--) {
		if (*rest.at == '.' && !fraction && rest.len > 1 && is_digit(rest.at[1])) {
			fraction = true;
			continue;
		}
		if (!is_digit(*rest.at))
			break;
		value = value * 10 + (*rest.at - '0');
		place *= fraction ? 10 : 1;
	}
	*text = rest;
	*ret_value = (negative ? -value : value) / place;
	return true;
}

/* NULL when it is none of them. */
static const struct unit *unit_named(const struct unit *unit, struct span name)
{
	while (unit->name && !name_is(unit->name, name))
		unit++;
	return unit->name ? unit : NULL;
}

static bool set_measure(const struct option *option, void *settings, struct span text,
                        struct error *error)
{
	const struct unit *unit = units_of(option->type);
	struct span rest = text;
	double value;

	if (!take_number(&rest, &value))
		return error_set(error, "%s: \"%.*s\" is not a number", option->name, (int)text.len,
		                 text.at);
	if (!unit && rest.len > 0)
		return error_set(error, "%s: \"%.*s\" is more than a number", option->name,
		                 (int)text.len, text.at);
	if (!unit || (rest.len == 0 && value == 0))
		return option_set_number(option, settings, value, error);
	unit = unit_named(unit, rest);
	if (!unit)
		return error_set(error, "%s: \"%.*s\" needs a unit, %s", option->name,
		                 (int)text.len, text.at,
		                 option->type == OPTION_SIZE ? "b, k, m or g"
		                                             : "us, ms, s, m, h or d");
	return option_set_number(option, settings, value * unit->size, error);
}

static bool set_rate(const struct option *option, void *settings, struct span text,
                     struct error *error)
{
	struct rate *rate = (struct rate *)((char *)settings + option->offset);
	struct span rest = text;
	const struct unit *count, *period;
	size_t slash = 0;
	double value;

	if (!take_number(&rest, &value))
		return error_set(error, "%s: \"%.*s\" is not a number", option->name, (int)text.len,
		                 text.at);
	if (rest.len == 0 && value == 0)
		return option_set_number(option, settings, 0, error);
	while (slash < rest.len && rest.at[slash] != '/')
		slash++;
	if (slash == rest.len)
		return error_set(error, "%s: \"%.*s\" needs a time, as in 50/s or 600/m",
		                 option->name, (int)text.len, text.at);
	count = unit_named(thousands, (struct span){ rest.at, slash });
	period = unit_named(periods, (struct span){ rest.at + slash + 1, rest.len - slash - 1 });
	if (!count || !period)
		return error_set(error, "%s: \"%.*s\" is not like 50/s, 600/m, 10k/h or 1M/d",
		                 option->name, (int)text.len, text.at);
	if (!option_set_number(option, settings, value * count->size / period->size, error))
		return false;
	rate->period_s = period->size;
	return true;
}

static bool set_bool(const struct option *option, void *settings, struct span text,
                     struct error *error)
{
	static const char *const yes[] = { "true", "on", "yes", "1" };
	static const char *const no[] = { "false", "off", "no", "0" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (name_is(yes[i], text) || name_is(no[i], text))
			return option_set_number(option, settings, name_is(yes[i], text), error);
	}
	return error_set(error, "%s: \"%.*s\" is neither true nor false", option->name,
	                 (int)text.len, text.at);
}

static bool set_choice(const struct option *option, void *settings, struct span text,
                       struct error *error)
{
	int place = choice_named(option->choices, text);

	if (place < 0)
		return error_set(error, "%s: \"%.*s\" is none of %s", option->name, (int)text.len,
		                 text.at, option->choices);
	return option_set_number(option, settings, place, error);
}

static bool set_words(const struct option *option, void *settings, struct span text,
                      struct error *error)
{
	char *field = (char *)settings + option->offset;
	double len = (double)text.len;

	if (len < option->min || len > option->max || text.len >= NAME_MAX_BYTES)
		return error_set(error, "%s: %g characters are not between %g and %g", option->name,
		                 len, option->min, option->max);
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] == '\0')
			return error_set(error, "%s: a NUL in the text", option->name);
	}
	if (text.len > 0)
		memcpy(field, text.at, text.len);
	field[text.len] = '\0';
	return true;
}

bool option_set_text(const struct option *option, void *settings, struct span text,
                     struct error *error)
{
	switch (option->type) {
	case OPTION_BOOL:
		return set_bool(option, settings, text, error);
	case OPTION_CHOICE:
		return set_choice(option, settings, text, error);
	case OPTION_TEXT:
		return set_words(option, settings, text, error);
	case OPTION_RATE:
		return set_rate(option, settings, text, error);
	case OPTION_COUNT:
		if (!option->choices || !name_is(option->choices, text))
			break;
		store(option, settings, 0);
		return true;
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_MSEC:
		break;
	}
	return set_measure(option, settings, text, error);
}

/* Does the name at the front of the list, up to its '|', read like this? */
static bool leads(const char *choices, struct span name)
{
	char choice[NAME_MAX_BYTES];
	size_t len = 0;

	while (choices[len] && choices[len] != '|' && len + 1 < sizeof(choice)) {
		choice[len] = choices[len];
		len++;
	}
	choice[len] = '\0';
	return name_is(choice, name);
}

int choice_named(const char *choices, struct span name)
{
	for (int place = 0; choices; place++) {
		if (leads(choices, name))
			return place;
		while (*choices && *choices != '|')
			choices++;
		choices = *choices ? choices + 1 : NULL;
	}
	return -1;
}

struct span choice_at(const char *choices, int place)
{
	struct span name = { choices, 0 };

	for (; place > 0; place--) {
		name.at = strchr(name.at, '|');
		BUG_ON(!name.at);
		name.at++;
	}
	name.len = strcspn(name.at, "|");
	return name;
}
