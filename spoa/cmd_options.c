/* cmd_options.c - prints every knob of the policy. */
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"
#include "spoa/config/options_doc.h"

int cmd_options(int argc, char **argv)
{
	bool markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc > 1 && !markdown) {
		(void)fprintf(help ? stdout : stderr, "usage: inference-spoa options [--markdown]\n"
		                                      "Prints every knob of the policy.\n");
		return help ? EXIT_OK : EXIT_USAGE;
	}
	options_doc_print(stdout, markdown);
	return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
}
