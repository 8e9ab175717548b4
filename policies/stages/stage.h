/* stage.h - one step of the walk. */
#pragma once

#include <stdbool.h>

#include "policies/core/option.h"
#include "policies/core/route.h"

/* What it means when a stage leaves nobody standing. */
enum when_empty {
	EMPTY_UNDO,     /* the stage was a preference: carry on as if it had not run */
	EMPTY_FALLBACK, /* the stage was a rule: leave for the end (pipeline.c) */
	EMPTY_NOBODY,   /* name no replica: HAProxy chooses inside the instance */
	EMPTY_SPILL,    /* too much for the holders of the prefix: ask the others */
	EMPTY_REFUSE,   /* the request is refused: not a matter of candidates */
	EMPTY_NEXT,     /* the next entry of the chain; SPILL, if the pool was narrowed */
};

/* A stage either keeps candidates one by one, or looks at all of them at once and
 * drops by walk_drop(). Exactly one of keep and run is set. Same walk, same
 * answer; a stage remembers nothing. */
struct stage {
	const char *name;
	const char *help;
	bool (*keep)(const struct walk *walk, const struct candidate *candidate);
	void (*run)(struct walk *walk);
	/* False: nobody can fall, so nobody is looked at. NULL: always needed. */
	bool (*needed)(const struct walk *walk);
	enum when_empty when_empty[2]; /* [0] instances, [1] replicas */
	bool per_entry;                /* runs for each entry of the chain, not once a level */
};

/* Candidate i of those standing falls; another takes its place. */
void walk_drop(struct walk *walk, size_t i, const struct stage *stage);
/* All that this stage dropped stand again. */
void walk_undo(struct walk *walk, const struct stage *stage);
