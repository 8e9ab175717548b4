/* agent.h - the process: owns every part, wires them, starts and ends them.
 *
 * Data goes one way through it: HAProxy's questions and log lines come in, the
 * facts change, answers go out. The agent itself decides nothing. */
#pragma once

#include "policies/core/error.h"
#include "spoa/run_options.h"

struct agent;

/* NULL when something cannot be had; the journal (stderr) has said what. */
MUST_CHECK struct agent *agent_new(const struct run_options *options);
/* Until SIGTERM or SIGINT. Returns an exit code. */
int agent_run(struct agent *agent);
void agent_free(struct agent *agent);
