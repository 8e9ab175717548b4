/* cmd_metrics.c - `inference-spoa metrics`: the reference page of all metrics. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/admin/docs.h"
#include "spoa/command.h"

int cmd_metrics(int argc, char **argv)
{
	size_t len = 0;
	char *text;
	bool written;

	if (argc > 1) {
		bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;

		(void)fprintf(help ? stdout : stderr,
		              "usage: inference-spoa metrics\n\n"
		              "Prints the names of all metrics, as docs/metrics.md has them.\n");
		return help ? EXIT_OK : EXIT_USAGE;
	}
	text = metrics_document(&len);
	written = text && fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0;
	free(text);
	return written ? EXIT_OK : EXIT_FAILED;
}
