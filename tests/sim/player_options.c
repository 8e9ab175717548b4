/* player_options.c - one table; what belongs to one mode only says so. */
#include "tests/sim/player_options.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct player_options, field)

static const struct command_option options[] = {
	{ "to", "HOST:PORT", "whom to ask", COMMAND_TEXT, AT(to), 0, 0 },
	{ "path", "PATH", "/v1/chat/completions", COMMAND_TEXT, AT(path), 0, 0 },
	{ "model", "NAME", "sim", COMMAND_TEXT, AT(model), 0, 0 },
	{ "header", "NAME:VALUE", "sent along, repeatable", COMMAND_LIST, AT(headers), 0, 0 },
	{ "without", "PLAN", "of chaos, played as normal: reset, 500, ...; repeatable",
	  COMMAND_LIST, AT(without), 0, 0 },
	{ "stream", NULL, "ask for streams", COMMAND_FLAG, AT(stream), 0, 0 },
	{ "max-tokens", "N", "of each answer; without it the engine's own", COMMAND_COUNT,
	  AT(max_tokens), 1, 1e6 },
	{ "count", "N", "conversations or requests, 100; not of bench", COMMAND_COUNT, AT(count), 1,
	  1e9 },
	{ "parallel", "N", "at once, 1", COMMAND_COUNT, AT(parallel), 1, 4096 },
	{ "rate", "R", "requests begun per second; 0: as answers come", COMMAND_REAL, AT(rate), 0,
	  1e6 },
	{ "turns", "N", "of a conversation, 3", COMMAND_COUNT, AT(turns), 1, 1000 },
	{ "prompt-bytes", "N", "of each user message of a conversation, 4096", COMMAND_COUNT,
	  AT(prompt_bytes), 1, 1e7 },
	{ "shared-prefix", "N", "bytes of a system message equal in all conversations",
	  COMMAND_COUNT, AT(shared_prefix), 0, 1e7 },
	{ "body-bytes", "N", "of a request's prompt (requests, chaos, bench), 1024", COMMAND_COUNT,
	  AT(body_bytes), 32, 6e7 },
	{ "same-prefix", "N", "of these, so many are equal in a group", COMMAND_COUNT,
	  AT(same_prefix), 0, 6e7 },
	{ "groups", "N", "of prefixes, 1; bench has one a connection at most", COMMAND_COUNT,
	  AT(groups), 1, 1e6 },
	{ "seconds", "S", "that bench lasts, 5", COMMAND_REAL, AT(seconds), 0.01, 3600 },
	{ "timeout", "S", "of a request, 30", COMMAND_REAL, AT(timeout_s), 0.001, 3600 },
	{ "deadline", "S", "then all ends, with status 1; 60", COMMAND_REAL, AT(deadline_s), 0.01,
	  36000 },
	{ "seed", "N", "of texts and plans, 1", COMMAND_COUNT, AT(seed), 0, 4e9 },
	{ "output", "PATH", "for the JSON lines; without it standard output", COMMAND_TEXT,
	  AT(output), 0, 0 },
	{ "send-once", NULL, "never send again what met a closed keep-alive connection",
	  COMMAND_FLAG, AT(send_once), 0, 0 },
	{ "expect-all-200", NULL, "status 1 if a request without a planned fault fails",
	  COMMAND_FLAG, AT(expect_all_200), 0, 0 },
};

static const struct command_line line = {
	.program = "player",
	.about = "player MODE --to HOST:PORT - a test tool: plays clients of an LLM endpoint\n\n"
	         "  conversations  each turn sends all before it, the answer, and a new message\n"
	         "  requests       prompts that share what --same-prefix says\n"
	         "  chaos          a seeded mix of normal requests, clients that leave, faults "
	         "asked\n"
	         "                 of engine_sim by x-sim-fault, and timeouts\n"
	         "  bench          keep-alive connections in a closed loop; no JSON lines\n"
	         "One JSON line for each request; a summary to standard error. Exit status: 1 as "
	         "the\n"
	         "options say, 2 when not one answer came. After SIGUSR1 no more begin.\n\n",
	.options = options,
	.count = sizeof(options) / sizeof(*options),
};

static bool reads_address(const char *text, struct sockaddr_in *ret_address)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	char host[64];
	char *end;
	long port;

	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	port = strtol(colon + 1, &end, 10);
	*ret_address =
	        (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	return end > colon + 1 && *end == '\0' && port > 0 && port < 65536 &&
	       inet_pton(AF_INET, host, &ret_address->sin_addr) == 1;
}

int player_options_read(int argc, char **argv, struct player_options *ret_options)
{
	int status;

	*ret_options = (struct player_options){
		.path = "/v1/chat/completions",
		.model = "sim",
		.count = 100,
		.parallel = 1,
		.timeout_s = 30,
		.deadline_s = 60,
		.seconds = 5,
		.seed = 1,
		.turns = 3,
		.prompt_bytes = 4096,
		.body_bytes = 1024,
		.groups = 1,
	};
	status = command_line_read(&line, argc, argv, ret_options);
	if (status >= 0)
		return status;
	if (!reads_address(ret_options->to, &ret_options->address)) {
		(void)fprintf(stderr, "player: expected --to HOST:PORT, see --help\n");
		return 2;
	}
	return -1;
}
