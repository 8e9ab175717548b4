/* sim_options.h - the command line of engine_sim. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spoa/replay/engine_model.h"
#include "tests/sim/command_line.h"

enum { SIM_ENGINES_MAX = 256, SIM_HOST_MAX = 64, SIM_RANKS_MAX = 16 };

struct sim_options {
	struct engine_settings engine;
	double speed;           /* model seconds per second; 0: no cost model */
	uint32_t output_tokens; /* of an answer, when the request does not say less */
	double keep_alive_s;    /* an idle connection is closed without a word; 0: never */
	bool stamp;             /* a token's chunk has the time at which it was written */
	bool headers_late;      /* of a stream: with the first token, not at once */
	bool bare;              /* nothing kept for /sim/last */
	const char *ready_file; /* NULL for none */
	const char *page;       /* whose names the metric page has: vllm, sglang; none: no page */
	uint32_t ranks;         /* data-parallel ranks of each engine, at least 1 */
	bool sidecar;           /* x-prefiller-host-port is followed */
	bool sidecar_strict;    /* and when that engine fails, the request does */
	double sidecar_timeout_s;
	struct command_list models, listens;
	struct command_list adapters; /* of LoRA, of the first model */
	uint32_t lora_slots;
	double lora_load_ms;
	uint32_t port_base, range; /* 0: none of these */
	/* What listens and the range come to. */
	struct {
		char host[SIM_HOST_MAX];
		int port; /* 0: the kernel picks one */
	} listen[SIM_ENGINES_MAX];
	int engine_count;
};

/* -1: go on; else the exit status, after --help or a mistake, of which it has told. */
int sim_options_read(int argc, char **argv, struct sim_options *ret_options);
