/* session.c - whether the target has the session of the request.
 *
 * Of a session that was too busy to be kept nothing is known: the strategy shall
 * look for another, not come back to the same by another way. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	const struct session_look *session = &walk->session;

	if (session->target == TARGET_NONE || session->spilled)
		return false;
	*ret_value = candidate->target->id == session->target;
	return true;
}

const struct signal signal_session = {
	.name = "session",
	.help = "Whether the target has the request's session: 1, or 0.",
	.scale = SCALE_NATURAL,
	.more_is_better = true,
	.reads_session = true,
	.read = read,
};
