/* engine_model.c - seats, a queue, and the arithmetic of a step.
 *
 * Sequences live in a fixed array of seats and waiting places; a ticket is a place in it. The batch
 * is an array in order of admission, the queue a list, since a sequence may leave it anywhere. */
#include "spoa/replay/engine_model.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "spoa/replay/prefix_cache.h"

#define NONE UINT32_MAX /* beyond what an enum may hold */

enum sequence_state { UNUSED, WAITING, PREFILLING, DECODING };

struct sequence {
	enum sequence_state state;
	struct engine_job job;
	uint32_t before, after; /* in the queue; after also links the unused */
	uint32_t uncomputed;    /* prompt tokens */
	uint32_t produced;      /* output tokens */
	uint32_t pinned;        /* leading blocks that are in the cache */
	uint32_t reserved;      /* blocks of its own, not in the cache */
	uint32_t cached_tokens; /* found at admission */
};

struct engine_model {
	struct engine_settings settings;
	struct prefix_cache *cache;
	struct sequence *sequences;
	uint32_t *batch; /* tickets in order of admission */
	uint32_t places, unused;
	uint32_t first_waiting, last_waiting;
	uint32_t reserved;
	int64_t step_end; /* INT64_MAX: idle */
	struct engine_load load;
};

struct engine_settings engine_settings_default(void)
{
	return (struct engine_settings){
		.step_us = 8000,
		.prefill_rate = 10000,
		.decode_us = 150,
		.step_tokens = 8192,
		.max_running = 64,
		.max_waiting = 1024,
		.kv_blocks = 3000,
		.block_tokens = 512,
	};
}

static uint32_t blocks_for(const struct engine_model *model, uint64_t tokens)
{
	uint32_t size = model->settings.block_tokens;

	return (uint32_t)((tokens + size - 1) / size);
}

/* Blocks of the prompt that need not be computed: at least one token is. */
static uint32_t reusable_blocks(const struct engine_model *model, const struct engine_job *job)
{
	uint32_t held = prefix_cache_match(model->cache, job->blocks, job->block_count);
	uint32_t most = (job->prompt_tokens - 1) / model->settings.block_tokens;

	return held < most ? held : most;
}

static void enqueue(struct engine_model *model, uint32_t ticket)
{
	struct sequence *sequence = &model->sequences[ticket];

	sequence->before = model->last_waiting;
	sequence->after = NONE;
	if (model->last_waiting != NONE)
		model->sequences[model->last_waiting].after = ticket;
	else
		model->first_waiting = ticket;
	model->last_waiting = ticket;
	model->load.waiting++;
}

static void leave_queue(struct engine_model *model, uint32_t ticket)
{
	const struct sequence *sequence = &model->sequences[ticket];

	if (sequence->before != NONE)
		model->sequences[sequence->before].after = sequence->after;
	else
		model->first_waiting = sequence->after;
	if (sequence->after != NONE)
		model->sequences[sequence->after].before = sequence->before;
	else
		model->last_waiting = sequence->before;
	model->load.waiting--;
}

static void leave_batch(struct engine_model *model, uint32_t ticket)
{
	uint32_t i = 0;

	while (model->batch[i] != ticket)
		i++;
	model->load.running--;
	memmove(&model->batch[i], &model->batch[i + 1],
	        (model->load.running - i) * sizeof(*model->batch));
}

static void vacate(struct engine_model *model, uint32_t ticket)
{
	struct sequence *sequence = &model->sequences[ticket];

	*sequence = (struct sequence){ .state = UNUSED, .after = model->unused };
	model->unused = ticket;
}

/* The tail becomes idle first, so that the head, which more prompts share, leaves last. */
static void give_blocks_back(struct engine_model *model, struct sequence *sequence)
{
	while (sequence->pinned > 0)
		prefix_cache_unpin(model->cache, sequence->job.blocks[--sequence->pinned]);
	model->reserved -= sequence->reserved;
	sequence->reserved = 0;
}

/* Pins what is cached and reserves the rest; false, and nothing changed, without room. */
static bool takes_blocks(struct engine_model *model, struct sequence *sequence)
{
	const struct engine_job *job = &sequence->job;
	uint32_t total = blocks_for(model, (uint64_t)job->prompt_tokens + job->output_tokens);
	uint32_t matched = reusable_blocks(model, job);
	uint32_t need = total - matched;
	uint32_t in_use;

	for (uint32_t i = 0; i < matched; i++)
		prefix_cache_pin(model->cache, job->blocks[i]);
	sequence->pinned = matched;
	in_use = prefix_cache_pinned(model->cache) + model->reserved;
	if (need > model->settings.kv_blocks - in_use) {
		give_blocks_back(model, sequence);
		return false;
	}
	while (prefix_cache_count(model->cache) + model->reserved + need >
	       model->settings.kv_blocks)
		(void)prefix_cache_evict(model->cache);
	model->reserved += need;
	sequence->reserved = need;
	sequence->cached_tokens = matched * model->settings.block_tokens;
	return true;
}

static bool admits(struct engine_model *model, uint32_t ticket)
{
	struct sequence *sequence = &model->sequences[ticket];
	uint32_t left;

	if (!takes_blocks(model, sequence))
		return false;
	leave_queue(model, ticket);
	left = sequence->job.computed ? 1 : sequence->job.prompt_tokens - sequence->cached_tokens;
	model->load.prefill_tokens -= sequence->uncomputed - left;
	sequence->uncomputed = left;
	sequence->state = PREFILLING;
	model->batch[model->load.running++] = ticket;
	if (model->load.running > model->load.running_max)
		model->load.running_max = model->load.running;
	model->load.prompt_tokens += sequence->job.prompt_tokens;
	model->load.cached_tokens += sequence->cached_tokens;
	return true;
}

static void begin_step(struct engine_model *model, int64_t now)
{
	const struct engine_settings *settings = &model->settings;
	uint32_t decoding = 0;
	uint32_t prefill = 0;
	uint32_t budget;

	while (model->first_waiting != NONE && model->load.running < settings->max_running) {
		if (!admits(model, model->first_waiting))
			break;
	}
	model->step_end = INT64_MAX;
	if (model->load.running == 0)
		return;
	for (uint32_t i = 0; i < model->load.running; i++)
		decoding += model->sequences[model->batch[i]].state == DECODING;
	budget = settings->step_tokens > decoding ? settings->step_tokens - decoding : 0;
	for (uint32_t i = 0; i < model->load.running && prefill < budget; i++) {
		struct sequence *sequence = &model->sequences[model->batch[i]];
		uint32_t left = budget - prefill;
		uint32_t take = sequence->uncomputed < left ? sequence->uncomputed : left;

		sequence->uncomputed -= take;
		prefill += take;
	}
	model->load.prefill_tokens -= prefill;
	model->step_end = now + settings->step_us + (int64_t)decoding * settings->decode_us +
	                  (int64_t)prefill * 1000000 / settings->prefill_rate;
}

/* The prompt's full blocks become cache blocks. One that another sequence cached meanwhile is
 * shared, and ours is free again. */
static void publish_blocks(struct engine_model *model, struct sequence *sequence)
{
	const struct engine_job *job = &sequence->job;
	uint32_t full = job->prompt_tokens / model->settings.block_tokens;

	if (full > job->block_count)
		full = job->block_count;
	for (uint32_t i = sequence->pinned; i < full; i++) {
		if (prefix_cache_holds(model->cache, job->blocks[i]))
			prefix_cache_pin(model->cache, job->blocks[i]);
		else
			prefix_cache_add(model->cache, job->blocks[i]);
		model->reserved--;
		sequence->reserved--;
		sequence->pinned++;
	}
}

/* True when this was the sequence's last token. */
static bool makes_a_token(struct engine_model *model, struct sequence *sequence,
                          struct engine_event *event)
{
	event->kind = ENGINE_TOKEN;
	if (sequence->state == PREFILLING) {
		publish_blocks(model, sequence);
		sequence->state = DECODING;
		event->kind = ENGINE_FIRST_TOKEN;
	}
	sequence->produced++;
	model->load.generated_tokens++;
	return sequence->produced == sequence->job.output_tokens;
}

static void end_step(struct engine_model *model, engine_listener *listener, void *context)
{
	uint32_t before = model->load.running;
	uint32_t staying = 0;

	for (uint32_t i = 0; i < before; i++) {
		uint32_t ticket = model->batch[i];
		struct sequence *sequence = &model->sequences[ticket];
		struct engine_event event = { .at = model->step_end,
			                      .user = sequence->job.user,
			                      .cached_tokens = sequence->cached_tokens };
		bool last;

		model->batch[staying++] = ticket;
		if (sequence->uncomputed > 0)
			continue;
		last = makes_a_token(model, sequence, &event);
		listener(context, &event);
		if (!last)
			continue;
		give_blocks_back(model, sequence);
		vacate(model, ticket);
		staying--;
		model->load.served++;
		event.kind = ENGINE_DONE;
		listener(context, &event);
	}
	model->load.running = staying;
}

struct engine_model *engine_model_new(const struct engine_settings *settings)
{
	struct engine_model *model;

	BUG_ON(settings->prefill_rate == 0 || settings->max_running == 0);
	BUG_ON(settings->kv_blocks == 0 || settings->block_tokens == 0 ||
	       settings->step_tokens == 0);
	model = calloc(1, sizeof(*model));
	if (!model)
		return NULL;
	model->settings = *settings;
	model->places = settings->max_running + settings->max_waiting;
	model->cache = prefix_cache_new(settings->kv_blocks);
	model->sequences = calloc(model->places, sizeof(*model->sequences));
	model->batch = calloc(settings->max_running, sizeof(*model->batch));
	if (!model->cache || !model->sequences || !model->batch) {
		engine_model_free(model);
		return NULL;
	}
	engine_model_clear(model);
	return model;
}

void engine_model_free(struct engine_model *model)
{
	if (!model)
		return;
	prefix_cache_free(model->cache);
	free(model->sequences);
	free(model->batch);
	free(model);
}

void engine_model_clear(struct engine_model *model)
{
	BUG_ON(model->load.running + model->load.waiting > 0);
	prefix_cache_clear(model->cache);
	model->unused = NONE;
	for (uint32_t i = model->places; i-- > 0;)
		vacate(model, i);
	model->first_waiting = model->last_waiting = NONE;
	model->reserved = 0;
	model->step_end = INT64_MAX;
	model->load = (struct engine_load){ .blocks_total = model->settings.kv_blocks };
}

enum engine_answer engine_model_submit(struct engine_model *model, const struct engine_job *job,
                                       int64_t now, uint32_t *ret_ticket)
{
	uint32_t ticket = model->unused;

	BUG_ON(job->prompt_tokens == 0 || job->output_tokens == 0);
	if (blocks_for(model, (uint64_t)job->prompt_tokens + job->output_tokens) >
	    model->settings.kv_blocks) {
		model->load.refused++;
		return ENGINE_TOO_LARGE;
	}
	if (ticket == NONE) {
		model->load.refused++;
		return ENGINE_FULL;
	}
	model->unused = model->sequences[ticket].after;
	model->sequences[ticket] = (struct sequence){ .state = WAITING, .job = *job };
	model->sequences[ticket].uncomputed = job->computed ? 1 : job->prompt_tokens;
	model->load.prefill_tokens += model->sequences[ticket].uncomputed;
	enqueue(model, ticket);
	if (model->step_end == INT64_MAX)
		begin_step(model, now);
	*ret_ticket = ticket;
	return ENGINE_ACCEPTED;
}

void engine_model_abort(struct engine_model *model, uint32_t ticket)
{
	struct sequence *sequence;

	BUG_ON(ticket >= model->places || model->sequences[ticket].state == UNUSED);
	sequence = &model->sequences[ticket];
	model->load.prefill_tokens -= sequence->uncomputed;
	if (sequence->state == WAITING) {
		leave_queue(model, ticket);
	} else {
		leave_batch(model, ticket);
		give_blocks_back(model, sequence);
	}
	vacate(model, ticket);
	model->load.aborted++;
}

int64_t engine_model_next(const struct engine_model *model)
{
	return model->step_end;
}

void engine_model_advance(struct engine_model *model, int64_t now, engine_listener *listener,
                          void *context)
{
	while (model->step_end <= now) {
		int64_t ended = model->step_end;

		end_step(model, listener, context);
		begin_step(model, ended);
	}
}

struct engine_load engine_model_load(const struct engine_model *model)
{
	struct engine_load load = model->load;

	load.blocks_used = prefix_cache_pinned(model->cache) + model->reserved;
	load.blocks_cached = prefix_cache_count(model->cache);
	return load;
}

uint32_t engine_model_match(const struct engine_model *model, const uint64_t *blocks,
                            uint32_t count)
{
	return prefix_cache_match(model->cache, blocks, count);
}
