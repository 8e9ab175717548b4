/* objective.c - refuse where nobody could serve the request anywhere near in time.
 *
 * Only if the policy says how late is too late (slo-reject-below), and only if that is
 * certain: everybody standing is beyond it, by predictions that their own answers taught.
 * Else all stay, and the one who is least late serves. */
#include "policies/stages/objective.h"

#include "policies/core/policy.h"
#include "policies/signals/headroom.h"
#include "policies/stages/stages.h"

static const double rounding = 1e-9;

static bool is_too_late(const struct walk *walk, const struct candidate *candidate,
                        struct headroom *headroom)
{
	return headroom_read(walk, candidate, headroom) && headroom->trusted &&
	       headroom->value < walk->entry->slo_reject_below - rounding;
}

static void run(struct walk *walk)
{
	struct headroom headroom;

	for (size_t i = 0; i < walk->standing; i++)
		if (!is_too_late(walk, &walk->pool[i], &headroom))
			return;
	while (walk->standing > 0)
		walk_drop(walk, walk->standing - 1, &stage_objective);
}

/* An instance's own numbers are those of its replicas together: they refuse. */
static bool needed(const struct walk *walk)
{
	const struct objectives *objectives = &walk->prompt->objectives;

	return walk->entry->slo_reject_below > SLO_REJECT_NEVER && walk->level == 2 &&
	       (objectives->ttft_ms > 0 || objectives->tpot_ms > 0 || objectives->e2e_ms > 0);
}

double objective_wait_s(const struct walk *walk, const struct candidate *candidate)
{
	struct headroom headroom;

	return is_too_late(walk, candidate, &headroom) ? headroom.late_ms / 1000 : 0;
}

const struct stage stage_objective = {
	.name = "objective",
	.help = "Drops all candidates when certainly none could serve anywhere near in time.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_NEXT, EMPTY_NEXT },
	.per_entry = true,
};
