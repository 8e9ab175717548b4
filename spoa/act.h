/* act.h - the commands that change a running agent; all work alike. */
#pragma once

struct act_command {
	const char *name, *usage, *help;
	int targets; /* how many arguments it takes beside its options: 0, 1, or 2: WHAT TARGET */
	bool waits;  /* has --wait */
};

int act_run(int argc, char **argv, const struct act_command *command);
