/* route_trace.c - how well the library itself routes a recorded trace: a
 * discrete-event simulation of engines behind the real decider, on a virtual clock.
 *
 * Nothing of the library is imitated: requests come as HAProxy would send them
 * (hashes of the ladder's blocks), answers go back as first bytes and ends. The
 * engines are tests/sim/engine_model. The oracle sees every engine's true cache and
 * queue and takes the earliest first token; it is greedy, so no lower bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/defaults.h"
#include "policies/feedback.h"
#include "policies/pipeline.h"
#include "policies/strategies.h"
#include "tests/bench/trace.h"
#include "spoa/replay/engine_model.h"

enum { ENGINES = 8, ID_MAX = 32 };

static const uint64_t start = SECOND; /* the virtual clock's first moment */

struct play {
	const struct trace *trace;
	double speed;
	const struct strategy *strategy; /* NULL: the oracle */
	struct policy policy;
	struct facts *facts;
	struct decider *decider;
	struct engine_model *engines[ENGINES];
	struct flying *flying;
	double *ttft; /* seconds, in order of first tokens */
	size_t answered;
	uint64_t served[ENGINES];
};

struct flying {
	struct play *play;
	const struct trace_request *request;
	uint64_t at;
	uint32_t engine;
	char id[ID_MAX];
};

struct result {
	double mean, p50, p99, hit_share, most_over_mean;
};

static struct span text(const char *at)
{
	return (struct span){ at, strlen(at) };
}

static void address_of(uint32_t engine, char ret_address[ADDRESS_MAX_BYTES])
{
	(void)snprintf(ret_address, ADDRESS_MAX_BYTES, "10.0.0.%u:8000", engine + 1);
}

/* ---- what HAProxy would send */

/* The hash of a ladder's block: of the trace's blocks it covers, and of where it
 * begins in the first of them. */
static uint64_t hash_of(const struct trace_request *request, uint32_t offset, uint32_t length)
{
	struct rng mix = { offset % TRACE_BLOCK_BYTES };

	for (uint32_t at = offset; at < offset + length; at += TRACE_BLOCK_BYTES) {
		uint32_t block = at / TRACE_BLOCK_BYTES;

		mix.state = rng_next(&mix) ^
		            (block < request->block_count ? request->blocks[block] : 0);
	}
	return rng_next(&mix);
}

static void ask(const struct play *play, const struct flying *flying, struct request *ret_request)
{
	const struct ladder *ladder = &play->policy.ladder;
	uint64_t bytes = (uint64_t)flying->request->input_tokens * 4;

	*ret_request = (struct request){
		.id = text(flying->id),
		.model = text("demo"),
		.has_prompt = true,
		.prompt_bytes = bytes,
		.body_bytes = bytes,
		.body_total = bytes,
		.hash_count = ladder_usable(ladder, bytes),
	};
	for (uint32_t i = 0; i < ret_request->hash_count; i++)
		ret_request->hashes[i] =
		        hash_of(flying->request, ladder->offset[i], ladder->length[i]);
}

/* ---- who is chosen */

static double first_token_at(const struct engine_model *engine, const struct trace_request *request)
{
	struct engine_load load = engine_model_load(engine);
	uint32_t whole = request->input_tokens / TRACE_BLOCK_TOKENS;
	uint32_t held = engine_model_match(engine, request->blocks, whole);
	double work = (double)load.prefill_tokens + request->input_tokens -
	              (double)held * TRACE_BLOCK_TOKENS;
	double decode = load.running * 150e-6;
	uint32_t need = whole + 1 - held + request->output_tokens / TRACE_BLOCK_TOKENS + 1;
	double at = work / 10000 + ceil(work / 8192) * (decode + 8e-3);

	if (load.blocks_used + need > load.blocks_total || load.running >= 64)
		at += 5;                                     /* it would wait for room */
	return at + 0.001 * decode * request->output_tokens; /* and be slowed by the others */
}

static uint32_t choose_by_oracle(const struct play *play, const struct flying *flying)
{
	double best_at = (double)INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < ENGINES; i++) {
		double at = first_token_at(play->engines[i], flying->request);

		if (at < best_at) {
			best_at = at;
			best = i;
		}
	}
	return best;
}

static uint32_t choose(struct play *play, const struct flying *flying, uint64_t now)
{
	struct request request;
	struct decision decision;

	if (!play->strategy)
		return choose_by_oracle(play, flying);
	ask(play, flying, &request);
	decider_decide(play->decider, &request, now, &decision);
	if (decision.outcome != OUTCOME_ROUTED || !decision.replica) {
		(void)fprintf(stderr, "request %s was not routed: %s\n", flying->id,
		              reason_name(decision.reason));
		exit(1);
	}
	return (uint32_t)strtoul(fleet_replica_name(decision.replica, 0) + 1, NULL, 10);
}

/* ---- what happens to it */

static struct served served_by(const struct flying *flying, char address[ADDRESS_MAX_BYTES])
{
	address_of(flying->engine, address);
	return (struct served){ .backend = text("pool"), .address = text(address) };
}

static void on_event(void *context, const struct engine_event *event)
{
	struct flying *flying = event->user;
	struct play *play = context;
	char address[ADDRESS_MAX_BYTES];

	if (event->kind == ENGINE_FIRST_TOKEN)
		play->ttft[play->answered++] = (double)((uint64_t)event->at - flying->at) / 1e6;
	if (!play->strategy)
		return;
	if (event->kind == ENGINE_FIRST_TOKEN) {
		struct first_byte first = { text(flying->id), served_by(flying, address), 200 };

		(void)feedback_first_byte(play->facts, &first, (usec_t)event->at);
	}
	if (event->kind == ENGINE_DONE) {
		struct stream_end end = {
			.id = text(flying->id),
			.by = served_by(flying, address),
			.status = 200,
			.termination = "----",
			.routed = true,
			.applied = true,
			.decided_ms = 1,
			.first_byte_ms = 1,
			.total_ms = (int32_t)(((uint64_t)event->at - flying->at) / 1000),
		};

		(void)feedback_end(play->facts, &end, (usec_t)event->at);
	}
}

/* All engine steps that are over by then, in order of time. */
static void advance(struct play *play, uint64_t until)
{
	for (;;) {
		int64_t next = INT64_MAX;
		uint32_t which = 0;

		for (uint32_t i = 0; i < ENGINES; i++) {
			if (engine_model_next(play->engines[i]) < next) {
				next = engine_model_next(play->engines[i]);
				which = i;
			}
		}
		if (next == INT64_MAX || (uint64_t)next > until)
			return;
		engine_model_advance(play->engines[which], next, on_event, play);
	}
}

static void arrive(struct play *play, size_t i)
{
	struct flying *flying = &play->flying[i];
	const struct trace_request *request = &play->trace->requests[i];
	uint32_t ticket;

	*flying = (struct flying){ .play = play, .request = request };
	flying->at = start + (uint64_t)((double)request->at / play->speed);
	(void)snprintf(flying->id, sizeof(flying->id), "t%zu", i);
	advance(play, flying->at);
	flying->engine = choose(play, flying, flying->at);
	play->served[flying->engine]++;
	if (engine_model_submit(
	            play->engines[flying->engine],
	            &(struct engine_job){ .blocks = request->blocks,
	                                  .block_count = request->input_tokens / TRACE_BLOCK_TOKENS,
	                                  .prompt_tokens = request->input_tokens,
	                                  .output_tokens = request->output_tokens,
	                                  .user = flying },
	            (int64_t)flying->at, &ticket) != ENGINE_ACCEPTED) {
		(void)fprintf(stderr, "engine %u refused request %zu\n", flying->engine, i);
		exit(1);
	}
}

/* ---- a whole trace */

static void list_servers(struct play *play)
{
	struct server_fact servers[ENGINES];
	char names[ENGINES][8];
	char addresses[ENGINES][ADDRESS_MAX_BYTES];

	for (uint32_t i = 0; i < ENGINES; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "r%u", i);
		address_of(i, addresses[i]);
		servers[i] = (struct server_fact){ .backend = text("pool"),
			                           .server = text(names[i]),
			                           .address = text(addresses[i]),
			                           .weight = 100,
			                           .up = true };
	}
	(void)fleet_apply(play->facts->fleet, 0, servers, ENGINES, start, NULL, NULL);
	for (uint32_t i = 0; i < ENGINES; i++) {
		const struct target *target =
		        fleet_target_at(play->facts->fleet, text(addresses[i]));

		/* What the scraper learns from the engine's page. */
		prefix_index_budget(play->facts->prefix, target->id, 3000.0 * TRACE_BLOCK_BYTES);
	}
}

static void begin(struct play *play)
{
	struct engine_settings settings = engine_settings_default();

	settings.max_waiting = 100000;
	for (uint32_t i = 0; i < ENGINES; i++)
		play->engines[i] = engine_model_new(&settings);
	play->flying = calloc(play->trace->count, sizeof(*play->flying));
	play->ttft = calloc(play->trace->count, sizeof(*play->ttft));
	policy_default(&play->policy);
	if (!play->strategy)
		return;
	entry_default(&play->policy.default_instance.chain[0], play->strategy);
	entry_default(&play->policy.default_rule.chain[0], play->strategy);
	play->facts = facts_new(&play->policy, &(struct fleet_limits){ 4, 64, 16 });
	play->decider = play->facts ? decider_new(play->facts, 42) : NULL;
	if (!play->decider)
		exit(1);
	list_servers(play);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct result summary(struct play *play)
{
	struct result outcome = { 0 };
	uint64_t prompt = 0, cached = 0, most = 0;

	qsort(play->ttft, play->answered, sizeof(double), by_value);
	for (size_t i = 0; i < play->answered; i++)
		outcome.mean += play->ttft[i] / (double)play->answered;
	outcome.p50 = play->ttft[play->answered / 2];
	outcome.p99 = play->ttft[play->answered * 99 / 100];
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct engine_load load = engine_model_load(play->engines[i]);

		prompt += load.prompt_tokens;
		cached += load.cached_tokens;
		if (play->served[i] > most)
			most = play->served[i];
	}
	outcome.hit_share = (double)cached / (double)prompt;
	outcome.most_over_mean = (double)most * ENGINES / (double)play->trace->count;
	return outcome;
}

static void end(struct play *play)
{
	for (uint32_t i = 0; i < ENGINES; i++)
		engine_model_free(play->engines[i]);
	decider_free(play->decider);
	facts_free(play->facts);
	free(play->flying);
	free(play->ttft);
}

static struct result play_trace(const struct trace *trace, const struct strategy *strategy,
                                double speed)
{
	struct play play = { .trace = trace, .strategy = strategy, .speed = speed };
	struct result outcome;

	begin(&play);
	for (size_t i = 0; i < trace->count; i++)
		arrive(&play, i);
	advance(&play, UINT64_MAX / 2);
	if (play.answered != trace->count)
		(void)fprintf(stderr, "%zu of %zu answered\n", play.answered, trace->count);
	outcome = summary(&play);
	end(&play);
	return outcome;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "oracle",        "least-work",    "prefix-cache",
		                             "least-request", "soft-k-choice", "power-of-two",
		                             "random" };
	static const double speeds[] = { 1, 1.5, 2 };
	struct trace *trace = argc == 2 ? trace_load(argv[1], 3 * SECOND, 1) : NULL;
	double oracle[3] = { 0 };

	if (!trace) {
		(void)fprintf(stderr, "usage: route_trace TRACE.jsonl\n");
		return 2;
	}
	(void)printf("strategy load ttft_mean_s ttft_p50_s ttft_p99_s hit_share most_over_mean "
	             "mean_over_oracle\n");
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		for (size_t s = 0; s < 3; s++) {
			struct result got = play_trace(
			        trace, n ? strategy_named(text(names[n])) : NULL, speeds[s]);

			if (n == 0)
				oracle[s] = got.mean;
			(void)printf("%s %g %.3f %.3f %.3f %.3f %.3f %.3f\n", names[n], speeds[s],
			             got.mean, got.p50, got.p99, got.hit_share, got.most_over_mean,
			             got.mean / oracle[s]);
			(void)fflush(stdout);
		}
	}
	trace_free(trace);
	return 0;
}
