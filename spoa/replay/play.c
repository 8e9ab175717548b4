/* play.c - the virtual clock: requests come, engines take their steps, both in order of
 * time. */
#include "spoa/replay/play.h"

#include <stdlib.h>

#include "policies/core/bug.h"
#include "spoa/replay/balance.h"

static const usec_t start = SECOND; /* the clock's first moment: 0 means never to some */
enum { PROGRESS_EVERY = 256 };

struct flying {
	struct play *play;
	size_t request;
	usec_t at;
	usec_t token_at; /* the last one */
	uint32_t replica;
};

struct gaps {
	uint64_t count;
	usec_t sum;
};

struct play {
	const struct trace *trace;
	struct play_settings settings;
	const struct chooser *chooser;
	struct engine_model **engines;
	struct engine_settings *engine_settings;
	struct flying *flying;
	double *ttft, *e2e; /* seconds, in order of events */
	size_t started, ended;
	uint32_t *inflight;
	uint64_t *served;
	struct gaps *gaps;
	uint64_t inflight_all;
	double spread_sum;
	struct balance *balance;
	usec_t second; /* the next one */
	usec_t last;
};

struct play_settings play_settings_default(void)
{
	struct play_settings settings = { .replicas = 8,
		                          .speed = 1,
		                          .engine = engine_settings_default() };

	settings.engine.max_waiting = 100000;
	return settings;
}

uint32_t play_replicas(const struct play *play)
{
	return play->settings.replicas;
}

const struct trace_request *play_request(const struct play *play, size_t request)
{
	return &play->trace->requests[request];
}

struct engine_load play_load(const struct play *play, uint32_t replica)
{
	return engine_model_load(play->engines[replica]);
}

uint32_t play_match(const struct play *play, uint32_t replica, size_t request)
{
	const struct trace_request *asked = play_request(play, request);

	return engine_model_match(play->engines[replica], asked->blocks, asked->block_count);
}

const struct engine_settings *play_engine(const struct play *play, uint32_t replica)
{
	return &play->engine_settings[replica];
}

double play_gaps(const struct play *play, uint32_t replica, double *ret_count)
{
	*ret_count = (double)play->gaps[replica].count;
	return (double)play->gaps[replica].sum / 1e6;
}

static void note_token(struct play *play, struct flying *flying, const struct engine_event *event)
{
	if (event->kind == ENGINE_TOKEN) {
		play->gaps[flying->replica].count++;
		play->gaps[flying->replica].sum += (usec_t)event->at - flying->token_at;
	}
	flying->token_at = (usec_t)event->at;
}

static void on_event(void *context, const struct engine_event *event)
{
	struct flying *flying = event->user;
	struct play *play = context;
	const struct chooser *chooser = play->chooser;
	usec_t elapsed = (usec_t)event->at - flying->at;

	play->last = (usec_t)event->at;
	note_token(play, flying, event);
	if (event->kind == ENGINE_FIRST_TOKEN) {
		play->ttft[play->started++] = (double)elapsed / 1e6;
		if (chooser->first_byte)
			chooser->first_byte(chooser->data, flying->request, flying->replica,
			                    (usec_t)event->at);
	}
	if (event->kind == ENGINE_DONE) {
		play->e2e[play->ended++] = (double)elapsed / 1e6;
		play->inflight[flying->replica]--;
		play->inflight_all--;
		if (chooser->done)
			chooser->done(chooser->data, flying->request, flying->replica,
			              (usec_t)event->at, elapsed);
	}
}

/* All steps that are over before then, and the seconds between them, in order of time. */
static void advance(struct play *play, usec_t until)
{
	for (;;) {
		int64_t next = INT64_MAX;
		uint32_t which = 0;

		for (uint32_t i = 0; i < play->settings.replicas; i++) {
			if (engine_model_next(play->engines[i]) < next) {
				next = engine_model_next(play->engines[i]);
				which = i;
			}
		}
		if (play->second <= until && (usec_t)next >= play->second) {
			if (next == INT64_MAX && until == UINT64_MAX)
				return;
			if (play->chooser->second)
				play->chooser->second(play->chooser->data, play, play->second);
			play->second += SECOND;
			continue;
		}
		if (next == INT64_MAX || (usec_t)next > until)
			return;
		engine_model_advance(play->engines[which], next, on_event, play);
	}
}

static void note_load(struct play *play, uint32_t chosen)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < play->settings.replicas; i++) {
		if (play->inflight[i] > most)
			most = play->inflight[i];
	}
	play->spread_sum += play->inflight_all > 0 ? (double)most * play->settings.replicas /
	                                                     (double)play->inflight_all
	                                           : 1;
	balance_add(play->balance, chosen);
}

static void arrive(struct play *play, size_t i)
{
	const struct trace_request *request = play_request(play, i);
	struct flying *flying = &play->flying[i];
	struct engine_job job = { .blocks = request->blocks,
		                  .block_count = request->block_count,
		                  .prompt_tokens = request->input_tokens,
		                  .output_tokens = request->output_tokens,
		                  .user = flying };
	uint32_t ticket;

	*flying = (struct flying){ .play = play, .request = i };
	flying->at = start + (usec_t)((double)request->at / play->settings.speed);
	advance(play, flying->at);
	flying->replica = play->chooser->choose(play->chooser->data, play, i, flying->at);
	BUG_ON(flying->replica >= play->settings.replicas);
	note_load(play, flying->replica);
	play->served[flying->replica]++;
	if (engine_model_submit(play->engines[flying->replica], &job, (int64_t)flying->at,
	                        &ticket) != ENGINE_ACCEPTED) {
		/* Larger than the engine: answered at once, as an engine would refuse it. */
		if (play->chooser->done)
			play->chooser->done(play->chooser->data, i, flying->replica, flying->at, 0);
		return;
	}
	play->inflight[flying->replica]++;
	play->inflight_all++;
}

static uint32_t times(uint32_t number, double factor)
{
	double product = (double)number * factor;

	return product < 1 ? 1 : (uint32_t)product;
}

static bool begin(struct play *play)
{
	uint32_t replicas = play->settings.replicas;
	size_t count = play->trace->count;

	play->second = start + SECOND;
	play->engines = calloc(replicas, sizeof(struct engine_model *));
	play->engine_settings = calloc(replicas, sizeof(*play->engine_settings));
	play->inflight = calloc(replicas, sizeof(*play->inflight));
	play->served = calloc(replicas, sizeof(*play->served));
	play->gaps = calloc(replicas, sizeof(*play->gaps));
	play->flying = calloc(count, sizeof(*play->flying));
	play->ttft = calloc(count, sizeof(*play->ttft));
	play->e2e = calloc(count, sizeof(*play->e2e));
	play->balance = balance_new(replicas);
	if (!play->engines || !play->engine_settings || !play->inflight || !play->served ||
	    !play->gaps || !play->flying || !play->ttft || !play->e2e || !play->balance)
		return false;
	for (uint32_t i = 0; i < replicas; i++) {
		double speed = play->settings.speeds ? play->settings.speeds[i] : 1;
		struct engine_settings engine = play->settings.engine;

		engine.step_us = times(engine.step_us, 1 / speed);
		engine.decode_us = times(engine.decode_us, 1 / speed);
		engine.prefill_rate = times(engine.prefill_rate, speed);
		play->engine_settings[i] = engine;
		play->engines[i] = engine_model_new(&engine);
		if (!play->engines[i])
			return false;
	}
	return true;
}

static void end(struct play *play)
{
	for (uint32_t i = 0; play->engines && i < play->settings.replicas; i++)
		engine_model_free(play->engines[i]);
	free(play->engines);
	free(play->engine_settings);
	free(play->inflight);
	free(play->served);
	free(play->gaps);
	free(play->flying);
	free(play->ttft);
	free(play->e2e);
	balance_free(play->balance);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void quantiles(double *values, size_t count, double *ret_mean, double *ret_p50,
                      double *ret_p99)
{
	if (count == 0)
		return;
	qsort(values, count, sizeof(*values), by_value);
	for (size_t i = 0; i < count; i++)
		*ret_mean += values[i] / (double)count;
	*ret_p50 = values[count / 2];
	*ret_p99 = values[count * 99 / 100];
}

static void summarize(struct play *play, struct play_result *ret)
{
	uint64_t prompt = 0, cached = 0, most = 0;

	*ret = (struct play_result){ .answered = play->ended };
	quantiles(play->ttft, play->started, &ret->ttft_mean, &ret->ttft_p50, &ret->ttft_p99);
	quantiles(play->e2e, play->ended, &ret->e2e_mean, &ret->e2e_p50, &ret->e2e_p99);
	for (uint32_t i = 0; i < play->settings.replicas; i++) {
		struct engine_load load = play_load(play, i);

		prompt += load.prompt_tokens;
		cached += load.cached_tokens;
		if (play->served[i] > most)
			most = play->served[i];
	}
	ret->hit_share = prompt > 0 ? (double)cached / (double)prompt : 0;
	ret->most_over_mean = (double)most * play->settings.replicas / (double)play->trace->count;
	ret->load_spread = play->spread_sum / (double)play->trace->count;
	ret->until_balance = balance_reached(play->balance);
	ret->end = (double)(play->last > start ? play->last - start : 0) / 1e6;
}

bool play(const struct trace *trace, const struct play_settings *settings,
          const struct chooser *chooser, void (*progress)(void *data, double share),
          void *progress_data, struct play_result *ret_result)
{
	struct play run = { .trace = trace, .settings = *settings, .chooser = chooser };
	bool begun = begin(&run);

	for (size_t i = 0; begun && i < trace->count; i++) {
		arrive(&run, i);
		if (progress && i % PROGRESS_EVERY == 0)
			progress(progress_data, (double)i / (double)trace->count);
	}
	if (begun) {
		advance(&run, UINT64_MAX);
		summarize(&run, ret_result);
	}
	end(&run);
	return begun;
}
