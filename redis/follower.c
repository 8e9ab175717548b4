/* follower.c - where we are in each stream, what to ask next, and when.
 *
 * One timer does all that is not a reply: applies the next slice, asks again after a pause.
 * Positions move when an entry is applied, so that a link that is lost in between costs
 * nothing but reading again what was not. */
#include "redis/follower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/inbox.h"

static const usec_t look_deadline = 3 * SECOND;
static const usec_t warm_pause = 5 * MSEC;
static const usec_t retry_pause = 1 * SECOND;

enum {
	OVERLAP_MS = 10000, /* read again where a stream began anew */
	STEP = 16,          /* entries between two looks at the clock */
};

#define AS_NAME(id, name) name,
const char *const follower_phase_names[FOLLOWER_PHASE_COUNT] = { FOLLOWER_PHASES(AS_NAME) };
#undef AS_NAME

struct place {
	struct entry_id id;     /* of the last entry applied */
	bool known;             /* it is where we want to be */
	bool applied;           /* it is one that we saw */
	bool at_end;            /* go on with what comes from now on */
	struct entry_id newest; /* as of the last look; 0-0: there is none */
};

struct follower {
	struct ev_loop *loop;
	struct apply *apply;
	struct follower_options options;
	struct follower_events events;
	struct redis_link *link; /* NULL: down */
	ev_timer timer;
	enum follower_phase phase;
	struct place places[KEYS_STREAMS];
	unsigned looking; /* replies that are to come */
	bool look_failed;
	bool reading;
	usec_t asked, next_at;
	unsigned count; /* of XREAD */

	struct inbox inbox;
	struct inbox_item item; /* being applied, if open */
	bool open;

	bool warm; /* it is over */
	struct entry_id warm_from, warm_to;
	usec_t warm_began, warm_ended;
	struct follower_view counts;
};

static usec_t clock_of(const struct follower *follower)
{
	return follower->options.now();
}

static void wake_at(struct follower *follower, usec_t when)
{
	usec_t now = clock_of(follower);

	ev_timer_stop(follower->loop, &follower->timer);
	ev_timer_set(&follower->timer, when > now ? (double)(when - now) / 1e6 : 0, 0.);
	ev_timer_start(follower->loop, &follower->timer);
}

static void note(struct follower *follower, enum op op, enum redis_result result,
                 const struct redis_reply *reply)
{
	ops_note(follower->options.ops, op, result, clock_of(follower) - follower->asked);
	if (result != REDIS_RESULT_OK && result != REDIS_RESULT_LOST)
		follower->events.on_failed(follower->events.data, op, result,
		                           reply ? reply->text : (struct span){ "", 0 });
}

static bool send(struct follower *follower, const struct span *words, size_t count, usec_t deadline,
                 void (*on_reply)(void *, enum redis_result, const struct redis_reply *))
{
	const struct redis_command command = {
		.words = words,
		.count = count,
		.deadline = deadline,
		.on_reply = on_reply,
		.data = follower,
	};

	return redis_link_send(follower->link, &command);
}

#define WORD(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* --- looking: the time, and the newest entry of each stream */

static void start_over(struct follower *follower, enum keys_stream stream, struct entry_id from)
{
	struct place *place = &follower->places[stream];

	place->id = (struct entry_id){ from.ms > OVERLAP_MS ? from.ms - OVERLAP_MS : 0, 0 };
	place->at_end = false;
	follower->counts.restarts++;
	follower->events.on_restart(follower->events.data, stream);
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

static void end_warm(struct follower *follower)
{
	if (follower->warm)
		return;
	follower->warm = true;
	follower->warm_ended = clock_of(follower);
	follower->phase = FOLLOWER_FOLLOWING;
	follower->events.on_warm(follower->events.data);
}

/* All is known: where to go on. */
static void place_all(struct follower *follower)
{
	if (!follower->warm && !follower->places[KEYS_KEPT].known)
		begin_warm(follower, clock_of(follower));
	for (int i = 0; i < KEYS_STREAMS; i++) {
		struct place *place = &follower->places[i];

		if (place->known && place->applied && entry_id_before(place->newest, place->id))
			start_over(follower, (enum keys_stream)i, place->newest);
		place->known = true;
	}
	follower->phase = follower->warm ? FOLLOWER_FOLLOWING : FOLLOWER_WARMING;
	if (!follower->warm && !entry_id_before(follower->places[KEYS_KEPT].id, follower->warm_to))
		end_warm(follower);
}

static void looked(struct follower *follower, bool good)
{
	follower->look_failed = follower->look_failed || !good;
	if (--follower->looking > 0)
		return;
	if (!follower->link)
		return;
	if (follower->look_failed) {
		wake_at(follower, clock_of(follower) + retry_pause);
		return;
	}
	place_all(follower);
	wake_at(follower, 0);
}

static void on_time(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct follower *follower = data;

	note(follower, OP_TIME, result, reply);
	looked(follower, result == REDIS_RESULT_OK && reply &&
	                         store_clock_read(follower->options.clock, reply, follower->asked,
	                                          clock_of(follower)));
}

static void take_newest(struct follower *follower, enum keys_stream stream,
                        enum redis_result result, const struct redis_reply *reply)
{
	const struct redis_reply *id = redis_reply_at(redis_reply_at(reply, 0), 0);
	struct place *place = &follower->places[stream];

	note(follower, OP_NEWEST, result, reply);
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

static bool ask_newest(struct follower *follower, enum keys_stream stream)
{
	const struct span words[] = { WORD("XREVRANGE"), keys_of(&follower->options.keys, stream),
		                      WORD("+"),         WORD("-"),
		                      WORD("COUNT"),     WORD("1") };

	return send(follower, words, sizeof(words) / sizeof(words[0]), look_deadline,
	            stream == KEYS_LIVE ? on_newest_live : on_newest_kept);
}

static void look(struct follower *follower)
{
	const struct span time[] = { WORD("TIME") };

	follower->phase = FOLLOWER_LOOKING;
	follower->asked = clock_of(follower);
	follower->look_failed = false;
	follower->looking = 0;
	if (!send(follower, time, 1, look_deadline, on_time))
		return;
	follower->looking = 1;
	for (int i = 0; i < KEYS_STREAMS; i++) {
		if (ask_newest(follower, (enum keys_stream)i))
			follower->looking++;
		else
			follower->look_failed = true;
	}
}

/* --- reading */

static void on_read(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct follower *follower = data;
	usec_t now = clock_of(follower);

	follower->reading = false;
	note(follower, OP_READ, result, reply);
	follower->next_at = now + (follower->warm ? FOLLOWER_PAUSE : warm_pause);
	if (result == REDIS_RESULT_LOST)
		return;
	if (result != REDIS_RESULT_OK || !reply) {
		follower->next_at = now + retry_pause;
	} else if (reply->kind == REDIS_NIL) {
		follower->counts.replies++;
		end_warm(follower);
	} else if (inbox_take(&follower->inbox, reply, &follower->options.keys)) {
		follower->counts.replies++;
		follower->counts.entries += inbox_left(&follower->inbox);
		follower->counts.bytes += follower->inbox.size;
		follower->count =
		        follower->count < FOLLOWER_COUNT / 2 ? 2 * follower->count : FOLLOWER_COUNT;
		wake_at(follower, 0);
		return;
	} else {
		follower->events.on_failed(follower->events.data, OP_READ, REDIS_RESULT_ERROR,
		                           (struct span)WORD("a reply of another form"));
		follower->next_at = now + retry_pause;
	}
	wake_at(follower, follower->next_at);
}

static struct span position_of(const struct place *place, char text[ENTRY_ID_TEXT_MAX])
{
	return place->at_end ? (struct span)WORD("$") : entry_id_write(place->id, text);
}

static void read_on(struct follower *follower)
{
	char ids[KEYS_STREAMS][ENTRY_ID_TEXT_MAX], count[16], block[16];
	const struct keys *keys = &follower->options.keys;
	const struct span words[] = {
		WORD("XREAD"),
		WORD("COUNT"),
		{ count, (size_t)snprintf(count, sizeof(count), "%u", follower->count) },
		WORD("BLOCK"),
		{ block,
		  (size_t)snprintf(block, sizeof(block), "%u", (unsigned)(FOLLOWER_BLOCK / MSEC)) },
		WORD("STREAMS"),
		keys_of(keys, KEYS_LIVE),
		keys_of(keys, KEYS_KEPT),
		position_of(&follower->places[KEYS_LIVE], ids[KEYS_LIVE]),
		position_of(&follower->places[KEYS_KEPT], ids[KEYS_KEPT]),
	};

	follower->reading = send(follower, words, sizeof(words) / sizeof(words[0]),
	                         FOLLOWER_BLOCK + look_deadline, on_read);
	follower->counts.reads += follower->reading;
}

/* --- applying */

static void finish_item(struct follower *follower)
{
	struct place *place = &follower->places[follower->item.stream];

	follower->open = false;
	place->id = follower->item.id;
	place->applied = true;
	place->at_end = false;
	if (follower->item.stream == KEYS_KEPT && !follower->warm) {
		follower->counts.warm_read++;
		if (!entry_id_before(place->id, follower->warm_to))
			end_warm(follower);
	}
}

static void open_item(struct follower *follower, usec_t now)
{
	usec_t age = store_clock_age(follower->options.clock, follower->item.id, now);

	if (follower->item.stream == KEYS_KEPT)
		follower->events.on_kept(follower->events.data, follower->item.batch.len);
	follower->open = true;
	if (!follower->item.batch.at ||
	    !apply_open(follower->apply, follower->item.stream, follower->item.batch,
	                age < now ? now - age : 0, now))
		finish_item(follower);
}

/* True: there is more to do. */
static bool apply_slice(struct follower *follower)
{
	usec_t began = clock_of(follower);
	usec_t now = began;

	while (follower->open || inbox_next(&follower->inbox, &follower->item)) {
		if (!follower->open)
			open_item(follower, now);
		else if (!apply_step(follower->apply, STEP, now))
			finish_item(follower);
		now = clock_of(follower);
		if (now - began >= FOLLOWER_SLICE)
			break;
	}
	return follower->open || inbox_left(&follower->inbox) > 0;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct follower *follower = timer->data;

	(void)loop;
	(void)events;
	if (apply_slice(follower)) {
		wake_at(follower, 0);
		return;
	}
	if (!follower->link || follower->reading || follower->looking > 0)
		return;
	if (follower->phase == FOLLOWER_LOOKING)
		look(follower);
	else if (clock_of(follower) < follower->next_at)
		wake_at(follower, follower->next_at);
	else
		read_on(follower);
}

/* --- */

struct follower *follower_new(struct ev_loop *loop, struct apply *apply,
                              const struct follower_options *options,
                              const struct follower_events *events)
{
	struct follower *follower = calloc(1, sizeof(*follower));

	if (!follower)
		return NULL;
	follower->loop = loop;
	follower->apply = apply;
	follower->options = *options;
	follower->events = *events;
	follower->count = FOLLOWER_COUNT;
	ev_timer_init(&follower->timer, on_timer, 0, 0.);
	follower->timer.data = follower;
	return follower;
}

void follower_free(struct follower *follower)
{
	if (!follower)
		return;
	ev_timer_stop(follower->loop, &follower->timer);
	inbox_done(&follower->inbox);
	free(follower);
}

void follower_set_life(struct follower *follower, usec_t kept_life)
{
	follower->options.kept_life = kept_life;
}

/* What was not applied yet is read again. */
void follower_up(struct follower *follower, struct redis_link *link)
{
	follower->link = link;
	follower->inbox.next = follower->inbox.count;
	follower->open = false;
	look(follower);
}

void follower_down(struct follower *follower, enum redis_fault fault)
{
	follower->link = NULL;
	follower->reading = false;
	follower->looking = 0;
	follower->phase = FOLLOWER_DOWN;
	if (fault != REDIS_FAULT_TOO_BIG)
		return;
	if (follower->count > 1) {
		follower->count = 1;
		return;
	}
	follower->counts.skipped++;
	for (int i = 0; i < KEYS_STREAMS; i++)
		follower->places[i].at_end = true;
}

void follower_added(struct follower *follower, enum keys_stream stream, struct entry_id id)
{
	const struct place *place = &follower->places[stream];

	/* Replies on two links may overtake each other by as much. */
	if (place->applied && id.ms + OVERLAP_MS < place->id.ms)
		start_over(follower, stream, id);
}

static double warmed(const struct follower *follower)
{
	uint64_t from = follower->warm_from.ms, to = follower->warm_to.ms;
	uint64_t at = follower->places[KEYS_KEPT].id.ms;

	if (follower->warm)
		return 1;
	if (follower->warm_began == 0 || to <= from || at <= from)
		return 0;
	return at < to ? (double)(at - from) / (double)(to - from) : 1;
}

struct follower_view follower_view(const struct follower *follower)
{
	struct follower_view view = follower->counts;
	usec_t now = clock_of(follower);
	uint64_t ms = store_clock_ms(follower->options.clock, now);
	const struct place *live = &follower->places[KEYS_LIVE];

	view.phase = follower->phase;
	view.warmed = warmed(follower);
	view.warm_time = follower->warm_began == 0 ? 0
	                                           : (follower->warm ? follower->warm_ended : now) -
	                                                     follower->warm_began;
	view.lag_known = live->applied && ms > 0;
	view.lag_s = view.lag_known && ms > live->id.ms ? (double)(ms - live->id.ms) / 1e3 : 0;
	view.waiting = inbox_left(&follower->inbox) + follower->open;
	return view;
}
