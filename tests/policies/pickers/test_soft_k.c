/* test_soft_k.c - how the draw among the least loaded comes out. Proves R103, R104, R105, R106;
 * the numbers of docs/strategies.md. */
#include "tests/policies/hand.h"

static struct hand hand;

static void set(const char *option, const char *text)
{
	struct error error = { "" };

	assert_true(option_set_text(option_named(picker_soft_k.options, SPAN(option)),
	                            hand.entry.picker_settings, SPAN(text), &error));
}

static void expect(const double *loads, size_t count, const char *k, const double *probabilities)
{
	const uint32_t draws = 100000;
	uint32_t times[HAND_MAX];

	hand_make(&hand, "soft-k-choice", count);
	hand_running(&hand, loads);
	set("k", k);
	hand_draw(&hand, &picker_soft_k, draws, times);
	for (size_t i = 0; i < count; i++)
		expect_probability(times[i], draws, probabilities[i]);
}

static void the_less_loaded_of_k_are_the_likelier(void **state)
{
	const double loads[] = { 9, 3, 8, 1 };

	(void)state;
	expect(loads, 4, "1", (double[]){ 0, 0, 0, 1 });
	expect(loads, 4, "2", (double[]){ 0, 1 / 3.0, 0, 2 / 3.0 });
	expect(loads, 4, "3", (double[]){ 0, 0.290323, 0.129032, 0.580645 });
	expect(loads, 4, "16", (double[]){ 0.104046, 0.260116, 0.115607, 0.520231 });
	expect((double[]){ 0, 1 }, 2, "2", (double[]){ 2 / 3.0, 1 / 3.0 });
	expect((double[]){ 5, 5 }, 2, "2", (double[]){ 0.5, 0.5 });
}

static void who_is_not_among_the_k_is_never_drawn(void **state)
{
	uint32_t times[HAND_MAX];

	(void)state;
	hand_make(&hand, "soft-k-choice", 4);
	hand_running(&hand, (double[]){ 9, 3, 8, 1 });
	hand_draw(&hand, &picker_soft_k, 100000, times);
	assert_int_equal(times[0], 0);
	assert_int_equal(times[2], 0);
}

/* Ties at the last place are broken by the order of the pool, which is random. */
static void no_place_in_the_configuration_is_favoured(void **state)
{
	const uint32_t draws = 60000;
	const double loads[] = { 0, 1, 1 };
	const double expected[] = { 2 / 3.0, 1 / 6.0, 1 / 6.0 };
	uint32_t times[3] = { 0 };
	struct rng rng = { 3 };

	(void)state;
	for (uint32_t i = 0; i < draws; i++) {
		uint32_t order[] = { 0, 1, 2 };

		hand_make(&hand, "soft-k-choice", 3);
		hand.rng.state = rng_next(&rng);
		rng_shuffle(&rng, order, 3);
		for (size_t at = 0; at < 3; at++) {
			hand.pool[at].target = &hand.targets[order[at]];
			hand.pool[at].running_scored = loads[order[at]];
		}
		times[hand.pool[picker_soft_k.pick(&hand.walk, hand.entry.picker_settings)]
		              .target->id]++;
	}
	for (size_t i = 0; i < 3; i++)
		expect_probability(times[i], draws, expected[i]);
}

static void a_seed_gives_the_draws_of_the_specification(void **state)
{
	const double expected[] = { 1, 3, 3, 1 };

	(void)state;
	hand_make(&hand, "soft-k-choice", 4);
	hand_running(&hand, (double[]){ 9, 3, 8, 1 });
	for (size_t i = 0; i < 4; i++)
		assert_true(hand.pool[picker_soft_k.pick(&hand.walk, hand.entry.picker_settings)]
		                    .running_scored == expected[i]);
}

static void tokens_are_compared_in_requests(void **state)
{
	const double tokens[] = { 2030.4, 1676.8, 676.8 };
	const uint32_t draws = 100000;
	uint32_t times[HAND_MAX];

	(void)state;
	hand_make(&hand, "soft-k-choice", 3);
	hand_running(&hand, (double[]){ 3, 1, 1 });
	for (size_t i = 0; i < 3; i++)
		hand.pool[i].tokens = tokens[i];
	set("by", "tokens");
	hand_draw(&hand, &picker_soft_k, draws, times);
	expect_probability(times[0], draws, 0);
	expect_probability(times[1], draws, 0.378263);
	expect_probability(times[2], draws, 0.621737);
}

static void without_tokens_all_weigh_the_same(void **state)
{
	const uint32_t draws = 30000;
	uint32_t times[HAND_MAX];

	(void)state;
	hand_make(&hand, "soft-k-choice", 2);
	set("by", "tokens");
	hand_draw(&hand, &picker_soft_k, draws, times);
	expect_probability(times[0], draws, 0.5);
}

/* At 20 s, by an agent that was heard of at 18 and 19 s and took so many slots between. */
static void others_took(struct peers *peers, uint64_t slots)
{
	struct peer_load load = { .acquired = 0 };

	assert_int_equal(peers_hear(peers, 1, 1, 18 * SECOND, 18 * SECOND), PEER_NEWS);
	peers_load(peers, 1, 2, &load);
	load.acquired = slots;
	assert_int_equal(peers_hear(peers, 1, 2, 19 * SECOND, 19 * SECOND), PEER_NEWS);
	peers_load(peers, 1, 2, &load);
}

/* lambda = slots / 2 s faded for a second, age 1 s: 0.61, 1.21 and 30.3 for 2, 4 and 100. */
static void auto_is_wider_the_more_is_not_heard_of_yet(void **state)
{
	static const struct {
		uint64_t slots;
		bool alone;
		double probabilities[4];
	} cases[] = {
		{ 0, true, { 0, 1 / 3.0, 0, 2 / 3.0 } },
		{ 0, false, { 0, 1 / 3.0, 0, 2 / 3.0 } },
		{ 2, false, { 0, 1 / 3.0, 0, 2 / 3.0 } },
		{ 4, false, { 0, 0.290323, 0.129032, 0.580645 } },
		{ 100, false, { 0.104046, 0.260116, 0.115607, 0.520231 } },
	};
	const uint32_t draws = 100000;
	uint32_t times[HAND_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hand_make(&hand, "soft-k-choice", 4);
		hand_running(&hand, (double[]){ 9, 3, 8, 1 });
		hand.facts.peers = peers_new(HAND_MAX, hand.facts.ledger);
		assert_non_null(hand.facts.peers);
		if (!cases[i].alone)
			others_took(hand.facts.peers, cases[i].slots);
		hand.walk.now = 20 * SECOND;
		set("k", "auto");
		hand_draw(&hand, &picker_soft_k, draws, times);
		for (size_t k = 0; k < 4; k++)
			expect_probability(times[k], draws, cases[i].probabilities[k]);
		peers_free(hand.facts.peers);
		hand.facts.peers = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_less_loaded_of_k_are_the_likelier),
		cmocka_unit_test(who_is_not_among_the_k_is_never_drawn),
		cmocka_unit_test(no_place_in_the_configuration_is_favoured),
		cmocka_unit_test(a_seed_gives_the_draws_of_the_specification),
		cmocka_unit_test(tokens_are_compared_in_requests),
		cmocka_unit_test(without_tokens_all_weigh_the_same),
		cmocka_unit_test(auto_is_wider_the_more_is_not_heard_of_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
