/* outcome.c - HAProxy's termination state in our words.
 *
 * Its first letter says who ended the stream, its second in which phase. A "CD"
 * may be a server timeout in mid-stream (seen on 3.0.11 and 3.2.0); nothing in
 * the line tells it from a client that left, so it counts against nobody. */
#include "policies/outcome.h"

enum { WHO, WHEN }; /* letters of a termination state */

bool outcome_is_success(int status)
{
	return status >= 200 && status < 300;
}

bool outcome_is_answer(int status)
{
	return status >= 200 && status < 400;
}

bool outcome_is_complete(const struct stream_end *end)
{
	return end->termination[WHO] == '-' && outcome_is_answer(end->status);
}

bool outcome_is_connect_error(const struct stream_end *end)
{
	char who = end->termination[WHO];

	return (who == 'S' || who == 's') && end->termination[WHEN] == 'C';
}

bool outcome_is_abort(const struct stream_end *end)
{
	return end->termination[WHO] == 'C';
}

bool outcome_is_early_abort(const struct stream_end *end)
{
	char when = end->termination[WHEN];

	return outcome_is_abort(end) && ((when != 'D' && when != 'L') || end->bytes_out == 0);
}

bool outcome_is_heard(const struct stream_end *end)
{
	return end->termination[WHO] == '-' && end->status >= 100;
}

static bool nobody_served(const struct stream_end *end)
{
	return end->by.server.len == 0 && end->by.address.len == 0;
}

/* The server's own word, when nothing else went wrong. 4xx say nothing of it. */
enum outcome_class outcome_class_of_status(int status)
{
	if (status == 429 || status == 503)
		return CLASS_BUSY;
	if (status == 401 || status == 403)
		return CLASS_DENIED;
	if (status >= 500 && status != 501 && status != 505)
		return CLASS_FAILURE;
	return CLASS_OK;
}

enum outcome_class stream_class(const struct stream_end *end)
{
	switch (end->termination[WHO]) {
	case 'C':
	case 'c':
		return CLASS_CLIENT;
	case 's':
		if (end->termination[WHEN] == 'Q')
			return CLASS_BUSY;
		return nobody_served(end) ? CLASS_LOCAL : CLASS_FAILURE;
	case 'S':
	case 'D':
		return nobody_served(end) ? CLASS_LOCAL : CLASS_FAILURE;
	case 'P': /* an answer that HAProxy could not read is the server's */
		return end->termination[WHEN] == 'H' && !nobody_served(end) ? CLASS_FAILURE
		                                                            : CLASS_LOCAL;
	case '-':
		return nobody_served(end) ? CLASS_LOCAL : outcome_class_of_status(end->status);
	default:
		return CLASS_LOCAL;
	}
}

enum termination stream_termination(const struct stream_end *end)
{
	switch (end->termination[WHO]) {
	case '-':
		return TERM_COMPLETE;
	case 'C':
	case 'c':
		return TERM_CLIENT;
	case 's':
		return end->termination[WHEN] == 'Q' ? TERM_QUEUE : TERM_TIMEOUT;
	case 'S':
	case 'D':
		return TERM_SERVER;
	default:
		return TERM_LOCAL;
	}
}

static bool is_listed(int status, const struct eject_on *on)
{
	unsigned place = (unsigned)status - 400;

	return place < 64 * sizeof(on->statuses) / sizeof(on->statuses[0]) &&
	       (on->statuses[place / 64] >> place % 64 & 1);
}

/* Of what is no failure by its status. */
static enum judged judge_class(enum outcome_class class, const struct eject_on *on)
{
	if ((class == CLASS_BUSY && !on->busy) || (class == CLASS_DENIED && !on->denied) ||
	    class == CLASS_FAILURE)
		return JUDGED_SPARED;
	return JUDGED_BY_CLASS;
}

enum judged outcome_judge_status(int status, const struct eject_on *on)
{
	if (!on->given)
		return JUDGED_BY_CLASS;
	return is_listed(status, on) ? JUDGED_FAILURE
	                             : judge_class(outcome_class_of_status(status), on);
}

/* How it broke, if it did. */
static bool is_break_listed(const struct stream_end *end, const struct eject_on *on)
{
	if (outcome_is_connect_error(end))
		return on->connect;
	switch (end->termination[WHO]) {
	case 's':
		return on->timeout;
	case 'S':
	case 'D':
	case 'P':
		return on->lost;
	default:
		return false;
	}
}

enum judged outcome_judge(const struct stream_end *end, const struct eject_on *on)
{
	enum outcome_class class = stream_class(end);

	if (!on->given || class == CLASS_CLIENT || class == CLASS_LOCAL)
		return JUDGED_BY_CLASS;
	if (end->termination[WHO] == 's' && end->termination[WHEN] == 'Q')
		return judge_class(class, on); /* its status is HAProxy's own */
	if (is_listed(end->status, on) || (class == CLASS_FAILURE && is_break_listed(end, on)))
		return JUDGED_FAILURE;
	return judge_class(class, on);
}

enum judged outcome_judge_retry(const struct eject_on *on)
{
	return !on->given || on->connect || on->lost ? JUDGED_BY_CLASS : JUDGED_SPARED;
}
