/* test_pins_heard.c - pins of several agents: one stream of entries, read by all in one order, and
 * in the end each key is at one place. Proves R162. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/pins.h"

enum { A, B, C, TARGETS, AGENTS = 3, KEYS = 5, ENTRIES = 4096 };

static const usec_t noon = 9000 * SECOND;
static const usec_t ttl = 3600 * SECOND;

struct told {
	struct pin_key key;
	uint32_t agent, from, to;
};

/* Each agent writes to the stream at once, and reads it when the test says. */
static struct {
	struct pins *pins[AGENTS];
	struct told stream[ENTRIES];
	uint32_t count, read[AGENTS];
	struct told all[ENTRIES]; /* whatever becomes of the stream */
	uint32_t all_count;
	bool lost[AGENTS]; /* the stream was, and the agent has not seen it yet */
} world;

static int set_up(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	for (int i = 0; i < AGENTS; i++)
		world.pins[i] = pins_new(64, TARGETS, ttl);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < AGENTS; i++)
		pins_free(world.pins[i]);
	return 0;
}

static struct pin_key key(uint32_t number)
{
	return (struct pin_key){ .hash = number, .check = number };
}

static void tell(uint32_t agent, struct pin_key key, uint32_t from, uint32_t to)
{
	assert_true(world.count < ENTRIES && world.all_count < ENTRIES);
	world.stream[world.count++] = (struct told){ key, agent, from, to };
	world.all[world.all_count++] = (struct told){ key, agent, from, to };
}

static void lose_the_stream(void)
{
	world.count = 0;
	for (uint32_t i = 0; i < AGENTS; i++) {
		world.read[i] = 0;
		world.lost[i] = true;
	}
}

static uint32_t where(uint32_t agent, uint32_t number, usec_t now);

/* What an agent does when it sees that: all that it told and is still so is told again. */
static void see_the_loss(uint32_t agent, usec_t now)
{
	uint32_t count = world.all_count;

	world.lost[agent] = false;
	pins_anew(world.pins[agent]);
	for (uint32_t i = 0; i < count; i++) {
		const struct told told = world.all[i];

		if (told.agent != agent || where(agent, told.key.check, now) != told.to)
			continue;
		pins_told_again(world.pins[agent], told.key);
		tell(agent, told.key, told.from, told.to);
	}
}

static void claim(uint32_t agent, uint32_t number, uint32_t to, usec_t now)
{
	uint64_t made = pins_counts(world.pins[agent])->made;

	(void)pins_hold(world.pins[agent], key(number), to, now);
	if (pins_counts(world.pins[agent])->made != made)
		tell(agent, key(number), TARGET_NONE, to);
}

static void move(uint32_t agent, uint32_t number, uint32_t from, uint32_t to, usec_t now)
{
	if (pins_move(world.pins[agent], key(number), from, to, now))
		tell(agent, key(number), from, to);
}

static uint32_t where(uint32_t agent, uint32_t number, usec_t now)
{
	struct pin pin;

	return pins_find(world.pins[agent], key(number), now, &pin) ? pin.target : TARGET_NONE;
}

/* The next entry that the agent has not read. */
static bool read_one(uint32_t agent, usec_t now)
{
	const struct told *told;
	struct pin_entry entry;

	if (world.lost[agent])
		see_the_loss(agent, now);
	told = &world.stream[world.read[agent]];
	entry = (struct pin_entry){ told->from, told->to, told->agent == agent };
	if (world.read[agent] == world.count)
		return false;
	world.read[agent]++;
	(void)pins_heard(world.pins[agent], told->key, &entry, now, now);
	return true;
}

static void read_all(usec_t now)
{
	for (uint32_t i = 0; i < AGENTS; i++)
		while (read_one(i, now))
			;
}

static void expect_all(uint32_t number, uint32_t target, usec_t now)
{
	for (uint32_t i = 0; i < AGENTS; i++)
		assert_int_equal(where(i, number, now), target);
}

static void a_claim_is_known_to_all(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	read_all(noon);
	expect_all(1, A, noon);
	/* And is theirs: who comes there finds it, and claims nothing. */
	claim(1, 1, B, noon);
	assert_int_equal(world.count, 1);
}

static void of_two_claims_the_first_in_the_stream_holds(void **state)
{
	(void)state;
	claim(1, 1, B, noon);
	claim(0, 1, A, noon);
	assert_int_equal(where(0, 1, noon), A); /* until it reads */
	read_all(noon);
	expect_all(1, B, noon);
}

static void a_claim_that_is_read_back_is_not_lost_to_a_later_one(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	assert_true(read_one(0, noon));
	claim(1, 1, B, noon);
	read_all(noon);
	expect_all(1, A, noon);
}

static void a_move_counts_from_where_the_pin_is(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	read_all(noon);
	move(1, 1, A, B, noon);
	move(2, 1, A, C, noon);
	assert_int_equal(where(2, 1, noon), C);
	read_all(noon);
	expect_all(1, B, noon);
}

static void two_moves_of_ones_own_before_either_is_read_hold(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	move(0, 1, A, B, noon);
	move(0, 1, B, C, noon);
	read_all(noon);
	expect_all(1, C, noon);
	/* Reading the first of them back does not take the second away meanwhile. */
	move(0, 1, C, A, noon);
	move(0, 1, A, B, noon);
	assert_true(read_one(0, noon));
	assert_int_equal(where(0, 1, noon), B);
}

static void a_chain_of_moves_that_came_too_late_is_given_up_whole(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	read_all(noon);
	move(1, 1, A, C, noon);
	move(0, 1, A, B, noon);
	move(0, 1, B, A, noon);
	read_all(noon);
	expect_all(1, C, noon);
}

static void what_is_heard_of_a_pin_keeps_it_alive(void **state)
{
	struct pin_entry used = { A, A, false };

	(void)state;
	claim(0, 1, A, noon);
	read_all(noon);
	assert_false(pins_untold(world.pins[0], key(1), noon + ttl / 8 - 1));
	assert_true(pins_untold(world.pins[0], key(1), noon + ttl / 8));
	assert_false(pins_untold(world.pins[0], key(1), noon + ttl / 8));
	assert_false(pins_untold(world.pins[0], key(2), noon + ttl / 8));
	assert_false(pins_heard(world.pins[1], key(1), &used, noon + ttl / 2, noon + ttl / 2));
	assert_int_equal(where(1, 1, noon + ttl + SECOND), A);
	assert_int_equal(where(2, 1, noon + ttl + SECOND), TARGET_NONE);
	/* Who heard it does not tell it anew. */
	assert_false(pins_untold(world.pins[1], key(1), noon + ttl / 2));
}

static void an_entry_is_as_old_as_it_is(void **state)
{
	struct pin_entry claimed = { TARGET_NONE, A, false };
	struct pins *pins = world.pins[0];

	(void)state;
	assert_false(pins_heard(pins, key(1), &claimed, noon - ttl - 1, noon));
	assert_int_equal(where(0, 1, noon), TARGET_NONE);
	assert_true(pins_heard(pins, key(1), &claimed, noon - ttl / 2, noon));
	assert_int_equal(where(0, 1, noon + ttl / 2), A);
	assert_int_equal(where(0, 1, noon + ttl / 2 + 1), TARGET_NONE);
	/* Older than the machine is up. */
	assert_true(pins_heard(pins, key(2), &claimed, SECOND - 2 * SECOND, SECOND));
	assert_int_equal(where(0, 2, ttl), A);
	assert_int_equal(where(0, 2, ttl + 1), TARGET_NONE);
}

static void an_old_entry_does_not_make_a_pin_older(void **state)
{
	struct pin_entry used = { A, A, false };

	(void)state;
	claim(0, 1, A, noon);
	(void)pins_heard(world.pins[0], key(1), &used, noon - ttl / 2, noon);
	assert_int_equal(where(0, 1, noon + ttl), A);
}

static void ones_own_entry_does_not_make_a_pin_that_is_gone(void **state)
{
	struct pin_entry own = { TARGET_NONE, A, true };

	(void)state;
	assert_false(pins_heard(world.pins[0], key(1), &own, noon, noon));
	assert_int_equal(where(0, 1, noon), TARGET_NONE);
}

static void a_move_of_a_pin_that_was_not_known_is_taken(void **state)
{
	struct pin_entry moved = { A, B, false };

	(void)state;
	assert_true(pins_heard(world.pins[0], key(1), &moved, noon, noon));
	assert_int_equal(where(0, 1, noon), B);
	/* Our own claim, not read back yet, was made without knowing of it. */
	claim(1, 1, C, noon);
	assert_true(pins_heard(world.pins[1], key(1), &moved, noon, noon));
	assert_int_equal(where(1, 1, noon), B);
}

static void read_claim_or_move(struct rng *rng)
{
	uint32_t agent = rng_below(rng, AGENTS);
	uint32_t number = rng_below(rng, KEYS);
	uint32_t at = where(agent, number, noon);

	if (rng_unit(rng) < 0.6)
		(void)read_one(agent, noon);
	else if (at == TARGET_NONE)
		claim(agent, number, rng_below(rng, TARGETS), noon);
	else
		move(agent, number, at, rng_below(rng, TARGETS), noon);
}

/* Whatever is claimed and moved while the stream is read late: when all have read all of it, all
 * agree, and nobody has written anything in return. */
static void in_the_end_all_agree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rng rng = { seed };
		uint32_t written;

		tear_down(NULL);
		set_up(NULL);
		for (int step = 0; step < 300; step++)
			read_claim_or_move(&rng);
		written = world.count;
		read_all(noon);
		assert_int_equal(world.count, written);
		for (uint32_t number = 0; number < KEYS; number++)
			expect_all(number, where(0, number, noon), noon);
	}
}

/* The same while the store loses all of it now and then, and who read it, and who did not. Each
 * agent sees it before it reads what is new, but may have told something by then. */
static void in_the_end_all_agree_whatever_is_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct rng rng = { seed };

		tear_down(NULL);
		set_up(NULL);
		for (int step = 0; step < 200; step++) {
			if (step % 70 == 69)
				lose_the_stream();
			else
				read_claim_or_move(&rng);
		}
		read_all(noon);
		read_all(noon);
		for (uint32_t number = 0; number < KEYS; number++)
			expect_all(number, where(0, number, noon), noon);
	}
}

static void a_claim_that_the_store_lost_holds_all_the_same(void **state)
{
	(void)state;
	claim(0, 1, A, noon);
	assert_true(read_one(0, noon));
	lose_the_stream();
	/* By what it read before, one's own would stay at A, and all others go to B. */
	claim(1, 1, B, noon);
	read_all(noon);
	read_all(noon);
	expect_all(1, B, noon);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_claim_is_known_to_all),
		TEST(of_two_claims_the_first_in_the_stream_holds),
		TEST(a_claim_that_is_read_back_is_not_lost_to_a_later_one),
		TEST(a_move_counts_from_where_the_pin_is),
		TEST(two_moves_of_ones_own_before_either_is_read_hold),
		TEST(a_chain_of_moves_that_came_too_late_is_given_up_whole),
		TEST(what_is_heard_of_a_pin_keeps_it_alive),
		TEST(an_entry_is_as_old_as_it_is),
		TEST(an_old_entry_does_not_make_a_pin_older),
		TEST(ones_own_entry_does_not_make_a_pin_that_is_gone),
		TEST(a_move_of_a_pin_that_was_not_known_is_taken),
		TEST(in_the_end_all_agree),
		TEST(in_the_end_all_agree_whatever_is_lost),
		TEST(a_claim_that_the_store_lost_holds_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
