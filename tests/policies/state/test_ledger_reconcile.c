/* test_ledger_reconcile.c - what HAProxy counts corrects what we count.
 * Proves P054: docs/strategies.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/ledger.h"

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

static double polled(void *ledger, uint32_t counted, usec_t now)
{
	ledger_reconcile(ledger, ANNA, counted, now);
	return ledger_drift(ledger, ANNA);
}

static void three_polls_in_one_direction_correct_the_load(void **state)
{
	for (int i = 0; i < 12; i++)
		(void)acquire(*state, ANNA, 0);
	assert_true(polled(*state, 9, 1 * SECOND) == 0);
	assert_true(polled(*state, 8, 2 * SECOND) == 0);
	assert_true(ledger_running(*state, ANNA, 2 * SECOND) == 12);
	assert_true(polled(*state, 9, 3 * SECOND) == -3);
	assert_true(ledger_running(*state, ANNA, 3 * SECOND) == 9);
	assert_int_equal(ledger_work(*state, ANNA, 3 * SECOND).running, 12);
	assert_true(polled(*state, 12, 4 * SECOND) == 0);
	assert_true(ledger_running(*state, ANNA, 4 * SECOND) == 12);
	assert_true(polled(*state, 13, 5 * SECOND) == 0);
	assert_true(polled(*state, 11, 6 * SECOND) == 0);
	assert_true(polled(*state, 14, 7 * SECOND) == 0);
	assert_true(ledger_running(*state, ANNA, 7 * SECOND) == 12);
}

static void what_haproxy_cannot_see_is_not_missed(void **state)
{
	struct slot remote = ledger_acquire_unseen(*state, ANNA, 100, 200, 0);

	(void)acquire(*state, ANNA, 0);
	for (usec_t at = 1; at <= 4; at++)
		assert_true(polled(*state, 1, at * SECOND) == 0);
	assert_true(ledger_running(*state, ANNA, 4 * SECOND) == 2);
	for (usec_t at = 5; at <= 7; at++)
		(void)polled(*state, 0, at * SECOND);
	assert_true(ledger_running(*state, ANNA, 7 * SECOND) == 1);
	ledger_move(*state, &remote, BERT, 7 * SECOND);
	for (usec_t at = 8; at <= 10; at++)
		(void)polled(*state, 1, at * SECOND);
	assert_true(ledger_running(*state, ANNA, 10 * SECOND) == 1);
	ledger_reconcile(*state, BERT, 0, 10 * SECOND);
	assert_true(ledger_release(*state, remote, 11 * SECOND));
	assert_int_equal(ledger_work(*state, BERT, 11 * SECOND).running, 0);
	/* It expires like any other. */
	(void)ledger_acquire_unseen(*state, BERT, 1, 1, 11 * SECOND);
	for (usec_t at = 700; at <= 702; at++)
		ledger_reconcile(*state, BERT, 0, at * SECOND);
	assert_true(ledger_drift(*state, BERT) == 0);
}

static void after_a_restart_the_load_is_what_haproxy_counts(void **state)
{
	(void)polled(*state, 5, 1 * SECOND);
	(void)polled(*state, 5, 2 * SECOND);
	assert_true(polled(*state, 6, 3 * SECOND) == 5);
	assert_true(ledger_running(*state, ANNA, 3 * SECOND) == 5);
	assert_true(ledger_reconciled(*state, ANNA, 4 * SECOND, SECOND));
	assert_false(ledger_reconciled(*state, ANNA, 4 * SECOND + 1, SECOND));
	assert_false(ledger_reconciled(*state, BERT, 3 * SECOND, SECOND));
}

static void a_correction_that_nobody_repeats_is_not_believed_for_long(void **state)
{
	for (int i = 1; i <= 3; i++)
		(void)polled(*state, 5, (usec_t)i * SECOND);
	assert_true(ledger_running(*state, ANNA, 6 * SECOND) == 5);
	assert_true(ledger_running(*state, ANNA, 6 * SECOND + 1) == 0);
}

static void no_load_is_below_zero(void **state)
{
	struct slot slots[3];

	for (int i = 0; i < 3; i++)
		slots[i] = acquire(*state, ANNA, 0);
	for (int i = 1; i <= 3; i++)
		(void)polled(*state, 0, SECOND);
	assert_true(ledger_drift(*state, ANNA) == -3);
	assert_true(ledger_release(*state, slots[0], SECOND));
	assert_true(ledger_running(*state, ANNA, SECOND) == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_books, close_books)

int main(void)
{
	const struct CMUnitTest ledger[] = {
		TEST(three_polls_in_one_direction_correct_the_load),
		TEST(what_haproxy_cannot_see_is_not_missed),
		TEST(after_a_restart_the_load_is_what_haproxy_counts),
		TEST(a_correction_that_nobody_repeats_is_not_believed_for_long),
		TEST(no_load_is_below_zero),
	};

	return cmocka_run_group_tests(ledger, NULL, NULL);
}
