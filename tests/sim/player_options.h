/* player_options.h - the command line of the player. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/command_line.h"

struct player_options {
	const char *to; /* HOST:PORT, as said */
	struct sockaddr_in address;
	const char *path, *model, *output;
	struct command_list headers; /* "Name: value" */
	struct command_list without; /* plans of chaos that are played as normal ones */
	uint32_t count, parallel, max_tokens, seed;
	double rate; /* requests begun per second; 0: as fast as answers come */
	double timeout_s, deadline_s, seconds;
	bool stream, expect_all_200, send_once;
	uint32_t turns, prompt_bytes, shared_prefix; /* conversations */
	uint32_t body_bytes, same_prefix, groups;    /* requests, bench */
};

/* argv begins with the mode. -1: go on; else the exit status. */
int player_options_read(int argc, char **argv, struct player_options *ret_options);
