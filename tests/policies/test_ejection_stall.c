/* test_ejection_stall.c - replicas that let requests wait in vain. Proves B033, P081. */
#include "tests/policies/failing.h"

/* Whoever waits there, seen each second. */
static void look_until(double from, double to)
{
	for (double second = from; second <= to; second++) {
		at(second);
		ejection_look(world->facts, world->now);
	}
}

static void waiting_in_vain_makes_suspect_until_something_comes(void **state)
{
	struct slot slot;

	(void)state;
	at(0);
	slot = ledger_acquire(world->facts->ledger, id_of("s1"), 10, 10, world->now);
	look_until(0, 59);
	expect("s1", HEALTH_UP);
	look_until(60, 60);
	expect("s1", HEALTH_STALLED);
	assert_int_equal(counted("s1")->stalls, 1);
	assert_false(takes("s1"));
	assert_true(ejection_wants_probe(world->facts, id_of("s1"), world->now));
	probed("s1", true);
	probed("s1", true);
	look_until(61, 90);
	expect("s1", HEALTH_STALLED);
	health_first_byte(world->facts->health, id_of("s1"), 0, world->now);
	expect("s1", HEALTH_UP);
	look_until(91, 149);
	expect("s1", HEALTH_UP); /* something came 60 s ago at most */
	look_until(150, 150);
	expect("s1", HEALTH_STALLED);
	assert_true(ledger_release(world->facts->ledger, slot, world->now));
}

static void a_stalled_one_that_fails_a_probe_is_ejected(void **state)
{
	(void)state;
	at(0);
	(void)ledger_acquire(world->facts->ledger, id_of("s1"), 10, 10, world->now);
	look_until(0, 60);
	probed("s1", false);
	expect("s1", HEALTH_EJECTED);
	assert_int_equal(counted("s1")->ejections[EJECT_PROBE], 1);
}

/* Its clients have left, and its page says 200: one request tells the truth. */
static void a_stalled_one_that_nobody_waits_for_is_tried(void **state)
{
	struct slot slot;

	(void)state;
	at(0);
	slot = ledger_acquire(world->facts->ledger, id_of("s1"), 10, 10, world->now);
	look_until(0, 60);
	(void)ledger_release(world->facts->ledger, slot, world->now);
	look_until(61, 62);
	expect("s1", HEALTH_STALLED);
	probed("s1", true);
	probed("s1", true);
	look_until(63, 63);
	expect("s1", HEALTH_HALF_OPEN);
	(void)try_s1();
	look_until(64, 123);
	expect("s1", HEALTH_HALF_OPEN);
	look_until(124, 124);
	expect("s1", HEALTH_EJECTED);
	assert_int_equal(counted("s1")->ejections[EJECT_STALL], 1);
}

/* Its page says 200 all the time. */
static void who_was_silent_owes_a_token_until_it_is_back(void **state)
{
	(void)state;
	assert_false(ejection_wants_token(world->facts, id_of("s1")));
	at(0);
	(void)ledger_acquire(world->facts->ledger, id_of("s1"), 10, 10, world->now);
	look_until(0, 60);
	assert_true(ejection_wants_token(world->facts, id_of("s1")));
	assert_false(ejection_wants_token(world->facts, id_of("s2")));
	probed("s1", false);
	expect("s1", HEALTH_EJECTED);
	assert_true(ejection_wants_token(world->facts, id_of("s1")));
	world->policy.health.probe_token = TOKEN_NEVER;
	assert_false(ejection_wants_token(world->facts, id_of("s1")));
	world->policy.health.probe_token = TOKEN_ALWAYS;
	assert_true(ejection_wants_token(world->facts, id_of("s2")));
	world->policy.health.probe_token = TOKEN_STALLED;
	at(75);
	probed("s1", true);
	probed("s1", true);
	for (int i = 0; i < 3; i++)
		on_trial(CLASS_OK);
	expect("s1", HEALTH_RAMP);
	assert_false(ejection_wants_token(world->facts, id_of("s1")));
}

/* A request on trial that gets no answer says the same. */
static void a_trial_without_an_answer_owes_a_token_too(void **state)
{
	(void)state;
	open_half();
	assert_false(ejection_wants_token(world->facts, id_of("s1")));
	(void)try_s1();
	look_until(15, 75);
	expect("s1", HEALTH_EJECTED);
	assert_true(ejection_wants_token(world->facts, id_of("s1")));
}

static void a_long_answer_on_trial_is_no_stall(void **state)
{
	uint32_t trial;

	(void)state;
	open_half();
	trial = try_s1();
	health_first_byte(world->facts->health, id_of("s1"), trial, world->now);
	look_until(15, 200);
	expect("s1", HEALTH_HALF_OPEN);
}

static void nobody_stalls_while_nobody_waits_or_it_is_off(void **state)
{
	(void)state;
	at(0);
	look_until(0, 100);
	expect("s1", HEALTH_UP);
	world->policy.health.stall_after = 0;
	(void)ledger_acquire(world->facts->ledger, id_of("s1"), 10, 10, world->now);
	look_until(100, 300);
	expect("s1", HEALTH_UP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting_in_vain_makes_suspect_until_something_comes),
		TEST(a_stalled_one_that_fails_a_probe_is_ejected),
		TEST(a_stalled_one_that_nobody_waits_for_is_tried),
		TEST(who_was_silent_owes_a_token_until_it_is_back),
		TEST(a_trial_without_an_answer_owes_a_token_too),
		TEST(a_long_answer_on_trial_is_no_stall),
		TEST(nobody_stalls_while_nobody_waits_or_it_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
