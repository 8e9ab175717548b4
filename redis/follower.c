/* follower.c - where we are in each stream, what to ask next, and when.
 *
 * One timer does all that is not a reply: applies the next slice, asks again after a pause.
 * Positions move when an entry is applied, so that a link that is lost in between costs
 * nothing but reading again what was not. */
#include "redis/follower.h"

#include <stdio.h>
#include <stdlib.h>

#include "redis/follower_parts.h"

static const usec_t warm_pause = 5 * MSEC;

enum { STEP = 16 /* entries between two looks at the clock */ };

#define AS_NAME(id, name) name,
const char *const follower_phase_names[FOLLOWER_PHASE_COUNT] = { FOLLOWER_PHASES(AS_NAME) };
#undef AS_NAME

usec_t follower_clock(const struct follower *follower)
{
	return follower->options.now();
}

void follower_wake_at(struct follower *follower, usec_t when)
{
	usec_t now = follower_clock(follower);

	ev_timer_stop(follower->loop, &follower->timer);
	ev_timer_set(&follower->timer, when > now ? (double)(when - now) / 1e6 : 0, 0.);
	ev_timer_start(follower->loop, &follower->timer);
}

void follower_note(struct follower *follower, enum op op, enum redis_result result,
                   const struct redis_reply *reply)
{
	ops_note(follower->options.ops, op, result, follower_clock(follower) - follower->asked);
	if (result != REDIS_RESULT_OK && result != REDIS_RESULT_LOST)
		follower->events.on_failed(follower->events.data, op, result,
		                           reply ? reply->text : (struct span){ "", 0 });
}

bool follower_send(struct follower *follower, const struct span *words, size_t count,
                   usec_t deadline,
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

/* --- reading */

static void on_read(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct follower *follower = data;
	usec_t now = follower_clock(follower);

	follower->reading = false;
	follower_note(follower, OP_READ, result, reply);
	follower->next_at = now + (follower->warm ? FOLLOWER_PAUSE : warm_pause);
	if (result == REDIS_RESULT_LOST)
		return;
	if (result != REDIS_RESULT_OK || !reply) {
		follower->next_at = now + RETRY_PAUSE;
	} else if (reply->kind == REDIS_NIL) {
		follower->counts.replies++;
		follower_end_warm(follower);
	} else if (inbox_take(&follower->inbox, reply, &follower->options.keys)) {
		follower->counts.replies++;
		follower->counts.entries += inbox_left(&follower->inbox);
		follower->counts.bytes += follower->inbox.size;
		follower->count =
		        follower->count < FOLLOWER_COUNT / 2 ? 2 * follower->count : FOLLOWER_COUNT;
		follower_wake_at(follower, 0);
		return;
	} else {
		follower->events.on_failed(follower->events.data, OP_READ, REDIS_RESULT_ERROR,
		                           (struct span)REDIS_WORD("a reply of another form"));
		follower->next_at = now + RETRY_PAUSE;
	}
	follower_wake_at(follower, follower->next_at);
}

static struct span position_of(const struct place *place, char text[ENTRY_ID_TEXT_MAX])
{
	return place->at_end ? (struct span)REDIS_WORD("$") : entry_id_write(place->id, text);
}

static void read_on(struct follower *follower)
{
	char ids[KEYS_STREAMS][ENTRY_ID_TEXT_MAX], count[16], block[16];
	const struct keys *keys = &follower->options.keys;
	const struct span words[] = {
		REDIS_WORD("XREAD"),
		REDIS_WORD("COUNT"),
		{ count, (size_t)snprintf(count, sizeof(count), "%u", follower->count) },
		REDIS_WORD("BLOCK"),
		{ block,
		  (size_t)snprintf(block, sizeof(block), "%u", (unsigned)(FOLLOWER_BLOCK / MSEC)) },
		REDIS_WORD("STREAMS"),
		keys_of(keys, KEYS_LIVE),
		keys_of(keys, KEYS_KEPT),
		position_of(&follower->places[KEYS_LIVE], ids[KEYS_LIVE]),
		position_of(&follower->places[KEYS_KEPT], ids[KEYS_KEPT]),
	};

	follower->reading = follower_send(follower, words, sizeof(words) / sizeof(words[0]),
	                                  FOLLOWER_BLOCK + LOOK_DEADLINE, on_read);
	follower->counts.reads += follower->reading;
}

/* --- applying */

static void finish_item(struct follower *follower)
{
	struct place *place = &follower->places[follower->item.stream];

	follower->open = false;
	place->id = follower->item.id;
	place->applied = place->exact = true;
	place->at_end = false;
	if (follower->item.stream == KEYS_KEPT && !follower->warm) {
		follower->counts.warm_read++;
		if (!entry_id_before(place->id, follower->warm_to))
			follower_end_warm(follower);
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
	usec_t began = follower_clock(follower);
	usec_t now = began;

	while (follower->open || inbox_next(&follower->inbox, &follower->item)) {
		if (!follower->open)
			open_item(follower, now);
		else if (!apply_step(follower->apply, STEP, now))
			finish_item(follower);
		now = follower_clock(follower);
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
		follower_wake_at(follower, 0);
		return;
	}
	if (!follower->link || follower->reading || follower->looking > 0)
		return;
	if (follower->phase == FOLLOWER_LOOKING)
		follower_look(follower);
	else if (follower_clock(follower) < follower->next_at)
		follower_wake_at(follower, follower->next_at);
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
	follower_look(follower);
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
		follower_start_over(follower, stream, id);
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
	usec_t now = follower_clock(follower);
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
