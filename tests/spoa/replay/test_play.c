/* test_play.c - requests are played in order of time, and the results are what a hand
 * computes. Proves B051. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/strategies.h"
#include "spoa/replay/balance.h"
#include "spoa/replay/play.h"
#include "spoa/replay/play_agents.h"
#include "spoa/replay/sample.h"
#include "tests/near.h"

static struct ladder ladder;

static struct trace *two_requests(usec_t apart)
{
	struct trace *trace = trace_new();
	struct trace_request *request;

	assert_non_null(trace);
	for (int i = 0; i < 2; i++) {
		assert_true(trace_add(trace, 2, 0, &request));
		request->at = (usec_t)i * apart;
		request->input_tokens = 1025;
		request->output_tokens = 3;
		request->blocks[0] = 1;
		request->blocks[1] = 2;
	}
	return trace;
}

static uint32_t first_replica(void *data, const struct play *play, size_t request, usec_t now)
{
	usec_t *asked = data;

	(void)play;
	asked[request] = now;
	return 0;
}

/* 10000 tokens a second: 1025 tokens take 102.5 ms, the one left of them 0.1 ms. A step
 * takes 8 ms besides, and 0.15 ms for each sequence that decodes. */
static void times_are_those_of_the_engine(void **state)
{
	struct trace *trace = two_requests(SECOND);
	struct play_settings settings = play_settings_default();
	usec_t asked[2];
	struct chooser chooser = { .data = asked, .choose = first_replica };
	struct play_result got;

	(void)state;
	settings.replicas = 2;
	assert_true(play(trace, &settings, &chooser, NULL, NULL, &got));
	assert_int_equal(asked[1] - asked[0], SECOND);
	assert_int_equal(got.answered, 2);
	/* (110.5 + 8.1) / 2 ms */
	assert_close(got.ttft_mean, 0.0593, 1e-6);
	assert_close(got.ttft_p99, 0.1105, 1e-6);
	/* two more tokens, a step of 8.15 ms each */
	assert_close(got.e2e_p99, 0.1105 + 0.0163, 1e-6);
	assert_close(got.hit_share, 0.5 * 1024 / 1025, 1e-9);
	assert_close(got.most_over_mean, 2, 1e-9);
	assert_close(got.end, 1 + 0.0081 + 0.0163, 1e-6);
	trace_free(trace);
}

static void speed_brings_them_closer_and_engines_may_differ(void **state)
{
	static const double speeds[] = { 2 };
	struct trace *trace = two_requests(SECOND);
	struct play_settings settings = play_settings_default();
	usec_t asked[2];
	struct chooser chooser = { .data = asked, .choose = first_replica };
	struct play_result got;

	(void)state;
	settings.replicas = 1;
	settings.speed = 4;
	settings.speeds = speeds;
	assert_true(play(trace, &settings, &chooser, NULL, NULL, &got));
	assert_int_equal(asked[1] - asked[0], SECOND / 4);
	assert_close(got.ttft_p99, 0.1105 / 2, 2e-6);
	trace_free(trace);
}

struct heard {
	uint32_t seconds, first_bytes, ends;
};

static uint32_t by_turn(void *data, const struct play *play, size_t request, usec_t now)
{
	(void)data;
	(void)now;
	return (uint32_t)(request % play_replicas(play));
}

static void on_second(void *data, const struct play *play, usec_t now)
{
	struct heard *heard = data;

	(void)play;
	heard->seconds++;
	assert_int_equal(now % SECOND, 0);
}

static void on_first(void *data, size_t request, uint32_t replica, usec_t now)
{
	struct heard *heard = data;

	(void)now;
	assert_int_equal(request, replica);
	heard->first_bytes++;
}

static void on_done(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed)
{
	struct heard *heard = data;

	(void)now;
	assert_int_equal(request, replica);
	assert_int_equal(elapsed, 110500 + 2 * 8150);
	heard->ends++;
}

static void choosers_hear_of_everything(void **state)
{
	struct trace *trace = two_requests(5 * SECOND);
	struct play_settings settings = play_settings_default();
	struct heard heard = { 0 };
	struct chooser chooser = { &heard, by_turn, on_first, on_done, on_second };
	struct play_result got;

	(void)state;
	settings.replicas = 2;
	assert_true(play(trace, &settings, &chooser, NULL, NULL, &got));
	assert_int_equal(heard.first_bytes, 2);
	assert_int_equal(heard.ends, 2);
	assert_int_equal(heard.seconds, 5);
	trace_free(trace);
}

static void what_no_engine_has_room_for_ends_at_once(void **state)
{
	struct trace *trace = two_requests(SECOND);
	struct play_settings settings = play_settings_default();
	usec_t asked[2];
	struct chooser chooser = { .data = asked, .choose = first_replica };
	struct play_result got;

	(void)state;
	settings.replicas = 1;
	settings.engine.kv_blocks = 2;
	assert_true(play(trace, &settings, &chooser, NULL, NULL, &got));
	assert_int_equal(got.answered, 0);
	trace_free(trace);
}

static void balance_is_when_each_has_about_its_part(void **state)
{
	struct balance *balance = balance_new(2);

	(void)state;
	assert_non_null(balance);
	for (int i = 0; i < 50; i++)
		balance_add(balance, 0);
	assert_int_equal(balance_reached(balance), 0);
	/* Of the last 50 the second needs more than 12: 38 of the first are too many. */
	for (int i = 0; i < 12; i++)
		balance_add(balance, 1);
	assert_int_equal(balance_reached(balance), 0);
	balance_add(balance, 1);
	assert_int_equal(balance_reached(balance), 63);
	for (int i = 0; i < 50; i++)
		balance_add(balance, 1);
	assert_int_equal(balance_reached(balance), 63);
	balance_free(balance);
}

static void the_sample_is_the_same_each_time(void **state)
{
	struct trace *a = sample_trace(&ladder, 500, 42), *b = sample_trace(&ladder, 500, 42);
	struct trace *other = sample_trace(&ladder, 500, 43);
	size_t differs = 0, shared = 0;

	(void)state;
	assert_true(a && b && other);
	assert_int_equal(a->count, 500);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->requests[i].at, b->requests[i].at);
		assert_int_equal(a->requests[i].input_tokens, b->requests[i].input_tokens);
		assert_true(a->requests[i].block_count * TRACE_BLOCK_TOKENS <=
		            a->requests[i].input_tokens);
		differs += a->requests[i].input_tokens != other->requests[i].input_tokens;
		for (size_t j = 0; j < i && a->requests[i].block_count > 0; j++) {
			if (a->requests[j].block_count > 0 &&
			    a->requests[i].blocks[0] == a->requests[j].blocks[0]) {
				shared++;
				break;
			}
		}
	}
	assert_true(differs > 450);
	assert_true(shared > 300); /* conversations go on, and applications have system prompts */
	trace_free(a);
	trace_free(b);
	trace_free(other);
}

static void our_own_library_plays_and_lets_go_of_all(void **state)
{
	struct trace *trace = sample_trace(&ladder, 400, 1);
	struct play_settings settings = play_settings_default();
	const struct strategy *strategy;
	struct play_result got, again;
	struct policy policy;

	(void)state;
	policy_default(&policy);
	for (size_t i = 0; (strategy = strategy_at(i)); i++) {
		for (int turn = 0; turn < 2; turn++) {
			struct play_agent *agent =
			        play_agent_new(&policy, strategy->name, 8, true, 7);
			struct chooser chooser = play_agent_chooser(agent);

			assert_non_null(agent);
			assert_true(
			        play(trace, &settings, &chooser, NULL, NULL, turn ? &again : &got));
			assert_int_equal(play_agent_held(agent, (usec_t)1e12), 0);
			play_agent_free(agent);
		}
		assert_int_equal(got.answered, 400);
		assert_memory_equal(&got, &again, sizeof(got));
	}
	trace_free(trace);
}

static void agents_that_share_nothing_find_less(void **state)
{
	struct trace *trace = sample_trace(&ladder, 1500, 1);
	struct play_settings settings = play_settings_default();
	struct play_agents_settings asked = { .replicas = 8, .scraped = true, .seed = 1 };
	struct play_result got[2];
	struct policy policy;

	(void)state;
	policy_default(&policy);
	asked.policy = &policy;
	for (int i = 0; i < 2; i++) {
		struct play_agents *agents;
		struct chooser chooser;

		asked.agents = i == 0 ? 1 : 8;
		agents = play_agents_new(&asked);
		assert_non_null(agents);
		chooser = play_agents_chooser(agents);
		assert_true(play(trace, &settings, &chooser, NULL, NULL, &got[i]));
		play_agents_free(agents);
	}
	assert_true(got[1].hit_share < got[0].hit_share - 0.05);
	trace_free(trace);
}

int main(void)
{
	struct error error = { "" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_those_of_the_engine),
		cmocka_unit_test(speed_brings_them_closer_and_engines_may_differ),
		cmocka_unit_test(choosers_hear_of_everything),
		cmocka_unit_test(what_no_engine_has_room_for_ends_at_once),
		cmocka_unit_test(balance_is_when_each_has_about_its_part),
		cmocka_unit_test(the_sample_is_the_same_each_time),
		cmocka_unit_test(our_own_library_plays_and_lets_go_of_all),
		cmocka_unit_test(agents_that_share_nothing_find_less),
	};

	if (!ladder_parse((struct span){ LADDER_DEFAULT, strlen(LADDER_DEFAULT) }, &ladder, &error))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
