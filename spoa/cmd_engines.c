/* cmd_engines.c - prints which kinds of engines are known, or the profile of one, to be
 * changed and given back with --engine-profiles. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"
#include "spoa/engines/engine_files.h"

static int print_names(void)
{
	for (const struct engine_file *file = engine_files; file->name; file++)
		(void)printf("%.*s\n", (int)(strlen(file->name) - strlen(".json")), file->name);
	return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
}

static int print_profile(const char *name)
{
	for (const struct engine_file *file = engine_files; file->name; file++) {
		if (strlen(file->name) != strlen(name) + strlen(".json") ||
		    strncmp(file->name, name, strlen(name)) != 0)
			continue;
		(void)fwrite(file->text, 1, file->bytes, stdout);
		return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
	}
	(void)fprintf(stderr, "inference-spoa engines: no profile of \"%s\"\n", name);
	return EXIT_USAGE;
}

int cmd_engines(int argc, char **argv)
{
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc > 2 || help || (argc == 2 && argv[1][0] == '-')) {
		(void)fprintf(
		        help ? stdout : stderr,
		        "usage: inference-spoa engines [NAME]\n"
		        "Prints the kinds of engines that are known, or the profile of one.\n");
		return help ? EXIT_OK : EXIT_USAGE;
	}
	return argc == 2 ? print_profile(argv[1]) : print_names();
}
