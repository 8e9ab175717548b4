/* test_engine_model.c - the engine simulator's costs, cache and queue, to the microsecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "spoa/replay/engine_model.h"
#include "tests/failing_calloc.h"

enum { EVENTS = 4096, STREAMS = 40 };

struct heard {
	int count;
	struct engine_event events[EVENTS];
};

static void listen_to(void *context, const struct engine_event *event)
{
	struct heard *heard = context;

	assert_in_range(heard->count, 0, EVENTS - 1);
	heard->events[heard->count++] = *event;
}

/* Prompt "a" of three blocks, and "b" that has its first two. */
static const uint64_t a[] = { 11, 12, 13 }, b[] = { 11, 12, 23 }, c[] = { 31, 32, 33 };

static struct engine_job job_of(const uint64_t *blocks, uint32_t tokens, uint32_t output)
{
	return (struct engine_job){
		.blocks = blocks,
		.block_count = tokens / 512,
		.prompt_tokens = tokens,
		.output_tokens = output,
	};
}

static struct engine_model *with(uint32_t max_running, uint32_t max_waiting, uint32_t kv_blocks)
{
	struct engine_settings settings = engine_settings_default();
	struct engine_model *model;

	settings.max_running = max_running;
	settings.max_waiting = max_waiting;
	settings.kv_blocks = kv_blocks;
	model = engine_model_new(&settings);
	assert_non_null(model);
	return model;
}

static uint32_t submit(struct engine_model *model, struct engine_job job, int64_t now)
{
	uint32_t ticket = UINT32_MAX;

	assert_int_equal(engine_model_submit(model, &job, now, &ticket), ENGINE_ACCEPTED);
	return ticket;
}

/* Until nothing is left to do; the time of the last event. */
static int64_t finish(struct engine_model *model, struct heard *heard)
{
	while (engine_model_next(model) != INT64_MAX)
		engine_model_advance(model, engine_model_next(model), listen_to, heard);
	return heard->count > 0 ? heard->events[heard->count - 1].at : -1;
}

static void a_request_costs_its_prefill_and_a_step_a_token(void **state)
{
	struct engine_model *model = with(64, 8, 100);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1024, 3), 1000);
	assert_int_equal(engine_model_next(model), 1000 + 8000 + 102400);
	(void)finish(model, &heard);
	assert_int_equal(heard.count, 4);
	assert_int_equal(heard.events[0].kind, ENGINE_FIRST_TOKEN);
	assert_int_equal(heard.events[0].at, 111400);
	assert_int_equal(heard.events[1].kind, ENGINE_TOKEN);
	assert_int_equal(heard.events[1].at, 111400 + 8150);
	assert_int_equal(heard.events[2].at, 111400 + 16300);
	assert_int_equal(heard.events[3].kind, ENGINE_DONE);
	assert_int_equal(heard.events[3].at, 111400 + 16300);
	assert_int_equal(engine_model_load(model).generated_tokens, 3);
	engine_model_free(model);
}

static void a_cached_prefix_is_not_computed_again(void **state)
{
	struct engine_model *model = with(64, 8, 100);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1600, 1), 0);
	(void)finish(model, &heard);
	(void)submit(model, job_of(b, 1600, 1), 1000000);
	assert_int_equal(finish(model, &heard), 1000000 + 8000 + 57600);
	assert_int_equal(heard.events[0].cached_tokens, 0);
	assert_int_equal(heard.events[2].cached_tokens, 1024);
	assert_int_equal(engine_model_load(model).blocks_cached, 4);
	assert_int_equal(engine_model_load(model).cached_tokens, 1024);
	assert_int_equal(engine_model_load(model).prompt_tokens, 3200);
	engine_model_free(model);
}

static void at_least_one_token_of_a_prompt_is_computed(void **state)
{
	struct engine_model *model = with(64, 8, 100);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1536, 1), 0);
	(void)finish(model, &heard);
	(void)submit(model, job_of(a, 1536, 1), 1000000);
	(void)finish(model, &heard);
	assert_int_equal(heard.events[2].cached_tokens, 1024);
	assert_int_equal(engine_model_load(model).blocks_cached, 3);
	engine_model_free(model);
}

static void a_prompt_computed_elsewhere_costs_one_token_and_is_cached_here(void **state)
{
	struct engine_model *model = with(1, 8, 100);
	struct engine_job job = job_of(a, 1536, 1);
	struct heard heard = { 0 };

	(void)state;
	job.computed = true;
	(void)submit(model, job, 0);
	(void)submit(model, job, 0);
	assert_int_equal(engine_model_load(model).prefill_tokens, 1); /* of who waits */
	assert_int_equal(engine_model_next(model), 8000 + 100);
	(void)finish(model, &heard);
	assert_int_equal(engine_model_load(model).prefill_tokens, 0);
	assert_int_equal(heard.events[0].cached_tokens, 0);
	assert_int_equal(heard.events[2].cached_tokens, 1024);
	assert_int_equal(engine_model_match(model, a, 3), 3);
	engine_model_free(model);
}

static void long_prompts_are_computed_in_chunks_beside_the_others(void **state)
{
	struct engine_model *model = with(64, 8, 100);
	struct engine_job long_one = { .prompt_tokens = 10000, .output_tokens = 1 };
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 512, 4), 0);
	(void)submit(model, long_one, 0);
	engine_model_advance(model, 8000 + 51200, listen_to, &heard);
	assert_int_equal(engine_model_load(model).running, 2);
	/* One decodes, 8191 tokens of the other's prompt fit into the step. */
	assert_int_equal(engine_model_next(model), 59200 + 8000 + 150 + 819100);
	assert_int_equal(engine_model_load(model).prefill_tokens, 10000 - 8191);
	assert_int_equal(finish(model, &heard), 886450 + 8000 + 150 + 180900 + 8150);
	engine_model_free(model);
}

static void seats_are_taken_in_order_of_arrival(void **state)
{
	struct engine_model *model = with(1, 2, 100);
	struct engine_job job = job_of(a, 512, 1);
	struct heard heard = { 0 };
	int who[3] = { 0, 1, 2 };
	uint32_t ticket = 7;

	(void)state;
	for (int i = 0; i < 3; i++) {
		job.user = &who[i];
		(void)submit(model, job, 0);
	}
	assert_int_equal(engine_model_load(model).waiting, 2);
	assert_int_equal(engine_model_submit(model, &job, 0, &ticket), ENGINE_FULL);
	assert_int_equal(ticket, 7);
	(void)finish(model, &heard);
	assert_int_equal(heard.count, 6);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(heard.events[2L * i].user, &who[i]);
	assert_int_equal(engine_model_load(model).running_max, 1);
	assert_int_equal(engine_model_load(model).refused, 1);
	engine_model_free(model);
}

static void one_that_can_never_fit_is_refused(void **state)
{
	struct engine_model *model = with(4, 4, 3);
	struct engine_job job = job_of(a, 1536, 1);
	uint32_t ticket;

	(void)state;
	assert_int_equal(engine_model_submit(model, &job, 0, &ticket), ENGINE_TOO_LARGE);
	job.prompt_tokens = 1535;
	assert_int_equal(engine_model_submit(model, &job, 0, &ticket), ENGINE_ACCEPTED);
	engine_model_free(model);
}

static void kv_blocks_make_the_next_one_wait(void **state)
{
	struct engine_model *model = with(4, 4, 5);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1100, 400), 0);
	(void)submit(model, job_of(c, 1100, 1), 0);
	engine_model_advance(model, 500000, listen_to, &heard);
	assert_int_equal(engine_model_load(model).running, 1);
	assert_int_equal(engine_model_load(model).waiting, 1);
	assert_int_equal(engine_model_load(model).blocks_used, 3);
	(void)finish(model, &heard);
	assert_int_equal(engine_model_load(model).served, 2);
	assert_int_equal(engine_model_load(model).blocks_used, 0);
	engine_model_free(model);
}

static void the_oldest_idle_blocks_leave_and_the_head_leaves_last(void **state)
{
	struct engine_model *model = with(4, 4, 5);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1600, 1), 0);
	(void)finish(model, &heard);
	assert_int_equal(engine_model_load(model).blocks_cached, 3);
	/* Three blocks of the five: one idle block, the tail of "a", has to go. */
	(void)submit(model, job_of(c, 1024, 500), 1000000);
	assert_int_equal(engine_model_load(model).blocks_cached, 2);
	(void)finish(model, &heard);
	(void)submit(model, job_of(a, 1600, 1), 90000000);
	(void)finish(model, &heard);
	assert_int_equal(heard.events[heard.count - 1].cached_tokens, 1024);
	engine_model_free(model);
}

static void an_abort_frees_seat_and_blocks_at_once(void **state)
{
	struct engine_model *model = with(1, 4, 100);
	struct heard heard = { 0 };
	uint32_t running;
	uint32_t waiting;

	(void)state;
	running = submit(model, job_of(a, 1024, 100), 0);
	waiting = submit(model, job_of(b, 1024, 100), 0);
	(void)submit(model, job_of(c, 512, 1), 0);
	engine_model_abort(model, waiting);
	engine_model_abort(model, running);
	assert_int_equal(engine_model_load(model).blocks_used, 0);
	assert_int_equal(engine_model_load(model).running, 0);
	assert_int_equal(engine_model_load(model).waiting, 1);
	/* The step that had begun goes to its end, then comes the third. */
	assert_int_equal(finish(model, &heard), 110400 + 8000 + 51200);
	assert_int_equal(heard.count, 2);
	assert_int_equal(engine_model_load(model).aborted, 2);
	assert_int_equal(engine_model_load(model).prefill_tokens, 0);
	engine_model_free(model);
}

static void equal_prompts_at_once_share_their_blocks_afterwards(void **state)
{
	struct engine_model *model = with(4, 4, 100);
	struct heard heard = { 0 };

	(void)state;
	(void)submit(model, job_of(a, 1600, 2), 0);
	(void)submit(model, job_of(a, 1600, 2), 0);
	(void)finish(model, &heard);
	assert_int_equal(engine_model_load(model).blocks_cached, 3);
	assert_int_equal(engine_model_load(model).blocks_used, 0);
	engine_model_clear(model);
	assert_int_equal(engine_model_load(model).blocks_cached, 0);
	engine_model_free(model);
}

struct crowd {
	uint64_t blocks[STREAMS][8];
	uint32_t tickets[STREAMS];
	bool present[STREAMS];
	int done;
};

static void watch_crowd(void *context, const struct engine_event *event)
{
	bool *present = event->user;

	if (event->kind == ENGINE_DONE) {
		*present = false;
		((struct crowd *)context)->done++;
	}
}

static void accounts_balance_over_any_mix_of_arrivals_and_aborts(void **state)
{
	struct engine_model *model = with(6, 10, 24);
	struct crowd crowd = { 0 };
	struct rng rng = { 42 };
	struct engine_load load;
	int accepted = 0;
	int64_t now = 0;

	(void)state;
	for (int turn = 0; turn < 20000; turn++) {
		int i = (int)(rng_next(&rng) % STREAMS);
		struct engine_job job =
		        job_of(crowd.blocks[i], 1 + rng_next(&rng) % 4096, 1 + rng_next(&rng) % 50);

		now += (int64_t)(rng_next(&rng) % 60000);
		engine_model_advance(model, now, watch_crowd, &crowd);
		if (crowd.present[i]) {
			engine_model_abort(model, crowd.tickets[i]);
			crowd.present[i] = false;
			continue;
		}
		for (uint64_t k = 0; k < 8; k++)
			crowd.blocks[i][k] = 100 * k + rng_next(&rng) % (2 * k + 1);
		job.user = &crowd.present[i];
		if (engine_model_submit(model, &job, now, &crowd.tickets[i]) == ENGINE_ACCEPTED) {
			crowd.present[i] = true;
			accepted++;
		}
		load = engine_model_load(model);
		assert_true(load.blocks_used <= 24 && load.blocks_cached <= 24);
		assert_true(load.running <= 6);
	}
	engine_model_advance(model, now + 3600000000, watch_crowd, &crowd);
	load = engine_model_load(model);
	assert_int_equal(load.served, crowd.done);
	assert_int_equal(load.served + load.aborted, accepted);
	assert_int_equal(load.running + load.waiting + load.blocks_used + load.prefill_tokens, 0);
	assert_true(load.served > 1000 && load.aborted > 1000 && load.refused > 100);
	engine_model_free(model);
}

static void without_memory_there_is_no_model(void **state)
{
	struct engine_settings settings = engine_settings_default();

	(void)state;
	for (int i = 1; i <= 6; i++) {
		failing = i;
		assert_null(engine_model_new(&settings));
	}
	failing = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_costs_its_prefill_and_a_step_a_token),
		cmocka_unit_test(a_cached_prefix_is_not_computed_again),
		cmocka_unit_test(at_least_one_token_of_a_prompt_is_computed),
		cmocka_unit_test(a_prompt_computed_elsewhere_costs_one_token_and_is_cached_here),
		cmocka_unit_test(long_prompts_are_computed_in_chunks_beside_the_others),
		cmocka_unit_test(seats_are_taken_in_order_of_arrival),
		cmocka_unit_test(one_that_can_never_fit_is_refused),
		cmocka_unit_test(kv_blocks_make_the_next_one_wait),
		cmocka_unit_test(the_oldest_idle_blocks_leave_and_the_head_leaves_last),
		cmocka_unit_test(an_abort_frees_seat_and_blocks_at_once),
		cmocka_unit_test(equal_prompts_at_once_share_their_blocks_afterwards),
		cmocka_unit_test(accounts_balance_over_any_mix_of_arrivals_and_aborts),
		cmocka_unit_test(without_memory_there_is_no_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
