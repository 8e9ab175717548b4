/* test_ledger.c - counts that are exact, and heal. Time is a number the test picks.
 * Proves R110, R114, R115, R116, R117, R118, R119, R120, R121, P052, P054. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/ledger.h"
#include "tests/failing_calloc.h"

enum { ANNA, BERT, TARGETS };

static int open_books(void **state)
{
	*state = ledger_new(TARGETS, 5 * SECOND, 600 * SECOND);
	return *state ? 0 : -1;
}

static int close_books(void **state)
{
	ledger_free(*state);
	return 0;
}

static struct slot acquire(void *ledger, uint32_t target, usec_t now)
{
	return ledger_acquire(ledger, target, 0, 0, now);
}

static uint32_t running(void *ledger, uint32_t target, usec_t now)
{
	uint32_t own = ledger_work(ledger, target, now).running;

	assert_true(ledger_drift(ledger, target) != 0 || /* whole numbers: exact */
	            ledger_running(ledger, target, now) == own);
	return own;
}

struct warnings {
	int times;
	uint32_t target, slots;
};

static void warn(void *data, uint32_t target, uint32_t slots)
{
	struct warnings *warnings = data;

	warnings->times++;
	warnings->target = target;
	warnings->slots = slots;
}

static void the_example_of_the_specification(void **state)
{
	struct warnings warnings = { 0 };
	struct slot first = acquire(*state, ANNA, 2 * SECOND);
	struct slot second = acquire(*state, ANNA, 303 * SECOND);

	assert_int_equal(first.bucket, 0);
	assert_int_equal(second.bucket, 60);
	ledger_move(*state, &first, BERT, 304 * SECOND);
	assert_int_equal(first.bucket, 0);
	assert_int_equal(running(*state, ANNA, 304 * SECOND), 1);
	assert_int_equal(running(*state, BERT, 304 * SECOND), 1);
	assert_int_equal(running(*state, BERT, 600 * SECOND - 1), 1);
	ledger_sweep(*state, 600 * SECOND - 1, warn, &warnings);
	assert_int_equal(warnings.times, 0);
	ledger_sweep(*state, 600 * SECOND, warn, &warnings);
	assert_int_equal(warnings.times, 1);
	assert_int_equal(warnings.target, BERT);
	assert_int_equal(warnings.slots, 1);
	assert_int_equal(running(*state, BERT, 600 * SECOND), 0);
	assert_int_equal(ledger_expired(*state, BERT), 1);
	assert_false(ledger_release(*state, first, 601 * SECOND));
	assert_int_equal(running(*state, BERT, 601 * SECOND), 0);
	assert_true(ledger_release(*state, second, 700 * SECOND));
	assert_int_equal(running(*state, ANNA, 700 * SECOND), 0);
	ledger_sweep(*state, 2000 * SECOND, warn, &warnings);
	assert_int_equal(warnings.times, 1);
}

static void a_slot_shorter_than_the_counter_lives_on(void **state)
{
	struct slot slot = acquire(*state, ANNA, 0);

	assert_int_equal(running(*state, ANNA, 599 * SECOND), 1);
	assert_int_equal(running(*state, BERT, 599 * SECOND), 0);
	assert_int_equal(running(*state, ANNA, 601 * SECOND), 0);
	assert_false(ledger_release(*state, slot, 700 * SECOND));
	assert_int_equal(running(*state, ANNA, 700 * SECOND), 0);
}

static void tokens_wait_for_the_first_byte_and_stay_until_the_end(void **state)
{
	struct slot slot = ledger_acquire(*state, ANNA, 1000, 2256, 0);
	struct work work = ledger_work(*state, ANNA, SECOND);

	assert_int_equal(work.prefill_tokens, 1000);
	assert_int_equal(work.resident_tokens, 2256); /* 1000 + 0.3 * 2256 = 1676.8 */
	assert_int_equal(work.awaiting, 1);
	ledger_first_byte(*state, &slot, 6 * SECOND);
	ledger_first_byte(*state, &slot, 6 * SECOND); /* once is enough */
	work = ledger_work(*state, ANNA, 6 * SECOND);
	assert_int_equal(work.prefill_tokens, 0);
	assert_int_equal(work.resident_tokens, 2256); /* 0.3 * 2256 = 676.8 */
	assert_int_equal(work.awaiting, 0);
	assert_int_equal(work.running, 1);
	assert_true(ledger_release(*state, slot, 11 * SECOND));
	work = ledger_work(*state, ANNA, 11 * SECOND);
	assert_int_equal(work.running + work.awaiting + work.prefill_tokens + work.resident_tokens,
	                 0);
}

static void a_release_without_a_first_byte_takes_everything(void **state)
{
	struct slot slot = ledger_acquire(*state, ANNA, 1000, 2256, 0);
	struct work work;

	assert_true(ledger_release(*state, slot, SECOND));
	work = ledger_work(*state, ANNA, SECOND);
	assert_int_equal(work.running + work.awaiting + work.prefill_tokens + work.resident_tokens,
	                 0);
}

static void what_expires_takes_its_tokens_along(void **state)
{
	struct work work;

	(void)ledger_acquire(*state, ANNA, 1000, 2256, 0);
	(void)ledger_acquire(*state, ANNA, 10, 20, 300 * SECOND);
	work = ledger_work(*state, ANNA, 600 * SECOND);
	assert_int_equal(work.running, 1);
	assert_int_equal(work.awaiting, 1);
	assert_int_equal(work.prefill_tokens, 10);
	assert_int_equal(work.resident_tokens, 20);
}

static void a_first_byte_after_expiry_counts_nothing(void **state)
{
	struct slot late = ledger_acquire(*state, ANNA, 7, 8, 0);

	(void)ledger_acquire(*state, ANNA, 1, 2, 600 * SECOND); /* takes the same place */
	ledger_first_byte(*state, &late, 600 * SECOND);
	assert_false(late.awaiting);
	assert_int_equal(ledger_work(*state, ANNA, 600 * SECOND).awaiting, 1);
	assert_int_equal(ledger_work(*state, ANNA, 600 * SECOND).prefill_tokens, 1);
}

static void a_move_keeps_the_age_and_what_is_left(void **state)
{
	struct slot slot = ledger_acquire(*state, ANNA, 100, 300, 4 * SECOND);
	struct work work;

	ledger_first_byte(*state, &slot, 9 * SECOND);
	ledger_move(*state, &slot, BERT, 9 * SECOND);
	work = ledger_work(*state, BERT, 9 * SECOND);
	assert_int_equal(work.running, 1);
	assert_int_equal(work.awaiting, 0);
	assert_int_equal(work.prefill_tokens, 0);
	assert_int_equal(work.resident_tokens, 300);
	assert_int_equal(running(*state, ANNA, 9 * SECOND), 0);
	assert_int_equal(running(*state, BERT, 600 * SECOND - 1), 1);
	assert_int_equal(running(*state, BERT, 600 * SECOND), 0);
}

static void an_expired_slot_that_moves_is_taken_anew(void **state)
{
	struct slot slot = ledger_acquire(*state, ANNA, 100, 300, 0);

	ledger_move(*state, &slot, BERT, 700 * SECOND);
	assert_int_equal(running(*state, ANNA, 700 * SECOND), 0);
	assert_int_equal(running(*state, BERT, 700 * SECOND), 1);
	assert_int_equal(slot.bucket, 140);
	assert_true(ledger_release(*state, slot, 800 * SECOND));
	assert_int_equal(running(*state, BERT, 800 * SECOND), 0);
}

static void a_release_takes_from_its_own_bucket(void **state)
{
	struct slot old = acquire(*state, ANNA, 0);

	(void)acquire(*state, ANNA, 300 * SECOND);
	assert_true(ledger_release(*state, old, 301 * SECOND));
	assert_int_equal(running(*state, ANNA, 600 * SECOND), 1); /* the younger one */
	assert_int_equal(ledger_expired(*state, ANNA), 0);
}

static void a_release_after_expiry_changes_nothing(void **state)
{
	struct slot late = acquire(*state, ANNA, 0);

	(void)acquire(*state, ANNA, 600 * SECOND); /* takes the same place in the ring */
	assert_false(ledger_release(*state, late, 600 * SECOND));
	assert_int_equal(running(*state, ANNA, 600 * SECOND), 1);
}

static void a_long_silence_turns_the_ring_once(void **state)
{
	(void)acquire(*state, ANNA, 0);
	assert_int_equal(running(*state, ANNA, 86400 * SECOND), 0);
	assert_int_equal(ledger_expired(*state, ANNA), 1);
	(void)acquire(*state, ANNA, 86400 * SECOND);
	assert_int_equal(running(*state, ANNA, 86999 * SECOND), 1);
	assert_int_equal(running(*state, ANNA, 87000 * SECOND), 0);
}

static void a_forgotten_target_owes_nothing_to_its_predecessor(void **state)
{
	struct slot old = acquire(*state, ANNA, 0);
	struct slot young;

	ledger_reconcile(*state, ANNA, 9, 0);
	ledger_reconcile(*state, ANNA, 9, 0);
	ledger_reconcile(*state, ANNA, 9, 0);
	ledger_forget(*state, ANNA);
	assert_int_equal(running(*state, ANNA, SECOND), 0);
	assert_true(ledger_drift(*state, ANNA) == 0);
	assert_false(ledger_reconciled(*state, ANNA, SECOND, 10 * SECOND));
	young = acquire(*state, ANNA, 2 * SECOND);
	assert_false(ledger_release(*state, old, 2 * SECOND));
	assert_int_equal(running(*state, ANNA, 2 * SECOND), 1);
	ledger_move(*state, &old, BERT, 2 * SECOND);
	assert_int_equal(running(*state, ANNA, 2 * SECOND), 1);
	assert_int_equal(running(*state, BERT, 2 * SECOND), 1);
	assert_true(ledger_release(*state, young, 2 * SECOND));
	assert_int_equal(ledger_expired(*state, ANNA), 0);
}

/* Property: what was acquired is running, released or expired; whatever the order. */
static void nothing_is_ever_lost_or_counted_twice(void **state)
{
	enum { SLOTS = 500, STEPS = 1000000 };
	static struct slot held[SLOTS];
	uint64_t acquired = 0;
	uint64_t released = 0;
	uint64_t moved_anew = 0;
	uint64_t left;
	struct rng rng = { 7 };
	usec_t now = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t at = rng_next(&rng) % SLOTS;

		now += rng_next(&rng) % (3 * SECOND);
		if (acquired < SLOTS) {
			at = acquired;
		} else if (rng_next(&rng) % 3 == 0) {
			moved_anew += now / (5 * SECOND) - held[at].bucket >= 120;
			ledger_move(*state, &held[at], (uint32_t)(rng_next(&rng) % TARGETS), now);
			continue;
		} else if (rng_next(&rng) % 3 == 0) {
			ledger_first_byte(*state, &held[at], now);
			continue;
		} else {
			released += ledger_release(*state, held[at], now);
		}
		held[at] = ledger_acquire(*state, (uint32_t)(rng_next(&rng) % TARGETS),
		                          (uint32_t)(rng_next(&rng) % 100),
		                          (uint32_t)(rng_next(&rng) % 1000), now);
		acquired++;
	}
	left = running(*state, ANNA, now) + running(*state, BERT, now);
	assert_int_equal(acquired + moved_anew, released + left + ledger_expired(*state, ANNA) +
	                                                ledger_expired(*state, BERT));
	assert_true(released > 0 && left > 0 && moved_anew > 0);
	for (uint32_t target = 0; target < TARGETS; target++) {
		struct work work = ledger_work(*state, target, now + 600 * SECOND);

		assert_int_equal(work.running + work.awaiting + work.prefill_tokens +
		                         work.resident_tokens,
		                 0);
	}
}

/* Property: the sum is that of the slots whose bucket is not one life old. */
static void the_total_is_the_sum_of_the_buckets(void **state)
{
	enum { SLOTS = 3000 };
	static struct slot held[SLOTS];
	struct rng rng = { 11 };
	usec_t now = 0;

	for (uint32_t i = 0; i < SLOTS; i++) {
		struct work sum = { 0 };
		struct work work;

		now += rng_next(&rng) % SECOND;
		held[i] = ledger_acquire(*state, ANNA, (uint32_t)(rng_next(&rng) % 100),
		                         (uint32_t)(rng_next(&rng) % 1000), now);
		if (i % 100 != 0)
			continue;
		for (uint32_t j = 0; j <= i; j++) {
			if (now / (5 * SECOND) - held[j].bucket >= 120)
				continue;
			sum.running++;
			sum.prefill_tokens += held[j].prefill;
			sum.resident_tokens += held[j].resident;
		}
		work = ledger_work(*state, ANNA, now);
		assert_int_equal(work.running, sum.running);
		assert_int_equal(work.awaiting, sum.running);
		assert_int_equal(work.prefill_tokens, sum.prefill_tokens);
		assert_int_equal(work.resident_tokens, sum.resident_tokens);
	}
}

/* 1/60 a second each, less by e after a minute. */
static void the_rate_of_releases_fades_within_a_minute(void **state)
{
	struct slot first = acquire(*state, ANNA, 0), second = acquire(*state, ANNA, 0);

	assert_true(ledger_release(*state, first, 100 * SECOND));
	assert_true(ledger_release(*state, second, 100 * SECOND));
	assert_true(fabs(ledger_release_rate(*state, ANNA, 100 * SECOND) - 2.0 / 60) < 1e-12);
	assert_true(fabs(ledger_release_rate(*state, ANNA, 160 * SECOND) - 2.0 / 60 / exp(1)) <
	            1e-12);
	assert_true(ledger_release_rate(*state, BERT, 160 * SECOND) == 0);
}

static void without_memory_there_is_no_ledger_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 4; i++) {
		failing = i;
		assert_null(ledger_new(TARGETS, 5 * SECOND, 600 * SECOND));
	}
	assert_int_equal(failing, 0);
	ledger_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_books, close_books)

int main(void)
{
	const struct CMUnitTest ledger[] = {
		TEST(the_example_of_the_specification),
		TEST(a_slot_shorter_than_the_counter_lives_on),
		TEST(tokens_wait_for_the_first_byte_and_stay_until_the_end),
		TEST(a_release_without_a_first_byte_takes_everything),
		TEST(what_expires_takes_its_tokens_along),
		TEST(a_first_byte_after_expiry_counts_nothing),
		TEST(a_move_keeps_the_age_and_what_is_left),
		TEST(an_expired_slot_that_moves_is_taken_anew),
		TEST(a_release_takes_from_its_own_bucket),
		TEST(a_release_after_expiry_changes_nothing),
		TEST(a_long_silence_turns_the_ring_once),
		TEST(a_forgotten_target_owes_nothing_to_its_predecessor),
		TEST(nothing_is_ever_lost_or_counted_twice),
		TEST(the_total_is_the_sum_of_the_buckets),
		TEST(the_rate_of_releases_fades_within_a_minute),
		TEST(without_memory_there_is_no_ledger_and_no_leak),
	};

	return cmocka_run_group_tests(ledger, NULL, NULL);
}
