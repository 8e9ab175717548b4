/* report.h - results of several ways of choosing, side by side. */
#pragma once

#include <stdio.h>

#include "spoa/replay/play.h"
#include "spoa/replay/play_agent.h"

enum report_form { REPORT_TEXT, REPORT_MARKDOWN, REPORT_CSV, REPORT_JSON };

struct report_row {
	const char *name;
	struct play_result result;
	struct play_agent_counts counts;
	size_t requests; /* of the trace */
};

void report_head(FILE *out, enum report_form form);
void report_row(FILE *out, enum report_form form, const struct report_row *row);
