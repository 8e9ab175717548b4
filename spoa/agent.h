/* agent.h - the process: owns every part, wires them, starts and ends them.
 *
 * Data goes one way through it: HAProxy's questions and log lines come in, the
 * facts change, answers go out. The agent itself decides nothing. */
#pragma once

#include "policies/core/error.h"
#include "spoa/run_options.h"

struct agent;

/* NULL when something cannot be had; the journal (stderr) has said what. Then
 * *ret_left is the exit code: EXIT_USAGE, the policy is bad, and starting again will
 * not help; EXIT_FAILED, an address or memory is not to be had now. */
MUST_CHECK struct agent *agent_new(const struct run_options *options, int *ret_left);
/* Until SIGTERM or SIGINT. Returns an exit code. */
int agent_run(struct agent *agent);
void agent_free(struct agent *agent);
