/* writer.h - tells the store, each tick, what is to be told; never waits for it.
 *
 * What is true now is told as it is (redis/pulse.h), and nothing is kept back: the next batch
 * says more. What stays true waits in the outbox until the store has said that it has it; where
 * it could not, it is told again, after a pause. Each stream is bounded by the command that
 * adds to it, and expires by itself when nobody tells any more.
 *
 * Commands: XADD, PEXPIRE about once a minute, TIME; when the link came up, XREVRANGE. At most
 * WRITER_UNDER_WAY of the first wait for their replies; while they do, nothing more is told. */
#pragma once

#include "redis/keys.h"
#include "redis/link.h"
#include "redis/ops.h"
#include "redis/outbox.h"
#include "redis/pulse.h"
#include "redis/store_clock.h"

enum {
	WRITER_UNDER_WAY = 16,     /* XADDs, of each stream */
	WRITER_BATCHES = 4,        /* of a stream in a tick */
	WRITER_LIVE_LENGTH = 5000, /* entries of the live stream, about */
};

#define WRITER_DEADLINE (3 * SECOND)
#define WRITER_PAUSE    (1 * SECOND) /* after a refusal */

struct writer_options {
	struct keys keys;
	uint64_t agent;
	double kept_bytes; /* of the store's memory for the kept stream, about */
	usec_t expiry;     /* of both streams, from the last word on */
	usec_t (*now)(void);
	struct store_clock *clock; /* set by TIME */
	struct ops *ops;           /* counted there */
	/* An entry of ours was added with this id. */
	void (*on_added)(void *data, enum keys_stream stream, struct entry_id id);
	/* What arrived in the stream is there no more, and is told again. */
	void (*on_lost)(void *data, enum keys_stream stream);
	/* The store refused, or did not answer; not told while the link is down. */
	void (*on_failed)(void *data, enum op op, enum redis_result result, struct span text);
	void *data;
};

struct writer_counts {
	uint64_t put_off; /* ticks in which too much was under way */
	uint64_t bytes;   /* of batches */
	double kept_mean; /* bytes of an entry of the kept stream, lately */
};

struct writer;

/* Nothing is owned; everything must outlive it. NULL when out of memory. */
MUST_CHECK struct writer *writer_new(struct pulse *pulse, struct outbox *outbox,
                                     const struct writer_options *options);
/* After the link. */
void writer_free(struct writer *writer);
/* Before anything else. */
void writer_start(struct writer *writer, struct redis_link *link);
void writer_set(struct writer *writer, double kept_bytes, usec_t expiry);
/* The size of somebody else's entry in the kept stream, which counts for its bound. */
void writer_saw_kept(struct writer *writer, size_t bytes);

void writer_up(struct writer *writer); /* the link came up */
/* Each 20 ms or so: loads and limits that changed. all: each 100 ms or so, and whatever else there
 * is. */
void writer_tick(struct writer *writer, bool all);
/* We stop: whatever is still to be told is, and that we stop. */
void writer_bye(struct writer *writer);
/* Everything that was told arrived. */
bool writer_is_done(const struct writer *writer);

const struct writer_counts *writer_counts(const struct writer *writer);
