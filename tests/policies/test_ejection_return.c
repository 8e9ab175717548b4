/* test_ejection_return.c - the way back: time, probes, requests on trial, ramp; docs/strategies.md.
 * Proves R065-R068, B034, P085. */
#include "tests/policies/failing.h"

static void five_failures_eject_for_ten_seconds(void **state)
{
	(void)state;
	eject_s1();
	assert_int_equal(counted("s1")->ejections[EJECT_ROW], 1);
	probed("s1", true);
	probed("s1", true); /* well at once, but its time is not up */
	at(13.999);
	expect("s1", HEALTH_EJECTED);
	assert_false(takes("s1"));
	at(14);
	expect("s1", HEALTH_HALF_OPEN);
	assert_true(takes("s1"));
}

static double failures_of(const char *server)
{
	return health_failures(world->facts->health, id_of(server), world->now);
}

/* Else the gate and every load would keep requests on trial from it for minutes. */
static void what_it_did_before_is_not_held_against_who_is_on_trial(void **state)
{
	(void)state;
	eject_s1();
	assert_true(failures_of("s1") > 0.6);
	at(13.999);
	probed("s1", true);
	probed("s1", true);
	assert_true(failures_of("s1") > 0.5);
	at(14);
	expect("s1", HEALTH_HALF_OPEN);
	assert_true(failures_of("s1") <= 0);
	fails("s1", 1); /* it was sent there before: not on trial, and counts by itself */
	is_ok("s1");
	at(14.001);
	assert_true(failures_of("s1") <= 0);
}

static void two_probes_in_a_row_open_half(void **state)
{
	(void)state;
	open_half();
}

static void one_failed_probe_starts_over(void **state)
{
	(void)state;
	eject_s1();
	at(20);
	probed("s1", true);
	probed("s1", false);
	probed("s1", true);
	expect("s1", HEALTH_EJECTED);
	probed("s1", true);
	expect("s1", HEALTH_HALF_OPEN);
}

static void without_probes_time_alone_opens_half(void **state)
{
	(void)state;
	world->policy.health.probe = false;
	eject_s1();
	assert_false(ejection_wants_probe(world->facts, id_of("s1"), world->now));
	at(13.999);
	expect("s1", HEALTH_EJECTED);
	at(14);
	expect("s1", HEALTH_HALF_OPEN);
}

static void only_who_is_out_is_probed(void **state)
{
	(void)state;
	assert_false(ejection_wants_probe(world->facts, id_of("s1"), world->now));
	eject_s1();
	assert_true(ejection_wants_probe(world->facts, id_of("s1"), world->now));
	assert_false(ejection_wants_probe(world->facts, id_of("s2"), world->now));
	at(14);
	probed("s1", true);
	probed("s1", true);
	assert_false(ejection_wants_probe(world->facts, id_of("s1"), world->now));
	probed("s1", false); /* it was under way: too late */
	expect("s1", HEALTH_HALF_OPEN);
}

static void one_request_at_a_time_is_on_trial(void **state)
{
	uint32_t trial;

	(void)state;
	open_half();
	assert_int_equal(health_trial_begin(world->facts->health, id_of("s2"), world->now), 0);
	trial = try_s1();
	assert_false(takes("s1"));
	health_trial_over(world->facts->health, id_of("s1"), trial + 1, true); /* another time's */
	assert_false(takes("s1"));
	health_trial_over(world->facts->health, id_of("s1"), trial, true);
	assert_true(takes("s1"));
	world->policy.health.probe_concurrent = 2;
	(void)try_s1();
	assert_true(takes("s1"));
	(void)try_s1();
	assert_false(takes("s1"));
}

static void three_good_answers_bring_it_back_by_a_ramp(void **state)
{
	(void)state;
	open_half();
	on_trial(CLASS_OK);
	is_ok("s1"); /* sent there before */
	on_trial(CLASS_OK);
	expect("s1", HEALTH_HALF_OPEN);
	on_trial(CLASS_OK);
	expect("s1", HEALTH_RAMP);
	assert_true(takes("s1"));
	at(43.999);
	expect("s1", HEALTH_RAMP);
	at(44);
	expect("s1", HEALTH_UP);
	assert_false(health_any_out(world->facts->health, world->now));
}

/* Its own ramp from when it was new is over, and does not take the place of that. */
static void who_was_new_and_comes_back_ramps_anew(void **state)
{
	(void)state;
	health_welcome(world->facts->health, id_of("s1"), world->now);
	at(400);
	health_eject(world->facts->health, id_of("s1"), world->now);
	at(500);
	probed("s1", true);
	probed("s1", true);
	for (int i = 0; i < 3; i++)
		on_trial(CLASS_OK);
	health_welcome(world->facts->health, id_of("s1"), 1000 * SECOND);
	at(515);
	assert_true(health_ramped(world->facts->health, id_of("s1"), world->now) == 0.5);
}

static void ok_ok_fail_starts_over(void **state)
{
	(void)state;
	open_half();
	on_trial(CLASS_OK);
	on_trial(CLASS_OK);
	on_trial(CLASS_FAILURE);
	expect("s1", HEALTH_EJECTED);
	assert_int_equal(counted("s1")->ejections[EJECT_TRIAL], 1);
	at(34);
	probed("s1", true);
	probed("s1", true);
	on_trial(CLASS_OK);
	on_trial(CLASS_OK);
	expect("s1", HEALTH_HALF_OPEN);
	on_trial(CLASS_OK);
	expect("s1", HEALTH_RAMP);
}

/* What was sent there before its ejection, or who left, or was too busy, says nothing. */
static void only_what_is_on_trial_counts(void **state)
{
	(void)state;
	open_half();
	fails("s1", 7);
	on_trial(CLASS_CLIENT);
	on_trial(CLASS_BUSY);
	expect("s1", HEALTH_HALF_OPEN);
	note("s1", (struct report){ .class = CLASS_FAILURE, .connect = true });
	expect("s1", HEALTH_EJECTED);
}

static void each_ejection_is_twice_as_long_up_to_five_minutes(void **state)
{
	const double lengths[] = { 10, 20, 40, 80, 160, 300, 300, 300 };
	double now = 4;

	(void)state;
	eject_s1();
	for (size_t i = 0; i < COUNT(lengths); i++) {
		probed("s1", true);
		probed("s1", true);
		at(now + lengths[i] - 0.001);
		expect("s1", HEALTH_EJECTED);
		now += lengths[i];
		at(now);
		expect("s1", HEALTH_HALF_OPEN);
		on_trial(CLASS_FAILURE);
	}
	assert_int_equal(health_ejections(world->facts->health, id_of("s1")), 9);
}

/* In service from 44 on: 300 s later all is forgiven. */
static void long_in_service_it_begins_anew(void **state)
{
	const double after[] = { 343.999, 344 };
	const uint32_t times[] = { 2, 1 };

	for (size_t i = 0; i < 2; i++) {
		open_half();
		for (int k = 0; k < 3; k++)
			on_trial(CLASS_OK);
		at(after[i]);
		fails("s1", 5);
		expect("s1", HEALTH_EJECTED);
		assert_int_equal(health_ejections(world->facts->health, id_of("s1")), times[i]);
		(void)close_four(state);
		(void)open_four(state);
	}
}

static void a_forgotten_target_is_in_service(void **state)
{
	(void)state;
	eject_s1();
	health_forget(world->facts->health, id_of("s1"));
	expect("s1", HEALTH_UP);
	assert_false(health_any_out(world->facts->health, world->now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_failures_eject_for_ten_seconds),
		TEST(what_it_did_before_is_not_held_against_who_is_on_trial),
		TEST(two_probes_in_a_row_open_half),
		TEST(one_failed_probe_starts_over),
		TEST(without_probes_time_alone_opens_half),
		TEST(only_who_is_out_is_probed),
		TEST(one_request_at_a_time_is_on_trial),
		TEST(three_good_answers_bring_it_back_by_a_ramp),
		TEST(who_was_new_and_comes_back_ramps_anew),
		TEST(ok_ok_fail_starts_over),
		TEST(only_what_is_on_trial_counts),
		TEST(each_ejection_is_twice_as_long_up_to_five_minutes),
		TEST(long_in_service_it_begins_anew),
		TEST(a_forgotten_target_is_in_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
