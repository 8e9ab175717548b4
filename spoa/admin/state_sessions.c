/* state_sessions.c - where sessions are pinned, as JSON: how many at whom, and the
 * ones used last. A session shows as a hash; nobody keeps its key. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

enum { LAST_SHOWN = 50 };

#define AS_NAME(id, name, ...) name,
static const char *const result_names[] = { SESSION_RESULTS(AS_NAME) };
#undef AS_NAME

const char *session_result_name(enum session_result result)
{
	return result_names[result];
}

struct listing {
	const struct sources *sources;
	uint32_t *counts; /* by target */
	uint32_t shown;
	json_t *last;
};

static void list(void *data, struct pin_key key, const struct pin *pin)
{
	struct listing *listing = data;
	const struct target *target = fleet_target(listing->sources->facts->fleet, pin->target);
	char hash[20];

	listing->counts[pin->target]++;
	if (!target || listing->shown == LAST_SHOWN)
		return;
	listing->shown++;
	(void)snprintf(hash, sizeof(hash), "%016" PRIx64, key.hash);
	(void)json_array_append_new(
	        listing->last, json_pack("{s:s, s:o, s:i, s:f}", "session", hash, "target",
	                                 name_json(target->label), "open", (int)pin->open, "idle_s",
	                                 seconds_between(pin->used_at, listing->sources->now)));
}

static json_t *targets_json(const struct fleet *fleet, const uint32_t *counts)
{
	json_t *targets = json_array();

	for (uint32_t id = 0; id < fleet_targets_max(fleet); id++) {
		const struct target *target = fleet_target(fleet, id);

		if (target && counts[id] > 0)
			(void)json_array_append_new(targets, json_pack("{s:o, s:i}", "target",
			                                               name_json(target->label),
			                                               "pins", (int)counts[id]));
	}
	return targets;
}

static json_t *results_json(const struct counters *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < SESSION_RESULT_COUNT; i++)
		(void)json_object_set_new(object, result_names[i],
		                          json_integer((json_int_t)counters->sessions[i]));
	return object;
}

static json_t *moves_json(const struct counters *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < SESSION_MOVES; i++)
		(void)json_object_set_new(object, session_move_names[i],
		                          json_integer((json_int_t)counters->session_moves[i]));
	return object;
}

json_t *state_sessions(const struct sources *sources)
{
	const struct facts *facts = sources->facts;
	const struct pin_counts *counts = pins_counts(facts->sessions);
	struct listing listing = { .sources = sources, .last = json_array() };

	listing.counts = calloc(fleet_targets_max(facts->fleet), sizeof(*listing.counts));
	if (!listing.counts) {
		json_decref(listing.last);
		return NULL;
	}
	pins_each(facts->sessions, sources->now, UINT32_MAX, list, &listing);
	json_t *object = json_pack(
	        "{s:i, s:i, s:f, s:s, s:o, s:I, s:o, s:{s:I, s:I, s:I}, s:o, s:o}", "pins",
	        (int)pins_count(facts->sessions), "capacity", (int)pins_room(facts->sessions),
	        "ttl_s", (double)facts->policy->session.ttl / (double)SECOND, "format",
	        facts->policy->session.format == SESSION_OPAQUE ? "opaque" : "address", "lookups",
	        results_json(facts->counters), "spilled",
	        (json_int_t)facts->counters->sessions_spilled, "moves", moves_json(facts->counters),
	        "dropped", "expired", (json_int_t)counts->expired, "evicted",
	        (json_int_t)counts->evicted, "gone", (json_int_t)counts->forgotten, "targets",
	        targets_json(facts->fleet, listing.counts), "last", listing.last);

	free(listing.counts);
	return object;
}
