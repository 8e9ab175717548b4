/* report.h - what a play came to: a JSON line for each request, and a summary. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/sim/client.h"
#include "tests/sim/quantiles.h"
#include "tests/sim/reply.h"

enum { REPORT_ENGINES_MAX = 256, REPORT_STATUS_MAX = 600, REPORT_ERRORS_MAX = 16 };

struct report {
	FILE *lines; /* NULL: none */
	int64_t begun_us;
	uint64_t requests, answers, resent;
	uint64_t failures;            /* of requests meant to succeed */
	struct quantiles total, ttft; /* of complete answers with status 200 */
	uint64_t statuses[REPORT_STATUS_MAX];
	uint64_t errors[REPORT_ERRORS_MAX];
	struct {
		char name[CLIENT_SERVED_MAX];
		uint64_t count;
	} engines[REPORT_ENGINES_MAX];
	int engine_count;
	uint64_t later_turns, loyal_turns; /* loyal: served where the first turn was */
	uint64_t prompt_tokens, cached_tokens;
};

/* Which request it was. */
struct report_tag {
	uint64_t request;
	int64_t conversation, turn; /* -1: not of one */
	const char *plan;           /* "normal", or what was to go wrong */
	bool must_succeed;
};

/* reply may be NULL: the body was not read. */
void report_add(struct report *report, const struct report_tag *tag,
                const struct client_outcome *outcome, const struct reply *reply);

/* A turn after the first. */
void report_turn(struct report *report, bool loyal);

void report_summary(const struct report *report, FILE *out);
