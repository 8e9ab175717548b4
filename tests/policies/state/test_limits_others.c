/* test_limits_others.c - one limit over many agents, each with its own table: what passes beyond it
 * is what telling takes in time, no more. Proves B043. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/limits.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

enum { AGENTS = 4, WAITING = 4096 };

static const usec_t noon = 10000 * SECOND;
static const usec_t tick = 100 * MSEC;

struct word {
	uint32_t agent;
	uint64_t key;
	enum limit_of of;
	double used[LIMIT_UNITS];
	usec_t over, told_at;
	uint32_t inflight;
};

static struct {
	struct limit_table *limits[AGENTS];
	struct quota quota;
	struct word words[WAITING]; /* told, and not heard by all yet */
	uint32_t count, heard;
	uint32_t teller;
	usec_t now;
} world;

static int set_up(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	for (int i = 0; i < AGENTS; i++)
		world.limits[i] = limits_new(64);
	world.now = noon;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < AGENTS; i++)
		limits_free(world.limits[i]);
	return 0;
}

static struct limit_subject subject(void)
{
	return (struct limit_subject){ .of = LIMIT_OF_TENANT,
		                       .key = limits_key(LIMIT_OF_TENANT, SPAN("anna"),
		                                         (struct span){ NULL, 0 }),
		                       .quota = &world.quota,
		                       .tenant = SPAN("anna") };
}

/* True if it passed; the receipt is of use to who settles. */
static bool ask(uint32_t agent, double tokens, struct limit_receipt *ret_receipt)
{
	struct limit_check check = { .count = 1, .tokens = tokens, .subjects = { subject() } };

	limits_ask(world.limits[agent], &check, world.now);
	if (check.refused != LIMIT_NONE)
		return false;
	limits_charge(world.limits[agent], &check, true, world.now, ret_receipt);
	return true;
}

static bool note(void *data, const struct limit_use *use)
{
	struct word *word = &world.words[world.count % WAITING];

	(void)data;
	assert_true(world.count - world.heard < WAITING);
	world.count++;
	*word = (struct word){ .agent = world.teller,
		               .key = use->key,
		               .of = use->of,
		               .used = { use->used[0], use->used[1] },
		               .over = use->over,
		               .told_at = world.now,
		               .inflight = use->inflight };
	assert_string_equal(use->tenant, "anna");
	assert_string_equal(use->model, "");
	return true;
}

static void tell_all(void)
{
	for (world.teller = 0; world.teller < AGENTS; world.teller++)
		limits_tell(world.limits[world.teller], world.now, note, NULL);
}

/* What was told so long ago arrives. known: its age is. */
static void hear_all(usec_t lag, bool known)
{
	for (; world.heard < world.count; world.heard++) {
		const struct word *word = &world.words[world.heard % WAITING];
		struct limit_use use = { .of = word->of,
			                 .key = word->key,
			                 .tenant = "anna",
			                 .model = "",
			                 .used = { word->used[0], word->used[1] },
			                 .over = word->over,
			                 .inflight = word->inflight };
		struct limit_subject own = subject();

		if (world.now - word->told_at < lag)
			return;
		for (uint32_t i = 0; i < AGENTS; i++)
			if (i != word->agent)
				limits_heard(world.limits[i], 1 + word->agent, &own, &use,
				             known ? world.now - word->told_at : 0, world.now);
	}
}

/* Every agent asks as often as it can for so long; how many units passed in all. */
static double pass_all(double tokens, usec_t lag, bool known, double seconds)
{
	struct limit_receipt receipt;
	double passed = 0;

	for (usec_t end = world.now + (usec_t)(seconds * 1e6); world.now < end;
	     world.now += 10 * MSEC) {
		hear_all(lag, known);
		for (uint32_t i = 0; i < AGENTS; i++)
			for (int k = 0; k < 20 && ask(i, tokens, &receipt); k++) {
				passed += tokens > 0 ? tokens : 1;
				limits_release(world.limits[i], &receipt);
			}
		if (world.now % tick == 0)
			tell_all();
	}
	return passed;
}

static void requests_over_all_agents_are_those_of_one(usec_t lag, bool known)
{
	const double rate = 20, burst = 10, seconds = 60;
	double allowed, least, most, late;

	world.quota = (struct quota){ .requests = { rate, 1 }, .requests_burst = burst };
	tell_all(); /* somebody listens */
	late = (double)(lag + tick + 10 * MSEC) / 1e6;
	allowed = rate * seconds + burst;
	/* Once, at the start, each has a burst of its own, and what it allows until it hears. */
	most = allowed + (AGENTS - 1) * (burst + rate * late);
	least = rate * seconds * 0.97;
	allowed = pass_all(0, lag, known, seconds);
	assert_true(allowed >= least);
	assert_true(allowed <= most + 1);
}

static void requests_pass_as_if_there_were_one_agent(void **state)
{
	static const usec_t lags[] = { 0, 100 * MSEC, SECOND };

	for (size_t i = 0; i < 6; i++) {
		requests_over_all_agents_are_those_of_one(lags[i / 2], i % 2);
		tear_down(state);
		set_up(state);
	}
}

/* In any time after the first, too: rate x time + agents x (burst + rate x lag). */
static void the_excess_does_not_grow_with_time(void **state)
{
	const double rate = 20, burst = 10;
	double passed;

	(void)state;
	world.quota = (struct quota){ .requests = { rate, 1 }, .requests_burst = burst };
	tell_all();
	(void)pass_all(0, 100 * MSEC, true, 30);
	passed = pass_all(0, 100 * MSEC, true, 600);
	assert_true(fabs(passed - rate * 600) <= rate * 0.21 * AGENTS + 1);
}

static void tokens_pass_as_if_there_were_one_agent(void **state)
{
	const double rate = 10000, burst = 20000, seconds = 120;
	double passed;

	(void)state;
	world.quota = (struct quota){ .tokens = { rate, 1 }, .tokens_burst = burst };
	tell_all();
	passed = pass_all(1500, 100 * MSEC, true, seconds);
	assert_true(passed >= 0.97 * rate * seconds);
	assert_true(passed <= rate * seconds + AGENTS * (burst + rate * 0.21) + 1500 * AGENTS);
}

static void what_is_settled_and_given_back_is_told_too(void **state)
{
	struct limit_receipt receipt, other;

	(void)state;
	world.quota = (struct quota){ .requests = { 1, 1 },
		                      .requests_burst = 10,
		                      .tokens = { 1000, 1 },
		                      .tokens_burst = 10000 };
	tell_all();
	assert_true(ask(0, 3256, &receipt));
	assert_true(ask(0, 1000, &other));
	tell_all();
	hear_all(0, true);
	assert_true(fabs(limits_at(world.limits[1], 0, world.now).used[LIMIT_TOKENS] - 4256) <
	            1e-6);
	assert_true(fabs(limits_at(world.limits[1], 0, world.now).used[LIMIT_REQUESTS] - 2) < 1e-6);
	limits_settle(world.limits[0], &receipt, 5000);
	limits_refund(world.limits[0], &other);
	tell_all();
	hear_all(0, true);
	assert_true(fabs(limits_at(world.limits[1], 0, world.now).used[LIMIT_TOKENS] - 5000) <
	            1e-6);
	assert_true(fabs(limits_at(world.limits[1], 0, world.now).used[LIMIT_REQUESTS] - 1) < 1e-6);
}

static void requests_at_a_time_are_counted_over_all(void **state)
{
	struct limit_receipt receipts[8];

	(void)state;
	world.quota = (struct quota){ .max_inflight = 5 };
	tell_all();
	for (int i = 0; i < 3; i++)
		assert_true(ask(0, 0, &receipts[i]));
	assert_true(ask(1, 0, &receipts[3]));
	tell_all();
	hear_all(0, true);
	assert_int_equal(limits_at(world.limits[2], 0, world.now).inflight, 4);
	assert_true(ask(2, 0, &receipts[4]));
	assert_false(ask(2, 0, &receipts[5]));
	limits_release(world.limits[0], &receipts[0]);
	world.now += tick;
	tell_all();
	hear_all(0, true);
	assert_true(ask(2, 0, &receipts[5]));
	/* What others have open is never told as ours. */
	assert_int_equal(limits_at(world.limits[3], 0, world.now).inflight, 4);
}

static void what_is_open_is_repeated_and_dropped_when_it_is_not(void **state)
{
	struct limit_receipt receipt;
	uint32_t told;

	(void)state;
	world.quota = (struct quota){ .max_inflight = 1 };
	tell_all();
	assert_true(ask(0, 0, &receipt));
	for (int i = 0; i < 50; i++, world.now += tick) {
		tell_all();
		hear_all(0, true);
		limits_sweep(world.limits[1], world.now);
		assert_false(ask(1, 0, &receipt));
	}
	told = world.count;
	assert_true(told >= 5 && told <= 6); /* once a second */
	world.now += 1900 * MSEC;
	limits_sweep(world.limits[1], world.now);
	assert_false(ask(1, 0, &receipt));
	world.now += 200 * MSEC;
	limits_sweep(world.limits[1], world.now);
	assert_true(ask(1, 0, &receipt));
}

static void who_says_goodbye_has_nothing_open(void **state)
{
	struct limit_receipt receipt;

	(void)state;
	world.quota = (struct quota){ .max_inflight = 1 };
	tell_all();
	assert_true(ask(0, 0, &receipt));
	tell_all();
	hear_all(0, true);
	limits_bye(world.limits[1], 7);
	assert_false(ask(1, 0, &receipt));
	limits_bye(world.limits[1], 1);
	assert_true(ask(1, 0, &receipt));
}

static bool no_room(void *data, const struct limit_use *use)
{
	uint32_t *room = data;

	(void)use;
	return (*room)-- > 0;
}

static void what_there_was_no_room_for_is_told_later(void **state)
{
	struct limit_receipt receipt;
	uint32_t room = 0;

	(void)state;
	world.quota = (struct quota){ .requests = { 10, 1 }, .requests_burst = 10 };
	tell_all();
	assert_true(ask(0, 0, &receipt));
	limits_tell(world.limits[0], world.now, no_room, &room);
	world.now += SECOND;
	tell_all();
	assert_int_equal(world.count, 1);
	assert_true(world.words[0].used[LIMIT_REQUESTS] == 1);
	assert_int_equal(world.words[0].over, SECOND);
}

static void while_nobody_listens_nothing_is_kept(void **state)
{
	struct limit_receipt receipt;

	(void)state;
	world.quota = (struct quota){ .requests = { 10, 1 }, .requests_burst = 100 };
	assert_true(ask(0, 0, &receipt));
	tell_all();
	assert_int_equal(world.count, 0);
	assert_true(ask(0, 0, &receipt));
	world.now += 11 * SECOND;
	assert_true(ask(0, 0, &receipt));
	tell_all();
	assert_int_equal(world.count, 0);
	assert_true(ask(0, 0, &receipt));
	tell_all();
	assert_int_equal(world.count, 1);
	assert_true(world.words[0].used[LIMIT_REQUESTS] == 1);
}

/* A long silence of the store, and then all at once: what was used meanwhile is there again. */
static void what_was_used_long_ago_is_there_again(void **state)
{
	struct limit_subject own = subject();
	struct limit_use use = { .of = own.of,
		                 .key = own.key,
		                 .tenant = "anna",
		                 .model = "",
		                 .used = { 600, 0 },
		                 .over = 600 * SECOND };
	struct limit_receipt receipt;

	(void)state;
	world.quota = (struct quota){ .requests = { 1, 1 }, .requests_burst = 5 };
	limits_heard(world.limits[0], 9, &own, &use, 0, world.now);
	for (int i = 0; i < 5; i++)
		assert_true(ask(0, 0, &receipt));
	assert_false(ask(0, 0, &receipt));
}

static void numbers_from_outside_are_clamped(void **state)
{
	static const double numbers[] = { 1e300,       (double)INFINITY, -(double)INFINITY,
		                          (double)NAN, -1e300,           1e6 };
	struct limit_subject own = subject();
	struct limit_view view;

	(void)state;
	world.quota = (struct quota){
		.requests = { 10, 1 }, .requests_burst = 10, .tokens = { 10, 1 }, .max_inflight = 3
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct limit_use use = { .of = own.of,
			                 .key = own.key,
			                 .tenant = "anna",
			                 .model = "",
			                 .used = { numbers[i], numbers[i] },
			                 .over = UINT64_MAX,
			                 .inflight = UINT32_MAX };

		limits_heard(world.limits[0], 9 + i, &own, &use, 0, world.now);
		use.over = 0;
		limits_heard(world.limits[0], 9 + i, &own, &use, 0, world.now);
		view = limits_at(world.limits[0], 0, world.now);
		assert_true(view.reset_s[LIMIT_REQUESTS] <= 65 * 10 / 10.0 + 1e-6);
		assert_true(view.reset_s[LIMIT_TOKENS] <= 65 * 10 / 10.0 + 1e-6);
		assert_true(view.used[LIMIT_TOKENS] >= 0);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		limits_bye(world.limits[0], 9 + i);
	assert_int_equal(limits_at(world.limits[0], 0, world.now).inflight, 0);
}

static void who_comes_here_himself_finds_a_place(void **state)
{
	struct limit_receipt receipt;

	(void)state;
	world.quota = (struct quota){ .requests = { 1, 60 }, .requests_burst = 1 };
	for (uint64_t key = 1; key < 1000; key++) {
		struct limit_subject own = subject();
		struct limit_use use = {
			.of = own.of, .tenant = "anna", .model = "", .used = { 60, 0 }
		};

		own.key = use.key = 2 * key + 1;
		limits_heard(world.limits[0], 9, &own, &use, 0, world.now);
	}
	assert_true(limits_count(world.limits[0]) < 64);
	assert_true(ask(0, 0, &receipt));
	assert_false(ask(0, 0, &receipt));
}

/* A place is taken over by another key while it waits to be told of. */
static void places_that_change_hands_stay_in_order(void **state)
{
	struct rng rng = { 3 };
	struct limit_table *limits = limits_new(4);
	struct quota quota = { .requests = { 100, 1 }, .requests_burst = 5, .max_inflight = 2 };

	(void)state;
	for (int step = 0; step < 20000; step++, world.now += rng_below(&rng, 20) * MSEC) {
		char name[8] = { (char)('a' + rng_below(&rng, 12)), '\0' };
		struct limit_check check = { .count = 1 };
		struct limit_receipt receipt;
		uint32_t room = rng_below(&rng, 4);

		check.subjects[0] = (struct limit_subject){
			.of = LIMIT_OF_TENANT,
			.key = limits_key(LIMIT_OF_TENANT, SPAN(name), (struct span){ NULL, 0 }),
			.quota = &quota,
			.tenant = SPAN(name),
		};
		limits_ask(limits, &check, world.now);
		if (check.refused == LIMIT_NONE) {
			limits_charge(limits, &check, true, world.now, &receipt);
			limits_settle(limits, &receipt, 0);
		}
		if (step % 3 == 0)
			limits_tell(limits, world.now, no_room, &room);
	}
	limits_free(limits);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(requests_pass_as_if_there_were_one_agent),
		TEST(the_excess_does_not_grow_with_time),
		TEST(tokens_pass_as_if_there_were_one_agent),
		TEST(what_is_settled_and_given_back_is_told_too),
		TEST(requests_at_a_time_are_counted_over_all),
		TEST(what_is_open_is_repeated_and_dropped_when_it_is_not),
		TEST(who_says_goodbye_has_nothing_open),
		TEST(what_there_was_no_room_for_is_told_later),
		TEST(while_nobody_listens_nothing_is_kept),
		TEST(what_was_used_long_ago_is_there_again),
		TEST(numbers_from_outside_are_clamped),
		TEST(who_comes_here_himself_finds_a_place),
		TEST(places_that_change_hands_stay_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
