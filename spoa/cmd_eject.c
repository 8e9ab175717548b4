/* cmd_eject.c - `inference-spoa eject`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_eject(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "eject",
		.usage = "TARGET",
		.help = "Takes TARGET out of service as after failures; probes and trials bring it "
		        "back.\n",
		.targets = 1,
		.waits = false
	};

	return act_run(argc, argv, &command);
}
