/* limits_others.c - one limit over many agents: what each used is told, and added by the others.
 *
 * Every agent decides by its own arrival times. What others used moves these on as if it had
 * been asked for here, a little late: so beyond a limit passes what it allows in the time that
 * telling takes, once for each other agent, and never more than that. Requests at a time are
 * told as a number, and forgotten when they are not repeated. */
#include "policies/state/limits_parts.h"

static const usec_t listening = 10 * SECOND; /* since the last limits_tell() */
static const usec_t repeat = SECOND;
static const usec_t silence = 3 * SECOND;
static const double requests_most = 1e6, tokens_most = 1e9; /* of one report */

enum { INFLIGHT_MOST = 1 << 20, PROBES = 16, AGENTS = 64 };

void limits_changed(struct limit_table *limits, struct record *record, usec_t now)
{
	uint32_t at = (uint32_t)(record - limits->records);

	if (record->is_untold || limits->heard_at == 0 || now - limits->heard_at > listening)
		return;
	record->is_untold = true;
	record->untold_since = now;
	record->next_untold = NOBODY;
	if (limits->last_untold == NOBODY)
		limits->first_untold = at;
	else
		limits->records[limits->last_untold].next_untold = at;
	limits->last_untold = at;
}

static struct record *take_untold(struct limit_table *limits)
{
	struct record *record = &limits->records[limits->first_untold];

	limits->first_untold = record->next_untold;
	if (limits->first_untold == NOBODY)
		limits->last_untold = NOBODY;
	record->is_untold = false;
	return record;
}

static bool is_news(const struct record *record, usec_t now)
{
	bool repeats = record->inflight > 0 && record->max_inflight > 0;

	return record->untold[LIMIT_REQUESTS] != 0 || record->untold[LIMIT_TOKENS] != 0 ||
	       (record->max_inflight > 0 && record->inflight != record->told_inflight) ||
	       (repeats && now - record->told_at >= repeat);
}

static struct limit_use use_of(const struct record *record, usec_t now)
{
	return (struct limit_use){ .of = record->of,
		                   .key = record->key,
		                   .tenant = record->tenant,
		                   .model = record->model,
		                   .used = { record->untold[LIMIT_REQUESTS],
		                             record->untold[LIMIT_TOKENS] },
		                   .over = now - record->untold_since,
		                   .inflight = record->inflight };
}

static void told(struct record *record, usec_t now)
{
	record->untold[LIMIT_REQUESTS] = record->untold[LIMIT_TOKENS] = 0;
	record->told_inflight = record->inflight;
	record->told_at = now;
}

/* What was used while nobody listened is of no interest any more. */
static void begin(struct limit_table *limits, usec_t now)
{
	bool anew = limits->heard_at == 0 || now - limits->heard_at > listening;

	limits->heard_at = now;
	for (uint32_t i = 0; anew && i < limits->count; i++) {
		limits->records[i].untold[LIMIT_REQUESTS] = 0;
		limits->records[i].untold[LIMIT_TOKENS] = 0;
		if (limits->records[i].inflight > 0)
			limits_changed(limits, &limits->records[i], now);
	}
}

void limits_tell(struct limit_table *limits, usec_t now,
                 bool (*tell)(void *data, const struct limit_use *use), void *data)
{
	uint32_t last;

	begin(limits, now);
	last = limits->last_untold;
	for (bool more = last != NOBODY; more;) {
		struct record *record = take_untold(limits);
		struct limit_use use = use_of(record, now);

		more = record != &limits->records[last];
		if (is_news(record, now)) {
			if (!tell(data, &use)) {
				more = false;
				limits_changed(limits, record, now);
				record->untold_since = now - use.over;
				continue;
			}
			told(record, now);
		}
		if (record->inflight > 0 && record->max_inflight > 0)
			limits_changed(limits, record, now);
	}
}

static double clamped(double number, double most)
{
	if (!(number > -most)) /* or no number at all */
		return number <= -most ? -most : 0;
	return number < most ? number : most;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* As if asked for here, from when it began to be used; but never so much that who waits cannot
 * be told apart from who waits for ever. */
static void use_unit(struct record *record, const struct limit_subject *subject,
                     enum limit_kind unit, double units, double since)
{
	struct cell cell = limits_cell(subject->quota, unit);
	double most = since + (AGENTS + 1) * cell.burst * cell.interval;

	if (cell.interval <= 0)
		return;
	record->interval[unit] = cell.interval;
	record->burst[unit] = cell.burst;
	if (units > 0 && record->arrival[unit] < most) {
		double arrival = later(record->arrival[unit], since) + units * cell.interval;

		record->arrival[unit] = arrival < most ? arrival : later(most, since);
	}
	if (units < 0)
		record->arrival[unit] += units * cell.interval;
}

/* Where the agent's number of the key is, or may be put; NULL: there is no place. */
static struct other *place_of(struct limit_table *limits, uint64_t agent, uint64_t key)
{
	uint64_t hash = (agent ^ key) * 0x9e3779b97f4a7c15u;
	struct other *vacant = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct other *other = &limits->others[((hash >> 32) + i) & (LIMIT_OTHERS - 1)];

		if (other->inflight > 0 && other->agent == agent && other->key == key)
			return other;
		if (other->inflight == 0 && !vacant)
			vacant = other;
	}
	return vacant;
}

static void put(struct limit_table *limits, struct other *other, struct record *record,
                uint32_t inflight)
{
	limits->others_count += (inflight > 0) - (other->inflight > 0);
	if (record)
		record->others_inflight += inflight - other->inflight;
	other->inflight = inflight;
}

static void have_open(struct limit_table *limits, uint64_t agent, struct record *record,
                      uint32_t inflight, usec_t now)
{
	struct other *other = place_of(limits, agent, record->key);

	if (!other)
		return;
	other->agent = agent;
	other->key = record->key;
	other->at = now;
	put(limits, other, record, inflight < INFLIGHT_MOST ? inflight : INFLIGHT_MOST);
}

void limits_heard(struct limit_table *limits, uint64_t agent, const struct limit_subject *subject,
                  const struct limit_use *use, usec_t age, usec_t now)
{
	double seconds = (double)now / 1e6;
	double since = seconds - ((double)age + (double)use->over) / 1e6;
	bool full = limits->count > limits->capacity / 4 * 3;
	struct record *record;

	/* Who comes here himself does not find all places taken by what others say. */
	if (full && limits_find(limits, subject->key) == NOBODY)
		return;
	record = limits_open(limits, subject, seconds);
	if (!record)
		return;
	use_unit(record, subject, LIMIT_REQUESTS, clamped(use->used[LIMIT_REQUESTS], requests_most),
	         since);
	use_unit(record, subject, LIMIT_TOKENS, clamped(use->used[LIMIT_TOKENS], tokens_most),
	         since);
	record->max_inflight = subject->quota->max_inflight;
	if (record->max_inflight > 0 && age <= silence)
		have_open(limits, agent, record, use->inflight, now - age);
}

static void close_other(struct limit_table *limits, struct other *other)
{
	uint32_t at = limits_find(limits, other->key);

	put(limits, other, at == NOBODY ? NULL : &limits->records[at], 0);
}

void limits_sweep(struct limit_table *limits, usec_t now)
{
	for (uint32_t i = 0; limits->others_count > 0 && i < LIMIT_OTHERS; i++) {
		struct other *other = &limits->others[i];

		if (other->inflight > 0 && now - other->at > silence)
			close_other(limits, other);
	}
}

void limits_bye(struct limit_table *limits, uint64_t agent)
{
	for (uint32_t i = 0; limits->others_count > 0 && i < LIMIT_OTHERS; i++) {
		struct other *other = &limits->others[i];

		if (other->inflight > 0 && other->agent == agent)
			close_other(limits, other);
	}
}
