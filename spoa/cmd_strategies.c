/* cmd_strategies.c - prints what strategies are made of. */
#include <stdio.h>
#include <string.h>

#include "policies/strategies.h"
#include "spoa/command.h"
#include "spoa/config/strategies_doc.h"

static void print_names(void)
{
	for (size_t i = 0; strategy_at(i); i++)
		(void)puts(strategy_at(i)->name);
}

int cmd_strategies(int argc, char **argv)
{
	bool names = argc == 2 && strcmp(argv[1], "--names") == 0;
	bool markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc > 1 && !names && !markdown) {
		(void)fprintf(help ? stdout : stderr,
		              "usage: inference-spoa strategies [--names|--markdown]\n"
		              "Prints the strategies, signals and pickers there are; --names: of "
		              "strategies the names alone.\n");
		return help ? EXIT_OK : EXIT_USAGE;
	}
	if (names)
		print_names();
	else
		strategies_doc_print(stdout, markdown);
	return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
}
