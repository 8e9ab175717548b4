/* test_eject_on.c - the operator's list of what counts as a failure: the two-level gateway's
 * 4xx and 5xx, and the classes one by one. Proves R065, R069, B007. */
#include "policies/ejection.h"
#include "policies/outcome.h"
#include "tests/policies/sent.h"

enum { ALL_4XX = 1, ALL_5XX = 2 };

static struct eject_on listing(int statuses)
{
	struct eject_on on = { .given = true };

	for (int status = 400; status < 600; status++) {
		if (statuses & (status < 500 ? ALL_4XX : ALL_5XX))
			on.statuses[(status - 400) / 64] |= UINT64_C(1) << (status - 400) % 64;
	}
	return on;
}

static struct stream_end ended(const char *termination, int status)
{
	struct stream_end end = { .status = status,
		                  .by = { SPAN("a"), SPAN("s1"), SPAN("10.0.0.1:8000"), 0 } };

	memcpy(end.termination, termination, 4);
	return end;
}

static void expect(const char *termination, int status, const struct eject_on *on,
                   enum judged judged)
{
	const struct stream_end end = ended(termination, status);

	if (outcome_judge(&end, on) != judged)
		fail_msg("%s %d is judged %d", termination, status, outcome_judge(&end, on));
}

static void without_a_list_the_class_decides(void **state)
{
	const struct eject_on on = { .statuses = { ~UINT64_C(0) } };

	(void)state;
	expect("----", 400, &on, JUDGED_BY_CLASS);
	expect("----", 500, &on, JUDGED_BY_CLASS);
	expect("SC--", 503, &on, JUDGED_BY_CLASS);
	assert_int_equal(outcome_judge_status(500, &on), JUDGED_BY_CLASS);
	assert_int_equal(outcome_judge_retry(&on), JUDGED_BY_CLASS);
}

static void every_4xx_and_5xx_counts_where_they_are_listed(void **state)
{
	const struct eject_on on = listing(ALL_4XX | ALL_5XX);

	(void)state;
	for (int status = 400; status < 600; status++)
		expect("----", status, &on, JUDGED_FAILURE);
	expect("----", 200, &on, JUDGED_BY_CLASS);
	expect("----", 302, &on, JUDGED_BY_CLASS);
	expect("SC--", 503, &on, JUDGED_FAILURE); /* as a client sees a refused connection */
	expect("sH--", 504, &on, JUDGED_FAILURE);
	expect("SD--", 200, &on, JUDGED_SPARED); /* cut in mid-stream: no such status */
	expect("sQ--", 503, &on, JUDGED_SPARED); /* HAProxy's own */
	expect("CD--", 500, &on, JUDGED_BY_CLASS);
	assert_int_equal(outcome_judge_status(404, &on), JUDGED_FAILURE);
	assert_int_equal(outcome_judge_status(399, &on), JUDGED_BY_CLASS);
	assert_int_equal(outcome_judge_status(200, &on), JUDGED_BY_CLASS);
}

static void what_is_not_listed_is_spared(void **state)
{
	struct eject_on on = { .given = true };

	(void)state;
	expect("----", 500, &on, JUDGED_SPARED);
	expect("SC--", 503, &on, JUDGED_SPARED);
	expect("SD--", 200, &on, JUDGED_SPARED);
	expect("sH--", 504, &on, JUDGED_SPARED);
	expect("----", 429, &on, JUDGED_SPARED);
	expect("----", 401, &on, JUDGED_SPARED);
	expect("----", 404, &on, JUDGED_BY_CLASS);
	assert_int_equal(outcome_judge_retry(&on), JUDGED_SPARED);
	on.connect = true;
	expect("SC--", 503, &on, JUDGED_FAILURE);
	expect("SD--", 200, &on, JUDGED_SPARED);
	assert_int_equal(outcome_judge_retry(&on), JUDGED_BY_CLASS);
	on = (struct eject_on){ .given = true, .lost = true };
	expect("SC--", 503, &on, JUDGED_SPARED);
	expect("SD--", 200, &on, JUDGED_FAILURE);
	expect("DD--", 200, &on, JUDGED_FAILURE);
	expect("PH--", 502, &on, JUDGED_FAILURE);
	expect("sD--", 200, &on, JUDGED_SPARED);
	on = (struct eject_on){ .given = true, .timeout = true };
	expect("sD--", 200, &on, JUDGED_FAILURE);
	expect("SD--", 200, &on, JUDGED_SPARED);
	on = (struct eject_on){ .given = true, .busy = true };
	expect("----", 503, &on, JUDGED_BY_CLASS);
	expect("----", 401, &on, JUDGED_SPARED);
	on = (struct eject_on){ .given = true, .denied = true };
	expect("----", 503, &on, JUDGED_SPARED);
	expect("----", 403, &on, JUDGED_BY_CLASS);
}

/* Asks until it is this one's turn. */
static void one_ends(struct world *world, uint32_t target, const char *termination, int status)
{
	for (;;) {
		struct sent sent;

		snprintf(world->id, sizeof(world->id), "id-%llu",
		         (unsigned long long)++world->asked);
		sent = send_to(world, world_ask_long(world, 2000, 2000, world->asked, 0));
		if (sent.chosen == target) {
			(void)ends(&sent, termination, status);
			return;
		}
		(void)ends(&sent, "CD--", 200);
		pass(world, SECOND); /* who said it was busy is asked again by then */
	}
}

static enum health_state state_of(struct world *world, uint32_t target)
{
	return health_state(world->facts->health, target, world->now);
}

static uint32_t first_of(struct world *world)
{
	world_strategy(world, "random");
	world_entry(world)->gate_gap = 1e6;
	return world_replica(world, "a", "s1")->target->id;
}

static void five_bad_requests_eject_by_the_other_gateways_rule(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (int i = 0; i < 20; i++)
		one_ends(world, target, "----", 404);
	assert_int_equal(state_of(world, target), HEALTH_UP);
	world->policy.health.eject_on = listing(ALL_4XX | ALL_5XX);
	for (int i = 0; i < 4; i++)
		one_ends(world, target, "----", 404);
	assert_int_equal(state_of(world, target), HEALTH_UP);
	one_ends(world, target, "----", 200);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(state_of(world, target), HEALTH_UP);
		one_ends(world, target, "----", i % 2 ? 429 : 400);
	}
	assert_int_equal(state_of(world, target), HEALTH_EJECTED);
}

static void a_listed_busy_answer_is_held_back_for_too(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	world->policy.health.eject_on = listing(ALL_5XX);
	one_ends(world, target, "----", 503);
	assert_true(health_backing_off(world->facts->health, target, world->now));
}

static void spared_failures_eject_nobody(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	world->policy.health.eject_on = (struct eject_on){ .given = true, .connect = true };
	for (int i = 0; i < 30; i++)
		one_ends(world, target, "----", 500);
	assert_int_equal(state_of(world, target), HEALTH_UP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_list_the_class_decides),
		cmocka_unit_test(every_4xx_and_5xx_counts_where_they_are_listed),
		cmocka_unit_test(what_is_not_listed_is_spared),
		TEST(five_bad_requests_eject_by_the_other_gateways_rule),
		TEST(a_listed_busy_answer_is_held_back_for_too),
		TEST(spared_failures_eject_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
