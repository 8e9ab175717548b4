/* test_ledger_busy.c - how busy a target was lately. Proves R143. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/ledger.h"

static struct ledger *ledger;

static int begin(void **state)
{
	(void)state;
	ledger = ledger_new(2, 5 * SECOND, 600 * SECOND);
	return ledger ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	ledger_free(ledger);
	return 0;
}

static void expect(uint32_t target, usec_t now, double busy)
{
	double off = ledger_busy(ledger, target, now) - busy;

	if (!(off < 1e-6 && off > -1e-6))
		fail_msg("%.7f instead of %.7f", busy + off, busy);
}

/* 30 s of two, a minute of none, a minute of one. */
static void it_is_the_decayed_mean_of_what_ran(void **state)
{
	const usec_t start = 1000 * SECOND;
	struct slot slots[3];

	(void)state;
	slots[0] = ledger_acquire(ledger, 0, 0, 0, start);
	slots[1] = ledger_acquire(ledger, 0, 0, 0, start);
	expect(0, start, 0);
	expect(0, start + 30 * SECOND, 0.786939);
	expect(0, start + 30 * SECOND, 0.786939); /* looking changes nothing */
	assert_true(ledger_release(ledger, slots[0], start + 30 * SECOND));
	assert_true(ledger_release(ledger, slots[1], start + 30 * SECOND));
	expect(0, start + 90 * SECOND, 0.289499);
	slots[2] = ledger_acquire(ledger, 0, 0, 0, start + 90 * SECOND);
	expect(0, start + 150 * SECOND, 0.738621);
	assert_true(ledger_release(ledger, slots[2], start + 150 * SECOND));
	expect(1, start + 150 * SECOND, 0);
}

/* Busy a quarter of the time, in slices of 10 ms: short times are added up right. */
static void short_slices_count_by_their_share(void **state)
{
	usec_t now = 1000 * SECOND;

	(void)state;
	for (int i = 0; i < 60000; i++) {
		struct slot slot = ledger_acquire(ledger, 0, 0, 0, now);

		now += 10 * MSEC;
		assert_true(ledger_release(ledger, slot, now));
		now += 30 * MSEC;
	}
	assert_true(ledger_busy(ledger, 0, now) > 0.2495 && ledger_busy(ledger, 0, now) < 0.2505);
}

static void who_moves_is_busy_where_he_goes(void **state)
{
	struct slot slot = ledger_acquire(ledger, 0, 0, 0, 10 * SECOND);

	(void)state;
	ledger_move(ledger, &slot, 1, 40 * SECOND);
	expect(0, 40 * SECOND, 0.393469);
	expect(1, 40 * SECOND, 0);
	expect(0, 100 * SECOND, 0.393469 * 0.367879);
	expect(1, 100 * SECOND, 0.632121);
}

/* A slot that nobody releases is busy until it expires, and not after. */
static void what_expired_was_busy_until_then(void **state)
{
	(void)state;
	(void)ledger_acquire(ledger, 0, 0, 0, 0);
	expect(0, 599 * SECOND, 0.999954);
	expect(0, 605 * SECOND, 0.999958);
	expect(0, 665 * SECOND, 0.999958 * 0.367879);
}

static void a_forgotten_target_was_never_busy(void **state)
{
	(void)state;
	(void)ledger_acquire(ledger, 0, 0, 0, 0);
	assert_true(ledger_busy(ledger, 0, 60 * SECOND) > 0.6);
	ledger_forget(ledger, 0);
	expect(0, 120 * SECOND, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_the_decayed_mean_of_what_ran), TEST(short_slices_count_by_their_share),
		TEST(who_moves_is_busy_where_he_goes),    TEST(what_expired_was_busy_until_then),
		TEST(a_forgotten_target_was_never_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
