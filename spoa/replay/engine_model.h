/* engine_model.h - what a batching engine with a prefix cache costs, in virtual time.
 *
 * The engine works in steps. A step takes a base time, the time of the prompt tokens it computes,
 * and a little for each sequence that is decoding; at its end each sequence whose prompt is
 * computed has one more token. Requests are admitted in order of arrival while there are seats and
 * KV blocks for the whole prompt and answer; prompts are computed in chunks of what the step's
 * token budget leaves beside the decoding sequences, in order of admission. The full blocks of a
 * prompt are in the prefix cache from its first token on; cached blocks in use are pinned, the
 * others leave in order of use. At least one token of each prompt is computed. Nobody is preempted.
 *
 * Pure: no clock, no I/O, no allocation after engine_model_new(). Times are microseconds of the
 * caller's clock and never run backwards. To drive it: submit when requests arrive, and call
 * engine_model_advance() no later than engine_model_next(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine_model;

struct engine_settings {
	uint32_t step_us;      /* base of a step, 8000 */
	uint32_t prefill_rate; /* prompt tokens per second, 10000 */
	uint32_t decode_us;    /* a step takes so much longer per decoding sequence, 150 */
	uint32_t step_tokens;  /* at most so many tokens a step, 8192 */
	uint32_t max_running;  /* sequences in the batch, 64 */
	uint32_t max_waiting;  /* beyond these submit says ENGINE_FULL, 1024 */
	uint32_t kv_blocks;    /* 3000 */
	uint32_t block_tokens; /* 512 */
};

/* The numbers in the comments above. */
struct engine_settings engine_settings_default(void);

struct engine_job {
	const uint64_t *blocks; /* hash of each full block of the prompt and all before it; borrowed
	                         * until the job is done or aborted */
	uint32_t block_count;
	uint32_t prompt_tokens; /* at least 1 */
	uint32_t output_tokens; /* at least 1 */
	bool computed;          /* elsewhere: all of the prompt but its last token is here */
	void *user;             /* handed back with each event */
};

enum engine_answer {
	ENGINE_ACCEPTED,
	ENGINE_FULL,      /* all seats and waiting places are taken */
	ENGINE_TOO_LARGE, /* more blocks than the engine has */
};

enum engine_event_kind {
	ENGINE_FIRST_TOKEN,
	ENGINE_TOKEN,
	ENGINE_DONE, /* follows the last token at once; the ticket is void from here on */
};

struct engine_event {
	enum engine_event_kind kind;
	int64_t at;
	void *user;
	uint32_t cached_tokens; /* of the prompt */
};

/* Must not call back into the model. */
typedef void engine_listener(void *context, const struct engine_event *event);

/* NULL when out of memory. All settings are at least 1, but max_waiting may be 0. */
struct engine_model *engine_model_new(const struct engine_settings *settings);
void engine_model_free(struct engine_model *model);

/* Empties the cache and the totals. Nothing is running or waiting. */
void engine_model_clear(struct engine_model *model);

enum engine_answer engine_model_submit(struct engine_model *model, const struct engine_job *job,
                                       int64_t now, uint32_t *ret_ticket);

/* Takes the sequence out at once, whether waiting or running; its blocks are free. The step under
 * way ends when it would have ended. */
void engine_model_abort(struct engine_model *model, uint32_t ticket);

/* When the step under way ends; INT64_MAX when the engine is idle. */
int64_t engine_model_next(const struct engine_model *model);

/* Ends every step that is over by now, one after the other. */
void engine_model_advance(struct engine_model *model, int64_t now, engine_listener *listener,
                          void *context);

struct engine_load {
	uint32_t running, waiting;
	uint64_t prefill_tokens;            /* prompt tokens still to compute, running or waiting */
	uint32_t blocks_used, blocks_total; /* used: pinned, or reserved for one sequence */
	uint32_t blocks_cached;             /* pinned or not */
	uint32_t running_max;               /* most at once since the start */
	/* Totals since the start. Prompt tokens count at admission. */
	uint64_t prompt_tokens, cached_tokens, generated_tokens;
	uint64_t served, aborted, refused;
};

struct engine_load engine_model_load(const struct engine_model *model);

/* How many of these blocks, from the first one on, are in its cache now. */
uint32_t engine_model_match(const struct engine_model *model, const uint64_t *blocks,
                            uint32_t count);
