/* test_pins.c - keys pinned to targets: how long, how many, and that they move once.
 * Proves R162, B019, B020. */
#include "policies/state/pins.h"
#include "tests/failing_calloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TARGETS = 8 };

static struct pins *pins;
static const usec_t hour = 3600 * SECOND;

static int begin(void **state)
{
	(void)state;
	pins = pins_new(4, TARGETS, hour);
	return pins ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	pins_free(pins);
	return 0;
}

static struct pin_key key(const char *text)
{
	return pin_key_of((struct span){ text, strlen(text) }, 0);
}

/* The target; -1 for nowhere. */
static int where(const char *text, usec_t now)
{
	struct pin pin;

	return pins_find(pins, key(text), now, &pin) ? (int)pin.target : -1;
}

static void a_key_is_pinned_by_its_first_use(void **state)
{
	pin_serial serial;

	(void)state;
	assert_int_equal(where("a", 0), -1);
	serial = pins_hold(pins, key("a"), 3, 0);
	assert_true(serial != 0);
	assert_int_equal(where("a", 0), 3);
	/* Where it is pinned counts, not where it is wished. */
	assert_true(pins_hold(pins, key("a"), 5, 1) == 0);
	assert_int_equal(where("a", 1), 3);
	assert_true(pins_hold(pins, key("a"), 3, 2) == serial);
	assert_int_equal(pins_count(pins), 1);
	assert_int_equal(pins_counts(pins)->made, 1);
}

/* session-1 and session-12 are two; so are a session of one owner and of another. */
static void keys_are_equal_or_not(void **state)
{
	struct span text = { "session-12", 9 };
	struct pin_key one = pin_key_of(text, 0), twelve, other, again;

	(void)state;
	text.len = 10;
	twelve = pin_key_of(text, 0);
	other = pin_key_of(text, 1);
	again = pin_key_of(text, 0);
	assert_true(one.hash != twelve.hash && one.check != twelve.check);
	assert_true(other.hash != twelve.hash && other.check != twelve.check);
	assert_true(again.hash == twelve.hash && again.check == twelve.check);
	pins_put(pins, one, 1, 0);
	pins_put(pins, twelve, 2, 0);
	assert_int_equal(where("session-1", 0), 1);
	assert_int_equal(where("session-12", 0), 2);
}

/* Of one hash, the check tells. */
static void half_a_key_is_none(void **state)
{
	struct pin_key mine = { .hash = 8, .check = 1 }, other = { .hash = 8, .check = 2 };
	struct pin pin;

	(void)state;
	pins_put(pins, mine, 1, 0);
	assert_false(pins_find(pins, other, 0, &pin));
	pins_put(pins, other, 2, 0);
	assert_true(pins_find(pins, mine, 0, &pin));
	assert_int_equal(pin.target, 1);
}

static void a_pin_lives_from_its_last_use(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	(void)pins_hold(pins, key("a"), 1, hour);
	assert_int_equal(where("a", 2 * hour), 1);
	assert_int_equal(where("a", 2 * hour + 1), -1);
	/* What was found too old is made anew. */
	(void)pins_hold(pins, key("a"), 2, 2 * hour + 1);
	assert_int_equal(where("a", 2 * hour + 1), 2);
	assert_int_equal(pins_counts(pins)->expired, 1);
	assert_int_equal(pins_count(pins), 1);
}

static void a_shorter_life_holds_for_all(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	pins_set_ttl(pins, SECOND);
	assert_int_equal(where("a", SECOND), 1);
	assert_int_equal(where("a", SECOND + 1), -1);
}

static void the_one_used_longest_ago_makes_room(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	pins_put(pins, key("b"), 1, 1);
	pins_put(pins, key("c"), 1, 2);
	pins_put(pins, key("d"), 1, 3);
	(void)pins_hold(pins, key("a"), 1, 4);
	pins_put(pins, key("e"), 1, 5);
	assert_int_equal(where("b", 5), -1);
	assert_int_equal(where("a", 5), 1);
	assert_int_equal(where("e", 5), 1);
	assert_int_equal(pins_count(pins), 4);
	assert_int_equal(pins_counts(pins)->evicted, 1);
}

/* 4 places, 10 000 keys: each is found right after, and never more than four. */
static void any_number_of_keys_fits(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 10000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "k%u", i);
		pins_put(pins, key(text), i % TARGETS, i);
		assert_int_equal(where(text, i), i % TARGETS);
		assert_true(pins_count(pins) <= pins_room(pins));
	}
	assert_int_equal(pins_counts(pins)->evicted, 9996);
}

/* Of two requests that saw it at 1, the first moves it; the second does not move it back. */
static void a_pin_moves_once(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	assert_true(pins_move(pins, key("a"), 1, 2, 1));
	assert_false(pins_move(pins, key("a"), 1, 3, 1));
	assert_int_equal(where("a", 1), 2);
	assert_false(pins_move(pins, key("a"), 2, 2, 1));
	assert_int_equal(pins_counts(pins)->moved, 1);
	/* From nowhere it goes anywhere, but only if it is nowhere. */
	assert_false(pins_move(pins, key("a"), TARGET_NONE, 4, 1));
	assert_true(pins_move(pins, key("b"), TARGET_NONE, 4, 1));
	assert_int_equal(where("b", 1), 4);
}

static void a_forgotten_target_has_no_pins(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	pins_put(pins, key("b"), 2, 0);
	pins_forget(pins, 1);
	assert_int_equal(where("a", 0), -1);
	assert_int_equal(where("b", 0), 2);
	/* Whoever has the id now gets pins of its own. */
	pins_put(pins, key("a"), 1, 1);
	assert_int_equal(where("a", 1), 1);
	assert_int_equal(pins_counts(pins)->forgotten, 1);
	/* A move from one who is forgotten finds no pin there. */
	pins_forget(pins, 1);
	assert_true(pins_move(pins, key("a"), 1, 3, 2));
	assert_int_equal(where("a", 2), 3);
}

static uint32_t open_of(const char *text)
{
	struct pin pin = { .open = UINT32_MAX };

	(void)pins_find(pins, key(text), 0, &pin);
	return pin.open;
}

static void requests_are_counted_while_they_hold_it(void **state)
{
	pin_serial first, second, other;

	(void)state;
	first = pins_hold(pins, key("a"), 1, 0);
	second = pins_hold(pins, key("a"), 1, 0);
	assert_int_equal(open_of("a"), 2);
	pins_release(pins, key("a"), first);
	assert_int_equal(open_of("a"), 1);
	/* At another place the count begins anew, and old holders are not of it. */
	assert_true(pins_move(pins, key("a"), 1, 2, 0));
	assert_int_equal(open_of("a"), 0);
	other = pins_hold(pins, key("a"), 2, 0);
	pins_release(pins, key("a"), second);
	assert_int_equal(open_of("a"), 1);
	pins_release(pins, key("a"), 0);
	assert_int_equal(open_of("a"), 1);
	pins_release(pins, key("a"), other);
	pins_release(pins, key("a"), other);
	assert_int_equal(open_of("a"), 0);
	pins_release(pins, key("nobody"), other);
}

static void what_is_too_old_is_swept(void **state)
{
	(void)state;
	pins_put(pins, key("a"), 1, 0);
	pins_put(pins, key("b"), 1, 1);
	pins_put(pins, key("c"), 1, hour);
	pins_sweep(pins, hour + 1, 100);
	assert_int_equal(pins_count(pins), 2);
	pins_sweep(pins, hour + 2, 0);
	assert_int_equal(pins_count(pins), 2);
	pins_sweep(pins, hour + 2, 100);
	assert_int_equal(pins_count(pins), 1);
	assert_int_equal(where("c", hour + 2), 1);
	assert_int_equal(pins_counts(pins)->expired, 2);
	pins_sweep(pins, 3 * hour, 100);
	assert_int_equal(pins_count(pins), 0);
	pins_put(pins, key("d"), 1, 3 * hour);
	assert_int_equal(where("d", 3 * hour), 1);
}

static char listed[8];

static void list(void *data, struct pin_key visited, const struct pin *pin)
{
	(void)data;
	(void)visited;
	listed[strlen(listed)] = (char)('0' + pin->target);
}

static void all_are_listed_from_the_last_used_on(void **state)
{
	(void)state;
	memset(listed, 0, sizeof(listed));
	pins_put(pins, key("a"), 1, 0);
	pins_put(pins, key("b"), 2, 10);
	pins_put(pins, key("c"), 3, 20);
	pins_put(pins, key("a"), 1, 30);
	pins_forget(pins, 3);
	pins_each(pins, 30, 8, list, NULL);
	assert_string_equal(listed, "12");
	memset(listed, 0, sizeof(listed));
	pins_each(pins, 30, 1, list, NULL);
	assert_string_equal(listed, "1");
	memset(listed, 0, sizeof(listed));
	pins_each(pins, 30 + 2 * hour, 8, list, NULL);
	assert_string_equal(listed, "");
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 4; i++) {
		failing = i;
		assert_null(pins_new(100, TARGETS, hour));
	}
	assert_int_equal(failing, 0);
	pins_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_key_is_pinned_by_its_first_use),
		TEST(keys_are_equal_or_not),
		TEST(half_a_key_is_none),
		TEST(a_pin_lives_from_its_last_use),
		TEST(a_shorter_life_holds_for_all),
		TEST(the_one_used_longest_ago_makes_room),
		TEST(any_number_of_keys_fits),
		TEST(a_pin_moves_once),
		TEST(a_forgotten_target_has_no_pins),
		TEST(requests_are_counted_while_they_hold_it),
		TEST(what_is_too_old_is_swept),
		TEST(all_are_listed_from_the_last_used_on),
		cmocka_unit_test(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
