/* follower.h - follows the streams on a link of its own, from where it was, or from the start.
 *
 * Up: it asks for the time and for the newest entry of each stream. At its start it reads
 * what is kept from the oldest on that can still mean something (warm-up); later it goes on behind
 * the entry that it had last. Is that not there any more, the store began anew or was replaced by
 * one that had not heard all; is the newest entry an older one besides, it starts over a little
 * before its tail, since all that is heard may be heard twice.
 *
 * One XREAD at a time, that blocks; the next not sooner than FOLLOWER_PAUSE after the last, and
 * not before all that came is applied, which is done in slices of FOLLOWER_SLICE. */
#pragma once

#include <ev.h>

#include "redis/apply.h"
#include "redis/keys.h"
#include "redis/link.h"
#include "redis/ops.h"
#include "redis/store_clock.h"

enum { FOLLOWER_COUNT = 64 /* entries of each stream at a time */ };

#define FOLLOWER_PAUSE (20 * MSEC)
#define FOLLOWER_BLOCK (1 * SECOND)
#define FOLLOWER_SLICE (500)

/* FOLLOWER_PHASE(id, name) */
#define FOLLOWER_PHASES(FOLLOWER_PHASE)                                                            \
	FOLLOWER_PHASE(DOWN, "down")       /* no link */                                           \
	FOLLOWER_PHASE(LOOKING, "looking") /* what is there? */                                    \
	FOLLOWER_PHASE(WARMING, "warming") /* reads what is kept */                                \
	FOLLOWER_PHASE(FOLLOWING, "following")
#define AS_PHASE(id, ...) FOLLOWER_##id,
enum follower_phase { FOLLOWER_PHASES(AS_PHASE) FOLLOWER_PHASE_COUNT };
#undef AS_PHASE
extern const char *const follower_phase_names[FOLLOWER_PHASE_COUNT];

struct follower_view {
	enum follower_phase phase;
	double warmed;      /* 0..1 of what was kept; 1 when it is over */
	usec_t warm_time;   /* it took, or takes until now */
	uint64_t warm_read; /* entries of the kept stream meanwhile */
	bool lag_known;
	double lag_s; /* of the newest live entry that was applied */
	uint64_t reads, replies, entries, bytes;
	uint64_t restarts; /* streams that began anew */
	uint64_t skipped;  /* times that it went on at the end, for too large a reply */
	uint32_t waiting;  /* entries that are not applied yet */
};

struct follower_events {
	void (*on_warm)(void *data); /* the warm-up is over */
	void (*on_restart)(void *data, enum keys_stream stream);
	void (*on_failed)(void *data, enum op op, enum redis_result result, struct span text);
	void (*on_kept)(void *data, size_t bytes); /* an entry of the kept stream, of anybody */
	void *data;
};

struct follower_options {
	struct keys keys;
	usec_t kept_life; /* how old an entry of the kept stream may be to mean something */
	usec_t (*now)(void);
	struct store_clock *clock; /* set by TIME */
	struct ops *ops;           /* counted there */
};

struct follower;

/* Nothing is owned; everything must outlive it. NULL when out of memory. */
MUST_CHECK struct follower *follower_new(struct ev_loop *loop, struct apply *apply,
                                         const struct follower_options *options,
                                         const struct follower_events *events);
/* After the link. */
void follower_free(struct follower *follower);
void follower_set_life(struct follower *follower, usec_t kept_life);

void follower_up(struct follower *follower, struct redis_link *link);
void follower_down(struct follower *follower, enum redis_fault fault);
/* An entry was added with this id: if we have read further, the stream began anew. */
void follower_added(struct follower *follower, enum keys_stream stream, struct entry_id id);

struct follower_view follower_view(const struct follower *follower);
