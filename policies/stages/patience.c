/* patience.c - before any line is worked out, the slowest there can be is: of most
 * requests it says already that all would be in time. */
#include "policies/stages/patience.h"

#include "policies/state/facts.h"

/* The bounds of a line, as ttft_fit.h has them. */
static const double slowest_s = 1.0 / 50; /* a token */
static const double base_s = 10;

static double tokens_of(const struct candidate *candidate)
{
	return candidate->prefill_tokens + candidate->uncached_tokens;
}

bool patience_matters(const struct walk *walk)
{
	double patience_s = walk->request->patience_ms / 1e3;
	double most = 0;

	if (patience_s <= 0 || walk->level != 2)
		return false;
	for (size_t i = 0; i < walk->standing; i++)
		most = tokens_of(&walk->pool[i]) > most ? tokens_of(&walk->pool[i]) : most;
	return base_s + slowest_s * most > patience_s;
}

double patience_excess_ms(const struct walk *walk, const struct candidate *candidate)
{
	double patience_ms = walk->request->patience_ms;
	struct ttft_line line;
	double excess_ms;

	if (patience_ms <= 0 || walk->level != 2 || candidate->prefill_tokens <= 0)
		return 0;
	line = ttft_fit_line(walk->facts->ttft_fits, candidate->instance, candidate->target->id);
	excess_ms = ttft_line_ms(line, tokens_of(candidate)) - patience_ms;
	return line.trusted && excess_ms > 0 ? excess_ms : 0;
}
