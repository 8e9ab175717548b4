/* state_store.c - the store by which agents share, as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "redis/store.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

static json_t *count_json(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *number_json(uint64_t agent)
{
	char text[20];

	(void)snprintf(text, sizeof(text), "%016" PRIx64, agent);
	return json_string(text);
}

static json_t *link_json(const struct store_link_view *link)
{
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "up", link->up, "fault",
	                 name_json(link->fault), "connects", count_json(link->counters->connects),
	                 "commands", count_json(link->counters->sent), "bytes_in",
	                 count_json(link->counters->bytes_in), "bytes_out",
	                 count_json(link->counters->bytes_out));
}

static json_t *kinds_json(const struct apply_counts *counts)
{
	json_t *object = json_object();

	for (int i = 0; i < WIRE_KIND_COUNT; i++) {
		if (wire_kind_names[i])
			(void)json_object_set_new(object, wire_kind_names[i],
			                          json_pack("{s:o, s:o}", "taken",
			                                    count_json(counts->taken[i]), "left",
			                                    count_json(counts->left[i])));
	}
	return object;
}

static json_t *heard_json(const struct apply_counts *counts)
{
	uint64_t bad = 0;

	for (int i = WIRE_RESULT_OK + 1; i < WIRE_RESULT_COUNT; i++)
		bad += counts->batches[i];
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "batches",
	                 count_json(counts->batches[WIRE_RESULT_OK]), "bad_batches",
	                 count_json(bad), "own", count_json(counts->own), "repeated",
	                 count_json(counts->repeated), "late", count_json(counts->late), "crowded",
	                 count_json(counts->crowded), "strangers", count_json(counts->strangers),
	                 "unknown", count_json(counts->unknown), "malformed",
	                 count_json(counts->malformed), "kinds", kinds_json(counts));
}

static json_t *follower_json(const struct follower_view *follower)
{
	return json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:i}", "phase",
	                 follower_phase_names[follower->phase], "warmed", follower->warmed,
	                 "warm_s", (double)follower->warm_time / 1e6, "warm_batches",
	                 count_json(follower->warm_read), "restarts",
	                 count_json(follower->restarts), "skipped", count_json(follower->skipped),
	                 "to_apply", (int)follower->waiting);
}

static json_t *queue_json(const struct store_view *view)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "live",
	                 (int)view->waiting[KEYS_LIVE], "kept", (int)view->waiting[KEYS_KEPT],
	                 "told", count_json(view->outbox.told), "again",
	                 count_json(view->outbox.again), "dropped",
	                 count_json(view->outbox.dropped), "spared",
	                 count_json(view->outbox.spared), "gone", count_json(view->outbox.gone));
}

static json_t *peers_json(const struct sources *sources)
{
	const struct peers *peers = sources->facts->peers;
	json_t *list = json_array();

	for (uint32_t i = 0; i < peers_count(peers); i++) {
		struct peer_view peer = peers_at(peers, i);

		(void)json_array_append_new(
		        list,
		        json_pack("{s:o, s:f, s:f, s:o, s:o}", "agent", number_json(peer.agent),
		                  "known_s", seconds_between(peer.since, sources->now), "age_s",
		                  seconds_between(peer.heard_at, sources->now), "batches",
		                  count_json(peer.batches), "targets", count_json(peer.loads)));
	}
	return list;
}

json_t *state_store(const struct sources *sources)
{
	struct store_view view;

	if (!sources->store)
		return json_pack("{s:b}", "used", 0);
	view = store_view(sources->store);
	return json_pack("{s:b, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	                 "used", 1, "address", name_json(view.address), "space",
	                 name_json(view.space), "agent", number_json(view.agent), "up",
	                 view.tells.up && view.follows.up, "loads", view.loads, "lag_s",
	                 known_json(view.follower.lag_known ? view.follower.lag_s : -1), "tells",
	                 link_json(&view.tells), "follows", link_json(&view.follows), "follower",
	                 follower_json(&view.follower), "queue", queue_json(&view), "heard",
	                 heard_json(view.applied), "peers", peers_json(sources), "peers_lost",
	                 count_json(view.peers_lost));
}
