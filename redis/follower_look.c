/* follower_look.c - where to go on after a link came up: the time, and the newest entry of each
 * stream, against where we were.
 *
 * Ids are the store's time. A store that began anew goes on with later ones as a rule, and is told
 * by the entry that we had last, which it has not. */
#include "redis/follower_parts.h"

static void began_anew(struct follower *follower, enum keys_stream stream)
{
	follower->counts.restarts++;
	follower->events.on_restart(follower->events.data, stream);
}

void follower_start_over(struct follower *follower, enum keys_stream stream, struct entry_id from)
{
	struct place *place = &follower->places[stream];

	place->id = (struct entry_id){ from.ms > OVERLAP_MS ? from.ms - OVERLAP_MS : 0, 0 };
	place->at_end = place->exact = false;
	began_anew(follower, stream);
}

static void begin_warm(struct follower *follower, usec_t now)
{
	uint64_t ms = store_clock_ms(follower->options.clock, now);
	uint64_t life = follower->options.kept_life / MSEC;

	follower->warm_from = (struct entry_id){ ms > life ? ms - life : 0, 0 };
	follower->warm_to = follower->places[KEYS_KEPT].newest;
	follower->warm_began = now;
	follower->places[KEYS_KEPT].id = follower->warm_from;
}

void follower_end_warm(struct follower *follower)
{
	if (follower->warm)
		return;
	follower->warm = true;
	follower->warm_ended = follower_clock(follower);
	follower->phase = FOLLOWER_FOLLOWING;
	follower->events.on_warm(follower->events.data);
}

/* All is known: where to go on. */
static void place_all(struct follower *follower)
{
	if (!follower->warm && !follower->places[KEYS_KEPT].known)
		begin_warm(follower, follower_clock(follower));
	for (int i = 0; i < KEYS_STREAMS; i++) {
		struct place *place = &follower->places[i];

		if (place->known && place->applied && entry_id_before(place->newest, place->id))
			follower_start_over(follower, (enum keys_stream)i, place->newest);
		else if (place->gone)
			began_anew(follower, (enum keys_stream)i);
		place->gone = false;
		place->known = true;
	}
	follower->phase = follower->warm ? FOLLOWER_FOLLOWING : FOLLOWER_WARMING;
	if (!follower->warm && !entry_id_before(follower->places[KEYS_KEPT].id, follower->warm_to))
		follower_end_warm(follower);
}

static void looked(struct follower *follower, bool good)
{
	follower->look_failed = follower->look_failed || !good;
	if (--follower->looking > 0)
		return;
	if (!follower->link)
		return;
	if (follower->look_failed) {
		follower_wake_at(follower, follower_clock(follower) + RETRY_PAUSE);
		return;
	}
	place_all(follower);
	follower_wake_at(follower, 0);
}

static void on_time(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct follower *follower = data;

	follower_note(follower, OP_TIME, result, reply);
	looked(follower, result == REDIS_RESULT_OK && reply &&
	                         store_clock_read(follower->options.clock, reply, follower->asked,
	                                          follower_clock(follower)));
}

static void take_newest(struct follower *follower, enum keys_stream stream,
                        enum redis_result result, const struct redis_reply *reply)
{
	const struct redis_reply *id = redis_reply_at(redis_reply_at(reply, 0), 0);
	struct place *place = &follower->places[stream];

	follower_note(follower, OP_RANGE, result, reply);
	place->newest = (struct entry_id){ 0, 0 };
	looked(follower,
	       result == REDIS_RESULT_OK && reply && reply->kind == REDIS_ARRAY &&
	               (reply->count == 0 || entry_id_read(redis_reply_text(id), &place->newest)));
}

static void on_newest_live(void *data, enum redis_result result, const struct redis_reply *reply)
{
	take_newest(data, KEYS_LIVE, result, reply);
}

static void on_newest_kept(void *data, enum redis_result result, const struct redis_reply *reply)
{
	take_newest(data, KEYS_KEPT, result, reply);
}

static void take_last(struct follower *follower, enum keys_stream stream, enum redis_result result,
                      const struct redis_reply *reply)
{
	bool good = result == REDIS_RESULT_OK && reply && reply->kind == REDIS_ARRAY;

	follower_note(follower, OP_RANGE, result, reply);
	follower->places[stream].gone = good && reply->count == 0;
	looked(follower, good);
}

static void on_last_live(void *data, enum redis_result result, const struct redis_reply *reply)
{
	take_last(data, KEYS_LIVE, result, reply);
}

static void on_last_kept(void *data, enum redis_result result, const struct redis_reply *reply)
{
	take_last(data, KEYS_KEPT, result, reply);
}

/* The newest of those between two ids. */
static bool ask_range(struct follower *follower, enum keys_stream stream, struct span to,
                      struct span from,
                      void (*on_reply)(void *, enum redis_result, const struct redis_reply *))
{
	const struct span words[] = { REDIS_WORD("XREVRANGE"),
		                      keys_of(&follower->options.keys, stream),
		                      to,
		                      from,
		                      REDIS_WORD("COUNT"),
		                      REDIS_WORD("1") };

	return follower_send(follower, words, sizeof(words) / sizeof(words[0]), LOOK_DEADLINE,
	                     on_reply);
}

static bool ask_newest(struct follower *follower, enum keys_stream stream)
{
	return ask_range(follower, stream, (struct span)REDIS_WORD("+"),
	                 (struct span)REDIS_WORD("-"),
	                 stream == KEYS_LIVE ? on_newest_live : on_newest_kept);
}

static bool ask_last(struct follower *follower, enum keys_stream stream)
{
	char text[ENTRY_ID_TEXT_MAX];
	struct span id = entry_id_write(follower->places[stream].id, text);

	return ask_range(follower, stream, id, id,
	                 stream == KEYS_LIVE ? on_last_live : on_last_kept);
}

static void ask(struct follower *follower, bool sent)
{
	if (sent)
		follower->looking++;
	else
		follower->look_failed = true;
}

void follower_look(struct follower *follower)
{
	const struct span time[] = { REDIS_WORD("TIME") };

	follower->phase = FOLLOWER_LOOKING;
	follower->asked = follower_clock(follower);
	follower->look_failed = false;
	follower->looking = 0;
	if (!follower_send(follower, time, 1, LOOK_DEADLINE, on_time))
		return;
	follower->looking = 1;
	for (int i = 0; i < KEYS_STREAMS; i++) {
		ask(follower, ask_newest(follower, (enum keys_stream)i));
		if (follower->places[i].exact)
			ask(follower, ask_last(follower, (enum keys_stream)i));
	}
}
