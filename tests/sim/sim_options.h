/* sim_options.h - the command line of engine_sim. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/engine_model.h"

enum { SIM_ENGINES_MAX = 256, SIM_MODELS_MAX = 16 };

struct sim_options {
	struct engine_settings engine;
	double speed;           /* model seconds per second; 0: no cost model */
	uint32_t output_tokens; /* of an answer, when the request does not say less */
	double keep_alive_s;    /* an idle connection is closed without a word; 0: never */
	bool headers_late;      /* of a stream: with the first token, not at once */
	bool bare;              /* nothing kept for /sim/last */
	const char *ready_file; /* NULL for none */
	const char *models[SIM_MODELS_MAX];
	int model_count; /* 0: any name is served */
	struct {
		const char *host;
		int port; /* 0: the kernel picks one */
	} listen[SIM_ENGINES_MAX];
	int engine_count;
};

/* Fills in what the command line says. False after --help or a mistake, of which it has told;
 * ret_status is then the exit status. */
bool sim_options_read(int argc, char **argv, struct sim_options *ret_options, int *ret_status);
