/* cmd_schema.c - prints the JSON schema of the policy. */
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"
#include "spoa/config/schema.h"

int cmd_schema(int argc, char **argv)
{
	if (argc > 1) {
		bool help = strcmp(argv[1], "--help") == 0;

		(void)fprintf(help ? stdout : stderr, "usage: inference-spoa schema\n"
		                                      "Prints the JSON schema of the policy.\n");
		return help ? EXIT_OK : EXIT_USAGE;
	}
	return schema_print(stdout) ? EXIT_OK : EXIT_FAILED;
}
