/* cmd_drain.c - `inference-spoa drain`. */
#include <stdbool.h>

#include "spoa/act.h"
#include "spoa/command.h"

int cmd_drain(int argc, char **argv)
{
	static const struct act_command command = {
		.name = "drain",
		.usage = "TARGET [--wait TIME]",
		.help = "Sends no new requests to TARGET; those that run there, end. HAProxy "
		        "knows of it where the\nserver has agent-check; else what HAProxy sends "
		        "by itself, while no agent answers, may\nstill go there.\n",
		.targets = 1,
		.waits = true
	};

	return act_run(argc, argv, &command);
}
