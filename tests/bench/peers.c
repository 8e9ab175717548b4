/* peers.c - each knows its own requests in flight and where it sent which blocks. */
#include "tests/bench/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/rng.h"
#include "spoa/replay/prefix_cache.h"

enum { INDEX_BLOCKS = 1 << 19 };

struct peer_router {
	uint32_t (*choose)(struct peer_router *peer, size_t request);
	const struct play *play;
	uint32_t replicas;
	uint32_t *inflight;
	uint32_t *match; /* blocks of the request under way, by its own index */
	uint32_t deepest, most, least;
	struct prefix_cache **index;
	struct rng rng;
};

/* ---- whom */

/* The lowest cost; of equal ones each is as likely. */
static uint32_t lowest(struct peer_router *peer,
                       double (*cost)(const struct peer_router *, uint32_t))
{
	double low = (double)INFINITY;
	uint32_t best = 0, equals = 0;

	for (uint32_t i = 0; i < peer->replicas; i++) {
		double now = cost(peer, i);

		if (now < low - 1e-12) {
			low = now;
			best = i;
			equals = 1;
		} else if (now <= low + 1e-12 && rng_below(&peer->rng, ++equals) == 0) {
			best = i;
		}
	}
	return best;
}

static double by_inflight(const struct peer_router *peer, uint32_t i)
{
	return peer->inflight[i];
}

/* Deepest first, then the fewest in flight. */
static double by_match(const struct peer_router *peer, uint32_t i)
{
	return peer->inflight[i] - 1e6 * peer->match[i];
}

static double by_index(const struct peer_router *peer, uint32_t i)
{
	return prefix_cache_count(peer->index[i]);
}

static uint32_t choose_least(struct peer_router *peer, size_t request)
{
	(void)request;
	return lowest(peer, by_inflight);
}

static uint32_t choose_longest(struct peer_router *peer, size_t request)
{
	(void)request;
	return lowest(peer, peer->deepest > 0 ? by_match : by_inflight);
}

static double share(const struct peer_router *peer, size_t request, uint32_t blocks)
{
	uint32_t count = play_request(peer->play, request)->block_count;

	return count > 0 ? (double)blocks / count : 0;
}

static uint32_t choose_sglang(struct peer_router *peer, size_t request)
{
	if (peer->most - peer->least > 64 && peer->most > 1.5 * peer->least)
		return lowest(peer, by_inflight);
	return lowest(peer, share(peer, request, peer->deepest) > 0.3 ? by_match : by_index);
}

static double deviation(const struct peer_router *peer, double mean)
{
	double sum = 0;

	for (uint32_t i = 0; i < peer->replicas; i++)
		sum += (peer->inflight[i] - mean) * (peer->inflight[i] - mean);
	return sqrt(sum / peer->replicas);
}

static uint32_t choose_aibrix(struct peer_router *peer, size_t request)
{
	double mean = 0, most;
	uint32_t best = peer->replicas;

	(void)request;
	if (peer->most - peer->least > 8)
		return lowest(peer, by_inflight);
	for (uint32_t i = 0; i < peer->replicas; i++)
		mean += (double)peer->inflight[i] / peer->replicas;
	most = mean + deviation(peer, mean);
	for (uint32_t i = 0; i < peer->replicas; i++) {
		if (peer->match[i] == 0 || peer->inflight[i] > most)
			continue;
		if (best == peer->replicas || by_match(peer, i) < by_match(peer, best))
			best = i;
	}
	return best < peer->replicas ? best : lowest(peer, by_inflight);
}

static uint32_t choose_llmd(struct peer_router *peer, size_t request)
{
	uint32_t most = 0, fewest = UINT32_MAX, best = 0;
	double high = -1;

	for (uint32_t i = 0; i < peer->replicas; i++) {
		uint32_t waiting = play_load(peer->play, i).waiting;

		most = waiting > most ? waiting : most;
		fewest = waiting < fewest ? waiting : fewest;
	}
	for (uint32_t i = 0; i < peer->replicas; i++) {
		struct engine_load load = play_load(peer->play, i);
		double queue = most > fewest ? (double)(most - load.waiting) / (most - fewest) : 1;
		double kv = 1 - (double)load.blocks_used / load.blocks_total;
		double score = 3 * share(peer, request, peer->match[i]) + 2 * queue + 2 * kv +
		               1e-9 * rng_unit(&peer->rng);

		if (score > high) {
			high = score;
			best = i;
		}
	}
	return best;
}

static double first_token_at(const struct peer_router *peer, uint32_t i, size_t number)
{
	const struct engine_settings *engine = play_engine(peer->play, i);
	const struct trace_request *request = play_request(peer->play, number);
	struct engine_load load = play_load(peer->play, i);
	uint32_t held = play_match(peer->play, i, number);
	double work = (double)load.prefill_tokens + request->input_tokens -
	              (double)held * TRACE_BLOCK_TOKENS;
	double decode = load.running * engine->decode_us * 1e-6;
	uint32_t need =
	        request->block_count + 1 - held + request->output_tokens / TRACE_BLOCK_TOKENS + 1;
	double at = work / engine->prefill_rate +
	            ceil(work / engine->step_tokens) * (decode + engine->step_us * 1e-6);

	if (load.blocks_used + need > load.blocks_total || load.running >= engine->max_running)
		at += 5;                                     /* it would wait for room */
	return at + 0.001 * decode * request->output_tokens; /* and be slowed by the others */
}

static uint32_t choose_oracle(struct peer_router *peer, size_t request)
{
	double best_at = (double)INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < peer->replicas; i++) {
		double at = first_token_at(peer, i, request);

		if (at < best_at) {
			best_at = at;
			best = i;
		}
	}
	return best;
}

/* ---- what each of them remembers */

static void look(struct peer_router *peer, const struct trace_request *request)
{
	peer->deepest = 0;
	peer->most = 0;
	peer->least = UINT32_MAX;
	for (uint32_t i = 0; i < peer->replicas; i++) {
		peer->match[i] =
		        prefix_cache_match(peer->index[i], request->blocks, request->block_count);
		if (peer->match[i] > peer->deepest)
			peer->deepest = peer->match[i];
		if (peer->inflight[i] > peer->most)
			peer->most = peer->inflight[i];
		if (peer->inflight[i] < peer->least)
			peer->least = peer->inflight[i];
	}
}

static void remember(struct prefix_cache *index, const struct trace_request *request)
{
	for (uint32_t i = 0; i < request->block_count; i++) {
		if (prefix_cache_holds(index, request->blocks[i])) {
			prefix_cache_pin(index, request->blocks[i]);
		} else {
			if (prefix_cache_count(index) == INDEX_BLOCKS)
				(void)prefix_cache_evict(index);
			prefix_cache_add(index, request->blocks[i]);
		}
		prefix_cache_unpin(index, request->blocks[i]);
	}
}

static uint32_t choose(void *data, const struct play *play, size_t request, usec_t now)
{
	struct peer_router *peer = data;
	uint32_t chosen;

	(void)now;
	peer->play = play;
	look(peer, play_request(play, request));
	chosen = peer->choose(peer, request);
	peer->inflight[chosen]++;
	remember(peer->index[chosen], play_request(play, request));
	return chosen;
}

static void done(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed)
{
	struct peer_router *peer = data;

	(void)request;
	(void)now;
	(void)elapsed;
	peer->inflight[replica]--;
}

struct chooser peer_chooser(struct peer_router *peer)
{
	return (struct chooser){ .data = peer, .choose = choose, .done = done };
}

static const struct {
	const char *name;
	uint32_t (*choose)(struct peer_router *peer, size_t request);
} peers[] = {
	{ "oracle", choose_oracle },         { "llm-d", choose_llmd },
	{ "sglang", choose_sglang },         { "aibrix", choose_aibrix },
	{ "longest-match", choose_longest }, { "least", choose_least },
};

const char *peer_name(size_t i)
{
	return i < sizeof(peers) / sizeof(peers[0]) ? peers[i].name : NULL;
}

struct peer_router *peer_new(const char *name, uint32_t replicas)
{
	struct peer_router *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	for (size_t i = 0; peer_name(i); i++)
		if (strcmp(peer_name(i), name) == 0)
			peer->choose = peers[i].choose;
	peer->replicas = replicas;
	peer->rng.state = 42;
	peer->inflight = calloc(replicas, sizeof(*peer->inflight));
	peer->match = calloc(replicas, sizeof(*peer->match));
	peer->index = calloc(replicas, sizeof(struct prefix_cache *));
	if (!peer->choose || !peer->inflight || !peer->match || !peer->index) {
		peer_free(peer);
		return NULL;
	}
	for (uint32_t i = 0; i < replicas; i++) {
		peer->index[i] = prefix_cache_new(INDEX_BLOCKS);
		if (peer->index[i])
			continue;
		peer_free(peer);
		return NULL;
	}
	return peer;
}

void peer_free(struct peer_router *peer)
{
	if (!peer)
		return;
	for (uint32_t i = 0; peer->index && i < peer->replicas; i++)
		prefix_cache_free(peer->index[i]);
	free(peer->index);
	free(peer->inflight);
	free(peer->match);
	free(peer);
}
