/* follower_parts.h - what the files follower*.c share. Nobody else includes it. */
#pragma once

#include "redis/follower.h"
#include "redis/inbox.h"

#define LOOK_DEADLINE (3 * SECOND)
#define RETRY_PAUSE   (1 * SECOND)

enum { OVERLAP_MS = 10000 /* read again where a stream began anew */ };

struct place {
	struct entry_id id;     /* of the last entry applied */
	bool known;             /* it is where we want to be */
	bool applied;           /* it is one that we saw */
	bool at_end;            /* go on with what comes from now on */
	bool exact;             /* the id is of that entry itself */
	bool gone;              /* as of the last look: that entry is not there any more */
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

usec_t follower_clock(const struct follower *follower);
void follower_wake_at(struct follower *follower, usec_t when);
void follower_note(struct follower *follower, enum op op, enum redis_result result,
                   const struct redis_reply *reply);
MUST_CHECK bool
follower_send(struct follower *follower, const struct span *words, size_t count, usec_t deadline,
              void (*on_reply)(void *, enum redis_result, const struct redis_reply *));

/* follower_look.c: asks for the time and the newest entries; then reading begins. */
void follower_look(struct follower *follower);
/* The stream is read again from a little before that entry. */
void follower_start_over(struct follower *follower, enum keys_stream stream, struct entry_id from);
void follower_end_warm(struct follower *follower);
