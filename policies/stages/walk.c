/* walk.c - how candidates fall, and stand up again. */
#include "policies/stages/stage.h"

static void swap(struct candidate *a, struct candidate *b)
{
	struct candidate kept = *a;

	*a = *b;
	*b = kept;
}

void walk_drop(struct walk *walk, size_t i, const struct stage *stage)
{
	struct candidate *last = &walk->pool[--walk->standing];

	walk->pool[i].dropped_by = stage;
	if (last != &walk->pool[i])
		swap(&walk->pool[i], last);
}

void walk_undo(struct walk *walk, const struct stage *stage)
{
	for (size_t i = walk->standing; i < walk->count; i++) {
		if (walk->pool[i].dropped_by != stage)
			continue;
		walk->pool[i].dropped_by = NULL;
		if (i != walk->standing)
			swap(&walk->pool[i], &walk->pool[walk->standing]);
		walk->standing++;
	}
}
