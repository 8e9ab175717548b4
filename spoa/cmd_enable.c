/* cmd_enable.c - `inference-spoa enable`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_enable(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "enable",
		.usage = "TARGET",
		.help = "Sends requests to TARGET again, drained, ejected or not.\n",
		.targets = 1,
		.waits = false
	};

	return act_run(argc, argv, &command);
}
