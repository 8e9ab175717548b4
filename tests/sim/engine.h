/* engine.h - one simulated engine: a port, a model of its costs, its faults and its counts. */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "spoa/replay/engine_model.h"
#include "tests/sim/buckets.h"
#include "tests/sim/fault.h"
#include "tests/sim/http.h"
#include "tests/sim/loras.h"
#include "tests/sim/sim_options.h"

struct connection;

enum { FAULT_RULES_MAX = 8, FAULT_PATH_MAX = 64 };

struct fault_rule {
	struct fault fault;        /* FAULT_NONE: the rule is free */
	int64_t count;             /* how many requests are still hit; -1: all */
	char path[FAULT_PATH_MAX]; /* prefix of the paths hit; empty: what asks for tokens */
};

struct engine_counts {
	uint64_t requests; /* that asked for tokens, whatever came of them */
	uint64_t served;   /* answered to the end */
	uint64_t aborted;  /* their client left before */
	uint64_t failed;   /* by a fault on demand */
	uint64_t refused;  /* no place, no such model, not understood */
	uint64_t connections;
	uint64_t prefill_asked, prefill_failed; /* of its side-car */
	uint64_t by_rank[SIM_RANKS_MAX];
	uint64_t prompt_tokens, cached_tokens,
	        generated_tokens; /* without a cost model; else the model's */
};

struct engine {
	const struct sim_options *options;
	struct ev_loop *loop;
	int port;
	struct ev_io listener;
	struct ev_timer step;
	struct engine_model *models[SIM_RANKS_MAX]; /* of each rank; [0] NULL: no cost model */
	int64_t started_us;                         /* monotonic */
	struct fault_rule rules[FAULT_RULES_MAX];
	struct engine_counts counts;
	struct loras loras;
	struct buckets ttft, itl, e2e;
	struct connection *dirty; /* to be flushed when this callback is over */
	uint32_t hanging;         /* requests that will never be answered */
	struct bytes last;        /* JSON of the last request that asked for tokens */
	struct bytes scratch;     /* for whoever builds a body */
};

/* NULL, with errno, when it cannot listen there. The options outlive it. */
struct engine *engine_new(const struct sim_options *options, int index, struct ev_loop *loop);
void engine_free(struct engine *engine);

/* Brings the model up to now and sets the timer for its next step. Events go to the calls. */
void engine_catch_up(struct engine *engine);

/* A job for a rank's model; now is what engine_catch_up() just reached. */
enum engine_answer engine_submit(struct engine *engine, uint32_t rank, const struct engine_job *job,
                                 uint32_t *ret_ticket);

/* The rank with the least to do; what an engine does with who names none. */
uint32_t engine_idlest(const struct engine *engine);

/* The fault that the engine's rules hold for this path; counts it down. */
struct fault engine_fault(struct engine *engine, struct span path, bool asks_for_tokens);

/* What it carries now; of an engine without a cost model only the totals are known. */
struct engine_load engine_load_now(const struct engine *engine);
struct engine_load engine_load_of(const struct engine *engine, uint32_t rank);

void engine_clear_counts(struct engine *engine);
