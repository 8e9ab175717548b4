/* agent_check.h - answers HAProxy's agent-check: one connection, one line, one answer.
 *
 *     server a0 10.0.0.1:8000 weight 100 agent-check agent-addr 127.0.0.1 agent-port 9902
 *         agent-inter 2s agent-send "svc-a/a0\n"
 *
 * While the agent decides, this changes little; when it does not, HAProxy's own balancing
 * goes by the last weights it was told. Answers come from memory within the same turn.
 * Bounded: so many connections, so many bytes, one second. */
#pragma once

#include "spoa/observe/observe.h"
#include "spoa/observe/server_weight.h"

struct agent_check;

struct agent_check_counts {
	uint64_t answered, drained, unknown; /* as enum server_answer */
	uint64_t dropped;                    /* no line in time, or too long a one */
	uint64_t refused;                    /* too many at once */
};

enum { AGENT_CHECK_LINE_MAX = 320, AGENT_CHECK_CLIENTS_MAX = 128 };

/* NULL when out of memory. */
MUST_CHECK struct agent_check *agent_check_new(const struct observe *observe);
void agent_check_free(struct agent_check *check);

/* "IP:PORT"; IPv6 in brackets. Several times, up to 8. */
MUST_CHECK bool agent_check_listen(struct agent_check *check, const char *address,
                                   struct error *error);
/* Of the first address (useful with port 0); 0: none. */
uint16_t agent_check_port(const struct agent_check *check);

struct agent_check_counts agent_check_counts(const struct agent_check *check);
const struct server_weights *agent_check_weights(const struct agent_check *check);
