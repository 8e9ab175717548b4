/* play.h - recorded requests, played through engines that are simulated, on a virtual
 * clock: what a way of choosing would have made of them.
 *
 * The engines are engine_model's: batches, chunks of prefill, a KV cache of blocks that
 * leaves in order of use. Who chooses is told what HAProxy would tell it and nothing
 * else: first bytes and ends, when they happen. Deterministic: same trace, same
 * settings, same chooser, same result. */
#pragma once

#include "spoa/replay/engine_model.h"
#include "spoa/replay/trace.h"

enum { PLAY_REPLICAS_MAX = 1024 };

struct play;

/* Who chooses. Requests are named by their place in the trace. choose must return a
 * replica below the play's count; the others may be NULL. */
struct chooser {
	void *data;
	uint32_t (*choose)(void *data, const struct play *play, size_t request, usec_t now);
	void (*first_byte)(void *data, size_t request, uint32_t replica, usec_t now);
	/* elapsed: since it came. */
	void (*done)(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed);
	/* Once a second, before what happens in it. */
	void (*second)(void *data, const struct play *play, usec_t now);
};

struct play_settings {
	uint32_t replicas; /* 1..PLAY_REPLICAS_MAX */
	double speed;      /* requests come so much faster than recorded, > 0 */
	struct engine_settings engine;
	/* NULL, or for each replica how fast it is: 1 = as engine says. */
	const double *speeds;
};

/* 8 replicas, at the speed of the recording, engine_settings_default() with room to
 * wait for all. */
struct play_settings play_settings_default(void);

struct play_result {
	size_t answered;
	double ttft_mean, ttft_p50, ttft_p99; /* seconds */
	double e2e_mean, e2e_p50, e2e_p99;
	double hit_share;      /* prompt tokens that were cached, of all */
	double most_over_mean; /* requests, of the replica that got most */
	double load_spread;    /* in flight when a request comes: most over mean, averaged */
	/* Requests until each replica had between a half and one and a half of its part of the
	 * last 25 per replica; 0: never. */
	size_t until_balance;
	double end; /* seconds from the first request to the last token */
};

/* progress may be NULL; it is told the share done, now and then. False when out of
 * memory. */
MUST_CHECK bool play(const struct trace *trace, const struct play_settings *settings,
                     const struct chooser *chooser, void (*progress)(void *data, double share),
                     void *progress_data, struct play_result *ret_result);

/* For choosers. */
uint32_t play_replicas(const struct play *play);
const struct trace_request *play_request(const struct play *play, size_t request);
/* What the engine's own page would say now. */
struct engine_load play_load(const struct play *play, uint32_t replica);
/* Seconds between two tokens of one answer, summed, and how many such times. */
double play_gaps(const struct play *play, uint32_t replica, double *ret_count);
/* The blocks of the request that are in its cache now: only for who shall know all. */
uint32_t play_match(const struct play *play, uint32_t replica, size_t request);
const struct engine_settings *play_engine(const struct play *play, uint32_t replica);
