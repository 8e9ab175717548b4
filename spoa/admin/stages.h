/* stages.h - how the pages name the stages of the walk.
 *
 * Handed in by the agent: the admin room sees decisions, not the table of stages. */
#pragma once

#include <stddef.h>

struct stage;

struct stage_names {
	const struct stage *(*at)(size_t i); /* pipeline_stage; NULL after the last */
	const char *(*name)(const struct stage *stage);
};
