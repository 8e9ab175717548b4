/* cmd_drain.c - `inference-spoa drain`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_drain(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "drain",
		.usage = "TARGET [--wait TIME]",
		.help = "Sends no new requests to TARGET; those that run there, end. HAProxy does "
		        "not know of it: what\nit sends by itself, while no agent answers, may "
		        "still go there.\n",
		.targets = 1,
		.waits = true
	};

	return act_run(argc, argv, &command);
}
