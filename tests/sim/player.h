/* player.h - workers that play a scenario: each has a connection and one request at a time. */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "policies/core/rng.h"
#include "tests/sim/client.h"
#include "tests/sim/player_options.h"
#include "tests/sim/report.h"

struct player;

struct worker {
	struct player *player;
	uint32_t index;
	struct client client;
	struct report_tag tag;
	struct bytes head, body; /* of the request under way */
	struct bytes text;       /* of the answer */
	/* A conversation under way. */
	bool talking;
	struct bytes messages;
	struct rng rng;
	char first_served[CLIENT_SERVED_MAX];
};

struct scenario {
	const char *name;
	/* The worker's next request and its tag; spans point into the worker. False: none for it.
	 */
	bool (*next)(struct player *player, struct worker *worker,
	             struct client_request *ret_request);
	/* NULL when nothing is to be learnt from an outcome. reply: NULL when no body was kept. */
	void (*finished)(struct player *player, struct worker *worker,
	                 const struct client_outcome *outcome, const struct reply *reply);
};

/* Listed in player.c. */
extern const struct scenario scenario_conversations, scenario_requests, scenario_chaos,
        scenario_bench;

struct player {
	const struct player_options *options;
	const struct scenario *scenario;
	struct ev_loop *loop;
	struct ev_timer pace, deadline;
	struct ev_signal stop;
	struct worker *workers;
	struct report report;
	struct rng rng;
	uint64_t begun;   /* requests */
	uint64_t started; /* conversations */
	uint32_t running;
	bool late;   /* the deadline has passed */
	bool enough; /* SIGUSR1: no more begin */
};

/* Seconds since the play began. */
double player_elapsed(const struct player *player);
