/* command_line.h - the options of a test tool: a table, from which they are read and told. */
#pragma once

#include <stddef.h>

enum { COMMAND_LIST_MAX = 256 };

/* What a repeatable option collects. */
struct command_list {
	int count;
	const char *texts[COMMAND_LIST_MAX];
};

enum command_kind {
	COMMAND_COUNT, /* uint32_t, min to max */
	COMMAND_REAL,  /* double, min to max */
	COMMAND_FLAG,  /* bool */
	COMMAND_TEXT,  /* const char * */
	COMMAND_LIST,  /* struct command_list */
};

struct command_option {
	const char *name, *argument, *help; /* argument: NULL for flags */
	enum command_kind kind;
	size_t offset; /* of the field in the settings */
	double min, max;
};

struct command_line {
	const char *program, *about;
	const struct command_option *options;
	int count;
};

/* Fills in the settings; texts are those of argv. -1: go on; else the exit status, after --help or
 * a mistake, of which it has told. */
int command_line_read(const struct command_line *line, int argc, char **argv, void *settings);
