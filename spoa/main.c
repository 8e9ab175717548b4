/* main.c - finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"

struct command {
	const char *name;
	const char *arguments;
	const char *help;
	int (*run)(int argc, char **argv);
};

#define AS_ROW(name, arguments, help) { #name, arguments, help, cmd_##name },
static const struct command commands[] = { COMMANDS(AS_ROW) };
#undef AS_ROW

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
	(void)fprintf(out, "inference-spoa " INFERENCE_SPOA_VERSION
	                   " - LLM inference routing for HAProxy\n\n"
	                   "usage: inference-spoa COMMAND [...]\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		(void)fprintf(out, "  %-10s %s\n             inference-spoa %s %s\n",
		              commands[i].name, commands[i].help, commands[i].name,
		              commands[i].arguments);
	(void)fprintf(out,
	              "\nEach command explains its own options: inference-spoa COMMAND --help\n"
	              "exit codes: 0 ok, 1 failed, 2 usage or bad configuration, 3 agent "
	              "unreachable, 4 timed out\n");
}

static const struct command *command_named(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct command *command;

	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (strcmp(name, "--version") == 0)
		name = "version";
	command = command_named(name);
	if (!command) {
		if (*name)
			(void)fprintf(stderr, "inference-spoa: no such command: %s\n\n", name);
		print_help(stderr);
		return EXIT_USAGE;
	}
	return command->run(argc - 1, argv + 1);
}
