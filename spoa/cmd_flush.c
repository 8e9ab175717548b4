/* cmd_flush.c - `inference-spoa flush`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_flush(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "flush",
		.usage = "prefix|sessions|averages TARGET",
		.help = "Forgets what is believed of TARGET: the prefixes it holds, the sessions "
		        "that are pinned to\nit, or how long it takes.\n",
		.targets = 2,
		.waits = false
	};

	return act_run(argc, argv, &command);
}
