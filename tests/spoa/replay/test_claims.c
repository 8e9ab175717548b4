/* test_claims.c - what strategies promise, in simulated traffic with fixed seeds.
 * Proves R147, B027, B031. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/defaults.h"
#include "spoa/replay/play_agent.h"

enum { REQUESTS = 8000, REPLICAS_MAX = 8 };

/* Prompts nobody shares. every: seconds from one to the next, on average. Answers of half
 * of so many tokens to one and a half. */
static struct trace *traffic(double every, uint32_t (*tokens)(struct rng *rng), uint32_t answer)
{
	struct trace *trace = trace_new();
	struct rng rng = { 1 };
	double at = 0;

	assert_non_null(trace);
	for (int i = 0; i < REQUESTS; i++) {
		struct trace_request *request;

		assert_true(trace_add(trace, 0, 0, &request));
		at += -every * log(1 - rng_unit(&rng));
		request->at = (usec_t)(at * 1e6);
		request->input_tokens = tokens(&rng);
		request->bytes = (uint64_t)request->input_tokens * TRACE_BYTES_PER_TOKEN;
		request->output_tokens = answer / 2 + (uint32_t)rng_below(&rng, answer);
	}
	trace_sort(trace);
	return trace;
}

struct counted {
	struct chooser inner;
	uint32_t got[REPLICAS_MAX]; /* after the first quarter, when all is learnt */
};

static uint32_t choose(void *data, const struct play *play, size_t request, usec_t now)
{
	struct counted *counted = data;
	uint32_t chosen = counted->inner.choose(counted->inner.data, play, request, now);

	counted->got[chosen] += request > REQUESTS / 4;
	return chosen;
}

static void on_first(void *data, size_t request, uint32_t replica, usec_t now)
{
	struct counted *counted = data;

	counted->inner.first_byte(counted->inner.data, request, replica, now);
}

static void on_done(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed)
{
	struct counted *counted = data;

	counted->inner.done(counted->inner.data, request, replica, now, elapsed);
}

static void on_second(void *data, const struct play *play, usec_t now)
{
	struct counted *counted = data;

	counted->inner.second(counted->inner.data, play, now);
}

static struct play_result run(const struct trace *trace, const struct play_settings *settings,
                              const char *strategy, struct counted *ret_counted)
{
	struct policy policy;
	struct play_agent *agent;
	struct chooser chooser = { ret_counted, choose, on_first, on_done, on_second };
	struct play_result result;

	policy_default(&policy);
	agent = play_agent_new(&policy, strategy, settings->replicas, true, 5);
	assert_non_null(agent);
	*ret_counted = (struct counted){ .inner = play_agent_chooser(agent) };
	assert_true(play(trace, settings, &chooser, NULL, NULL, &result));
	assert_int_equal(result.answered, REQUESTS);
	assert_int_equal(play_agent_held(agent, (usec_t)1e12), 0);
	play_agent_free(agent);
	return result;
}

static uint32_t a_thousand(struct rng *rng)
{
	(void)rng;
	return 1000;
}

/* Two engines of twice the speed and two others, all kept busy. */
static void engines_of_twice_the_speed_get_twice_the_requests(void **state)
{
	static const double speeds[] = { 2, 2, 1, 1 };
	struct play_settings settings = play_settings_default();
	struct trace *trace = traffic(0.02, a_thousand, 150);
	struct counted counted;
	double ratio;

	(void)state;
	settings.replicas = 4;
	settings.speeds = speeds;
	(void)run(trace, &settings, "load-balance", &counted);
	ratio = (double)(counted.got[0] + counted.got[1]) / (counted.got[2] + counted.got[3]);
	if (ratio < 1.8 || ratio > 2.2)
		fail_msg("%.3f to 1", ratio);
	trace_free(trace);
}

/* Each agent reads the engine's own counters, so half of the requests show all of its
 * speed. */
static void speed_is_the_engines_and_not_the_part_we_sent(void **state)
{
	static const double speeds[] = { 2, 2, 1, 1 };
	struct play_settings settings = play_settings_default();
	struct trace *trace = traffic(0.025, a_thousand, 150);
	struct counted counted;
	struct play_result balanced, counts;

	(void)state;
	settings.replicas = 4;
	settings.speeds = speeds;
	balanced = run(trace, &settings, "load-balance", &counted);
	counts = run(trace, &settings, "least-request", &counted);
	if (balanced.e2e_p99 > 0.8 * counts.e2e_p99)
		fail_msg("%.2f s against %.2f s", balanced.e2e_p99, counts.e2e_p99);
	trace_free(trace);
}

/* 1 KB, and one in twenty 100 KB. */
static uint32_t mixed(struct rng *rng)
{
	return rng_below(rng, 20) == 0 ? 25600 : 256;
}

/* Engines that compute prompts in chunks of 1024 tokens beside the decoding, nine tenths
 * busy. (With chunks of 8192 every answer stands still behind each long prompt, wherever
 * that is sent: then the first token comes as much earlier, but the tail of E2E is the
 * engine's own.) */
static void load_in_tokens_beats_load_in_requests(void **state)
{
	struct play_settings settings = play_settings_default();
	struct trace *trace = traffic(0.021, mixed, 40);
	struct counted counted;
	struct play_result by_work, by_count;

	(void)state;
	settings.engine.step_tokens = 1024;
	by_work = run(trace, &settings, "least-work", &counted);
	by_count = run(trace, &settings, "least-request", &counted);
	if (by_work.e2e_p99 > 0.8 * by_count.e2e_p99 ||
	    by_work.ttft_mean > 0.9 * by_count.ttft_mean)
		fail_msg("E2E p99 %.2f s against %.2f s, TTFT %.3f s against %.3f s",
		         by_work.e2e_p99, by_count.e2e_p99, by_work.ttft_mean, by_count.ttft_mean);
	trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_of_twice_the_speed_get_twice_the_requests),
		cmocka_unit_test(speed_is_the_engines_and_not_the_part_we_sent),
		cmocka_unit_test(load_in_tokens_beats_load_in_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
