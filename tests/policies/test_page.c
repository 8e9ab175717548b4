/* test_page.c - what reading an engine's page does. Proves B029, B031 in part. */
#include "policies/page.h"
#include "tests/policies/sent.h"

static bool reads(struct world *world, uint32_t target, double generated, double finished)
{
	struct engine_page page = engine_page_blank(world->now);

	page.running = 4;
	page.waiting = 2;
	page.generation_tokens = generated;
	page.finished = finished;
	return page_read(world->facts, target, &page);
}

static double output_of(const struct world *world, const char *instance)
{
	double tokens = -1;

	(void)answers_tokens(world->facts->answers, world_instance(world, instance)->target->id,
	                     world->now, &tokens);
	return tokens;
}

static void a_page_is_kept_with_our_counts_of_then(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	const struct engine_page *page;

	assert_false(reads(world, sent.chosen, 100, 1));
	page = engines_page(world->facts->engines, sent.chosen, world->now, 0);
	assert_non_null(page);
	assert_true(page->waiting == 2);
	assert_int_equal(page->acquired, 1);
	assert_int_equal(page->acquired_tokens, LONG / 4);
}

/* The address is a server of both instances. */
static void all_instances_of_an_engine_learn_how_long_answers_are(void **state)
{
	struct world *world = *state;
	uint32_t target = world_replica(world, "a", "s2")->target->id;

	world_server(world, "b", "s1")->address = SPAN(world->names[1][2]);
	world_apply(world);
	assert_int_equal(world_replica(world, "b", "s1")->target->id, target);
	assert_false(reads(world, target, 1000, 10));
	assert_near(output_of(world, "a"), -1);
	pass(world, SECOND);
	assert_false(reads(world, target, 1600, 12));
	assert_near(output_of(world, "a"), 300);
	assert_near(output_of(world, "b"), 300);
	pass(world, SECOND);
	assert_false(reads(world, world_replica(world, "b", "s2")->target->id, 0, 0));
	pass(world, SECOND);
	assert_false(reads(world, world_replica(world, "b", "s2")->target->id, 50, 1));
	assert_near(output_of(world, "a"), 300);
	assert_true(output_of(world, "b") < 300);
}

static void counters_that_went_back_are_a_restart(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	double capacity;

	(void)first_byte(&sent, &sent.by, 200);
	assert_true(held_by(world, sent.chosen) > 0);
	assert_false(reads(world, sent.chosen, 100, 1));
	pass(world, SECOND);
	assert_false(reads(world, sent.chosen, 900, 2));
	assert_true(rates_capacity(world->facts->rates, sent.chosen, &capacity));
	pass(world, SECOND);
	assert_true(reads(world, sent.chosen, 80, 1));
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_false(rates_capacity(world->facts->rates, sent.chosen, &capacity));
	assert_non_null(engines_page(world->facts->engines, sent.chosen, world->now, 0));
	pass(world, SECOND);
	assert_false(reads(world, sent.chosen, 180, 1)); /* compared with the page before */
	assert_true(rates_capacity(world->facts->rates, sent.chosen, &capacity));
	assert_near(capacity, 100);
}

/* O of the next request. */
static void requests_are_expected_to_be_answered_at_that_length(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	uint32_t target = world_replica(world, "a", "s3")->target->id;

	assert_int_equal(work_at(world, sent.chosen).resident_tokens, LONG / 4 + 256);
	(void)ends(&sent, "----", 500);
	assert_false(reads(world, target, 0, 0));
	pass(world, SECOND);
	assert_false(reads(world, target, 600, 2));
	sent = sent_prompt(world, 2);
	assert_int_equal(work_at(world, sent.chosen).resident_tokens, LONG / 4 + 300);
}

/* 40 bytes of answer for each of 300 tokens. */
static void ends_teach_how_many_bytes_a_token_has(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "----", 200);
	uint32_t instance = sent.instance;
	double bytes = -1;

	assert_false(reads(world, sent.chosen, 0, 0));
	pass(world, SECOND);
	assert_false(reads(world, sent.chosen, 1200, 4));
	assert_false(answers_bytes_per_token(world->facts->answers, instance, &bytes));
	end.bytes_out = 12000;
	(void)tell(&sent, &end);
	assert_true(answers_bytes_per_token(world->facts->answers, instance, &bytes));
	assert_near(bytes, 40);
	sent = sent_prompt(world, 2);
	end = end_of(&sent, "----", 500); /* an error page is no answer */
	end.bytes_out = 99;
	(void)tell(&sent, &end);
	assert_true(answers_bytes_per_token(world->facts->answers, instance, &bytes));
	assert_near(bytes, 40);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest page[] = {
		TEST(a_page_is_kept_with_our_counts_of_then),
		TEST(all_instances_of_an_engine_learn_how_long_answers_are),
		TEST(counters_that_went_back_are_a_restart),
		TEST(requests_are_expected_to_be_answered_at_that_length),
		TEST(ends_teach_how_many_bytes_a_token_has),
	};

	return cmocka_run_group_tests(page, NULL, NULL);
}
