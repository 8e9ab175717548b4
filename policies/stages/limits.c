/* limits.c - the caller, and the model, are within what they may use.
 *
 * Not about candidates: none is better than another. It is asked once a request, when it
 * is known that somebody could serve it, and before any of them is measured. */
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static bool needed(const struct walk *walk)
{
	return walk->check && !walk->check->asked;
}

static void run(struct walk *walk)
{
	limits_ask(walk->facts->limits, walk->check, walk->now);
	while (walk->check->refused != LIMIT_NONE && walk->standing > 0)
		walk_drop(walk, walk->standing - 1, &stage_limits);
}

const struct stage stage_limits = {
	.name = "limits",
	.help = "The caller and the model are within their limits; asked once a request.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_REFUSE, EMPTY_REFUSE },
};
