/* cmd_reload.c - `inference-spoa reload`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_reload(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "reload",
		.usage = "",
		.help = "Reads the policy and the profiles of engines again, as SIGHUP does, and "
		        "says whether they are in force.\n",
		.targets = 0,
		.waits = false
	};

	return act_run(argc, argv, &command);
}
