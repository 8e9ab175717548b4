/* command_line.c - getopt_long() over a table. */
#include "tests/sim/command_line.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, GO_ON = -1, MISTAKE = 2 };

static void tell(const struct command_line *line)
{
	(void)fputs(line->about, stdout);
	for (int i = 0; i < line->count; i++) {
		const struct command_option *option = &line->options[i];

		(void)printf("  --%-15s %-10s %s\n", option->name,
		             option->argument ? option->argument : "", option->help);
	}
}

static bool takes_number(const struct command_option *option, char *field, const char *text)
{
	char *end;
	double number = strtod(text, &end);
	uint32_t count;

	if (end == text || *end || !(number >= option->min && number <= option->max))
		return false;
	if (option->kind == COMMAND_REAL) {
		memcpy(field, &number, sizeof(number));
		return true;
	}
	count = (uint32_t)number;
	memcpy(field, &count, sizeof(count));
	return floor(number) >= number;
}

static bool takes(const struct command_option *option, char *field, const char *text)
{
	struct command_list *list;

	switch (option->kind) {
	case COMMAND_FLAG:
		*(bool *)field = true;
		return true;
	case COMMAND_TEXT:
		memcpy(field, &text, sizeof(text));
		return true;
	case COMMAND_LIST:
		list = (struct command_list *)(void *)field;
		if (list->count == COMMAND_LIST_MAX)
			return false;
		list->texts[list->count++] = text;
		return true;
	case COMMAND_COUNT:
	case COMMAND_REAL:
		return takes_number(option, field, text);
	}
	return false;
}

int command_line_read(const struct command_line *line, int argc, char **argv, void *settings)
{
	struct option longs[OPTIONS_MAX + 2] = { 0 };
	int index = 0;
	int got;

	for (int i = 0; i < line->count && i < OPTIONS_MAX; i++) {
		longs[i].name = line->options[i].name;
		longs[i].has_arg = line->options[i].argument ? required_argument : no_argument;
	}
	longs[line->count] = (struct option){ "help", no_argument, NULL, 0 };
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread. */
	while ((got = getopt_long(argc, argv, "", longs, &index)) == 0) {
		const struct command_option *option = &line->options[index];

		if (index == line->count) {
			tell(line);
			return 0;
		}
		if (!takes(option, (char *)settings + option->offset, optarg)) {
			(void)fprintf(stderr, "%s: --%s: \"%s\" is not %s between %g and %g\n",
			              line->program, option->name, optarg, option->argument,
			              option->min, option->max);
			return MISTAKE;
		}
	}
	if (got == -1 && optind == argc)
		return GO_ON;
	if (got == -1)
		(void)fprintf(stderr, "%s: unexpected \"%s\", see --help\n", line->program,
		              argv[optind]);
	return MISTAKE;
}
