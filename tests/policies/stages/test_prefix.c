/* test_prefix.c - hits, holders, spill and seed. Proves R023, R051, R056, P065, P066;
 * docs/strategies.md. */
#include "tests/policies/hand.h"

static struct hand hand;
static struct health *health;

static int open_health(void **state)
{
	(void)state;
	health = health_new(HAND_MAX, &hand.policy.health);
	return health ? 0 : -1;
}

static int close_health(void **state)
{
	(void)state;
	health_free(health);
	return 0;
}

static void with(const char *strategy, size_t count, uint64_t bytes)
{
	hand_make(&hand, strategy, count);
	hand.facts.health = health;
	hand.prompt.total_bytes = bytes;
	hand.prompt.blocks = ladder_usable(&hand.policy.ladder, bytes);
}

static void holds(size_t i, uint32_t blocks)
{
	struct candidate *candidate = hand_of(&hand, i);

	candidate->blocks = (uint8_t)blocks;
	candidate->matched = ladder_reach(&hand.policy.ladder, blocks);
	candidate->uncached_tokens = (double)(hand.prompt.total_bytes - candidate->matched) / 4;
}

static void run(void)
{
	hand_run(&hand, &stage_prefix);
}

static void what_others_hold_too_counts_less(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 40000);
	assert_int_equal(hand.prompt.blocks, 12);
	holds(0, 12);
	holds(1, 4);
	run();
	expect_close(hand_of(&hand, 0)->effective, 35498.666667);
	assert_true(hand_of(&hand, 0)->hit);
	expect_close(hand_of(&hand, 1)->effective, 2730.666667);
	assert_false(hand_of(&hand, 1)->hit);
	expect_close(hand_of(&hand, 0)->uncached_tokens, 784);
	expect_close(hand_of(&hand, 1)->uncached_tokens, 8976);
	expect_close(candidate_share(hand_of(&hand, 0), &hand.prompt), 0.9216);
	assert_int_equal(hand.walk.standing, 1);
	assert_true(hand_stands(&hand, 0));
	assert_true(hand.walk.narrowed && hand.walk.any_hit);
}

static void what_all_hold_counts_nothing(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 40000);
	for (size_t i = 0; i < 4; i++)
		holds(i, 4);
	run();
	for (size_t i = 0; i < 4; i++) {
		assert_true(hand.pool[i].effective == 0);
		assert_false(hand.pool[i].hit);
	}
	assert_int_equal(hand.walk.standing, 4);
	assert_false(hand.walk.narrowed);
}

static void alone_there_is_nothing_to_discount(void **state)
{
	(void)state;
	with("soft-k-choice", 1, 40000);
	holds(0, 12);
	run();
	expect_close(hand.pool[0].effective, 36864);
	assert_true(hand.pool[0].hit);
}

static void the_discount_can_be_off(void **state)
{
	(void)state;
	with("least-work", 4, 40000);
	hand.policy.prefix.discount_shared = false;
	for (size_t i = 0; i < 4; i++)
		holds(i, 4);
	run();
	expect_close(hand.pool[2].effective, 4096);
	assert_true(hand.pool[2].hit);
}

static void a_short_match_is_no_hit(void **state)
{
	(void)state;
	with("soft-k-choice", 2, 8192);
	holds(0, 3); /* 3072 of 8192: below 4096 */
	run();
	assert_false(hand.walk.any_hit);
	holds(0, 4);
	run();
	assert_true(hand_of(&hand, 0)->hit); /* just 4096 */
	with("soft-k-choice", 2, 100000);
	holds(0, 5); /* 8192 of 100000: below a tenth */
	run();
	assert_false(hand.walk.any_hit);
	holds(0, 6);
	run();
	assert_true(hand.walk.any_hit);
}

static void where_holders_do_not_go_first_nobody_falls(void **state)
{
	(void)state;
	with("least-work", 4, 40000);
	holds(0, 12);
	run();
	assert_int_equal(hand.walk.standing, 4);
	assert_true(hand_of(&hand, 0)->hit);
}

static void one_who_holds_nearly_as_much_stands_too(void **state)
{
	(void)state;
	with("soft-k-choice", 8, 40000);
	holds(0, 12);
	holds(1, 11);
	holds(2, 5);
	run();
	assert_int_equal(hand.walk.standing, 2);
	assert_true(hand_stands(&hand, 0) && hand_stands(&hand, 1));
}

/* Mean 4, the idlest non-holder at `idlest`. */
static bool spills(uint64_t bytes, uint32_t blocks, double gap)
{
	double low = 4 - gap / 2;

	with("soft-k-choice", 2, bytes);
	hand_running(&hand, (double[]){ low + gap, low });
	holds(0, blocks);
	run();
	return hand.walk.standing == 0;
}

static void a_holder_whose_lead_outweighs_what_it_saves_is_passed_over(void **state)
{
	(void)state;
	assert_false(spills(8192, 5, 4));
	assert_true(spills(8192, 5, 5));
	/* 102400 bytes are 7.3 requests. */
	with("soft-k-choice", 2, 102400);
	hand.policy.ladder.length[0] = 102400;
	hand.policy.ladder.offset[0] = 0;
	hand.prompt = (struct prompt){ .total_bytes = 102400, .blocks = 1 };
	hand_running(&hand, (double[]){ 7.5, 0.5 });
	holds(0, 1);
	run();
	assert_int_equal(hand.walk.standing, 1);
	assert_true(hand_stands(&hand, 0));
}

static void a_longer_prefix_may_cost_a_larger_gap(void **state)
{
	const double gaps[] = { 7, 8 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		with("soft-k-choice", 2, 102400);
		hand.policy.ladder.length[0] = 102400;
		hand.prompt = (struct prompt){ .total_bytes = 102400, .blocks = 1 };
		hand_running(&hand, (double[]){ 4 + gaps[i] / 2, 4 - gaps[i] / 2 });
		holds(0, 1);
		run();
		assert_int_equal(hand.walk.standing, i == 0);
	}
	assert_true(hand_of(&hand, 0)->spilled);
	assert_int_equal(stage_prefix.when_empty[1], EMPTY_SPILL);
}

static void a_queue_of_prefill_is_a_reason_to_pass_over_too(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 40000);
	holds(0, 12);
	hand.pool[0].prefill_tokens = 40000; /* mean 10000: 15000 + 30720 are allowed */
	run();
	assert_int_equal(hand.walk.standing, 1);
	with("soft-k-choice", 4, 40000);
	holds(0, 12);
	hand.pool[0].prefill_tokens = 60000; /* mean 15000: 53220 */
	run();
	assert_int_equal(hand.walk.standing, 0);
}

static void where_all_hold_it_there_is_nobody_to_compare_with(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 40000);
	hand.policy.prefix.discount_shared = false;
	hand_running(&hand, (double[]){ 100, 0, 0, 0 });
	for (size_t i = 0; i < 4; i++)
		holds(i, 12);
	run();
	assert_int_equal(hand.walk.standing, 4);
}

static void a_shared_prompt_goes_to_the_idle_first(void **state)
{
	(void)state;
	/* s1 holds 0..6 of a conversation, of which 0..4 are this prompt's. */
	with("soft-k-choice", 4, 24000);
	holds(0, 5);
	hand.pool[0].continued = true;
	run();
	assert_true(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 3);
	assert_false(hand_stands(&hand, 0));
}

static void who_is_new_is_idle_but_not_yet_asked_to_hold(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 24000);
	holds(0, 5);
	hand.pool[0].continued = true;
	hand.walk.now = 1000 * SECOND;
	health_welcome(health, 2, 1000 * SECOND);
	run();
	assert_true(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 2);
	assert_false(hand_stands(&hand, 2));
	health_forget(health, 2);
}

static void a_follow_up_goes_to_its_holder(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 28000);
	holds(0, 7);
	run();
	assert_false(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 1);
	assert_true(hand_stands(&hand, 0));
}

static void a_shared_prompt_without_idle_others_goes_to_its_holders(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 24000);
	holds(0, 5);
	hand.pool[0].continued = true;
	hand_running(&hand, (double[]){ 2, 1, 1, 1 });
	run();
	assert_false(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 1);
	with("soft-k-choice", 4, 24000);
	holds(0, 5);
	hand.pool[0].continued = true;
	hand.entry.seed_idle = false;
	run();
	assert_int_equal(hand.walk.standing, 1);
}

static void a_prompt_that_ends_where_the_match_does_is_no_fork(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 8192);
	holds(0, 5);
	hand.pool[0].continued = true;
	run();
	assert_false(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 1);
}

/* Where all are busy the allowed gap grows with the square root of the mean: 5 of 25. */
static void where_all_are_busy_a_larger_gap_is_normal(void **state)
{
	(void)state;
	with("soft-k-choice", 2, 8192);
	hand_running(&hand, (double[]){ 27.25, 22.75 });
	holds(0, 5);
	run();
	assert_int_equal(hand.walk.standing, 1);
}

static void one_of_several_holders_that_went_on_makes_a_prompt_shared(void **state)
{
	(void)state;
	with("soft-k-choice", 4, 24000);
	holds(0, 5);
	holds(1, 5);
	hand.pool[1].continued = true;
	run();
	assert_true(hand.walk.seeding);
	assert_int_equal(hand.walk.standing, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_hold_too_counts_less),
		cmocka_unit_test(what_all_hold_counts_nothing),
		cmocka_unit_test(alone_there_is_nothing_to_discount),
		cmocka_unit_test(the_discount_can_be_off),
		cmocka_unit_test(a_short_match_is_no_hit),
		cmocka_unit_test(where_holders_do_not_go_first_nobody_falls),
		cmocka_unit_test(one_who_holds_nearly_as_much_stands_too),
		cmocka_unit_test(a_holder_whose_lead_outweighs_what_it_saves_is_passed_over),
		cmocka_unit_test(a_longer_prefix_may_cost_a_larger_gap),
		cmocka_unit_test(a_queue_of_prefill_is_a_reason_to_pass_over_too),
		cmocka_unit_test(where_all_hold_it_there_is_nobody_to_compare_with),
		cmocka_unit_test(a_shared_prompt_goes_to_the_idle_first),
		cmocka_unit_test(who_is_new_is_idle_but_not_yet_asked_to_hold),
		cmocka_unit_test(a_follow_up_goes_to_its_holder),
		cmocka_unit_test(a_shared_prompt_without_idle_others_goes_to_its_holders),
		cmocka_unit_test(a_prompt_that_ends_where_the_match_does_is_no_fork),
		cmocka_unit_test(where_all_are_busy_a_larger_gap_is_normal),
		cmocka_unit_test(one_of_several_holders_that_went_on_makes_a_prompt_shared),
	};

	return cmocka_run_group_tests(tests, open_health, close_health);
}
