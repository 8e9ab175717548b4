/* sample.c - conversations begin at random, one on average every SAMPLE_EVERY; each
 * belongs to one of a few applications, whose system prompt it begins with. A turn is
 * the whole conversation so far, and some more. */
#include "spoa/replay/sample.h"

#include <math.h>

#include "policies/core/rng.h"

enum {
	APPLICATIONS = 6,
	TURNS_MAX = 12,
	CONTEXT_MAX = 120000, /* tokens */
};

static const double conversation_every = 0.55; /* seconds */
static const double turn_after = 25;           /* seconds to read and to type */
static const double go_on = 0.72;              /* how likely another turn is */

struct conversation {
	uint64_t number;
	uint32_t application;
	uint32_t tokens; /* so far */
};

static double exponential(struct rng *rng, double mean)
{
	return -mean * log(1 - rng_unit(rng));
}

/* Most are short and a few very long: log-normal. */
static uint32_t length(struct rng *rng, double median, double spread, uint32_t most)
{
	double normal =
	        sqrt(-2 * log(1 - rng_unit(rng))) * cos(2 * 3.14159265358979323846 * rng_unit(rng));
	double tokens = median * exp(spread * normal);

	return tokens < 1 ? 1 : tokens > most ? most : (uint32_t)tokens;
}

static uint32_t system_tokens(uint32_t application)
{
	static const uint32_t tokens[APPLICATIONS] = { 300, 1100, 2100, 4200, 6500, 900 };

	return tokens[application];
}

/* Blocks that lie in the system prompt are the application's, the others the
 * conversation's. */
static uint64_t block_of(const struct conversation *talk, uint32_t block)
{
	uint32_t end = (block + 1) * TRACE_BLOCK_TOKENS;
	bool shared = end <= system_tokens(talk->application);
	struct rng mix = { shared ? talk->application : talk->number + APPLICATIONS };

	mix.state = rng_next(&mix) + block;
	return rng_next(&mix);
}

static bool add_turn(struct trace *trace, const struct ladder *ladder,
                     const struct conversation *talk, usec_t at, uint32_t answer)
{
	uint64_t bytes = (uint64_t)talk->tokens * TRACE_BYTES_PER_TOKEN;
	struct trace_request *request;

	if (!trace_add(trace, talk->tokens / TRACE_BLOCK_TOKENS, ladder_usable(ladder, bytes),
	               &request))
		return false;
	request->at = at;
	request->bytes = bytes;
	request->input_tokens = talk->tokens;
	request->output_tokens = answer;
	request->session = (uint32_t)talk->number + 1;
	for (uint32_t i = 0; i < request->block_count; i++)
		request->blocks[i] = block_of(talk, i);
	trace_hash(request, ladder);
	return true;
}

static bool add_conversation(struct trace *trace, const struct ladder *ladder, struct rng *rng,
                             struct conversation talk, double at, size_t room)
{
	for (int turn = 0; turn < TURNS_MAX && trace->count < room; turn++) {
		uint32_t answer = length(rng, 180, 0.9, 4000);

		talk.tokens += length(rng, turn == 0 ? 1500 : 120, 1.4, 60000);
		if (talk.tokens > CONTEXT_MAX)
			return true;
		if (!add_turn(trace, ladder, &talk, (usec_t)(at * 1e6), answer))
			return false;
		talk.tokens += answer;
		if (rng_unit(rng) > go_on)
			return true;
		at += answer / 40.0 + exponential(rng, turn_after);
	}
	return true;
}

struct trace *sample_trace(const struct ladder *ladder, size_t requests, uint64_t seed)
{
	struct trace *trace = trace_new();
	struct rng rng = { seed };
	double at = 0;

	for (uint64_t number = 0; trace && trace->count < requests; number++) {
		struct conversation talk = { .number = number };

		talk.application = (uint32_t)rng_below(&rng, APPLICATIONS);
		talk.tokens = system_tokens(talk.application);
		at += exponential(&rng, conversation_every);
		if (!add_conversation(trace, ladder, &rng, talk, at, requests)) {
			trace_free(trace);
			return NULL;
		}
	}
	if (!trace)
		return NULL;
	trace->has_prompts = true;
	trace_sort(trace);
	return trace;
}
