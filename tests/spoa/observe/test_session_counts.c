/* test_session_counts.c - HAProxy's sessions, summed over its processes. Proves
 * P054 (no source trusted alone). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/session_counts.h"
#include "tests/spoa/observe/world.h"

static const char *const addresses[] = { "10.0.0.1:80", "10.0.0.2:80" };

struct stage {
	struct world world;
	struct session_counts *counts;
	uint32_t one, two; /* targets */
};

static void open_stage(struct stage *stage, uint32_t sources)
{
	world_open(&stage->world);
	world_servers(&stage->world, addresses, 2);
	stage->one = world_target(&stage->world, addresses[0]);
	stage->two = world_target(&stage->world, addresses[1]);
	stage->counts = session_counts_new(fleet_targets_max(stage->world.facts->fleet), sources);
	assert_non_null(stage->counts);
}

static void close_stage(struct stage *stage)
{
	session_counts_free(stage->counts);
	world_close(&stage->world);
}

static void count(struct stage *stage, uint32_t source, uint32_t current, uint32_t queued)
{
	session_counts_begin(stage->counts, source);
	session_counts_add(stage->counts, source, stage->one,
	                   &(struct session_count){ current, queued, 0 });
	session_counts_done(stage->counts, source);
}

static bool apply(struct stage *stage)
{
	uint32_t missing;

	world_clock += SECOND;
	return session_counts_apply(stage->counts, stage->world.facts, world_clock, &missing);
}

static double running(struct stage *stage, uint32_t target)
{
	return ledger_running(stage->world.facts->ledger, target, world_clock);
}

static void three_sums_in_a_row_correct_the_ledger(void **state)
{
	static struct stage stage;
	double queued = -1;

	(void)state;
	open_stage(&stage, 2);
	for (int poll = 0; poll < 3; poll++) {
		assert_true(running(&stage, stage.one) == 0);
		count(&stage, 0, 6, 1);
		count(&stage, 1, 2, 1);
		assert_true(apply(&stage));
	}
	assert_true(running(&stage, stage.one) == 10);
	assert_true(running(&stage, stage.two) == 0);
	assert_true(engines_queue(stage.world.facts->engines, stage.one, world_clock, 3 * SECOND,
	                          &queued));
	assert_true(queued == 2);
	close_stage(&stage);
}

static void who_waits_for_any_server_is_the_instances(void **state)
{
	static struct stage stage;
	uint32_t instance;
	double queued = -1;

	(void)state;
	open_stage(&stage, 2);
	for (uint32_t source = 0; source < 2; source++) {
		session_counts_begin(stage.counts, source);
		session_counts_add(stage.counts, source, stage.one,
		                   &(struct session_count){ 1, 1, 3 + source });
		session_counts_add(stage.counts, source, stage.two,
		                   &(struct session_count){ 1, 0, 3 + source });
		session_counts_done(stage.counts, source);
	}
	assert_true(apply(&stage));
	instance = fleet_instance_named(stage.world.facts->fleet, span_of("svc"))->target->id;
	assert_true(
	        engines_queue(stage.world.facts->engines, instance, world_clock, SECOND, &queued));
	assert_true(queued == 7);
	close_stage(&stage);
}

static void each_comparison_needs_a_new_count_of_all(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 2);
	count(&stage, 0, 6, 0);
	assert_false(apply(&stage));
	count(&stage, 1, 6, 0);
	assert_true(apply(&stage));
	assert_false(apply(&stage)); /* not twice with the same */
	count(&stage, 0, 6, 0);
	assert_false(apply(&stage));
	close_stage(&stage);
}

static void a_silent_source_leaves_the_sum_unknown(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 2);
	for (int poll = 0; poll < 5; poll++) {
		count(&stage, 0, 6, 0);
		count(&stage, 1, 6, 0);
		session_counts_lost(stage.counts, 1);
		assert_false(apply(&stage));
	}
	assert_true(running(&stage, stage.one) == 0);
	assert_false(
	        ledger_reconciled(stage.world.facts->ledger, stage.one, world_clock, 100 * SECOND));
	close_stage(&stage);
}

static void a_count_begun_anew_starts_from_nothing(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	for (int poll = 0; poll < 3; poll++) {
		count(&stage, 0, 50, 0);
		count(&stage, 0, 4, 0);
		assert_true(apply(&stage));
	}
	assert_true(running(&stage, stage.one) == 4);
	close_stage(&stage);
}

static void what_was_counted_for_a_target_goes_with_it(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	for (int poll = 0; poll < 3; poll++) {
		count(&stage, 0, 4, 0);
		session_counts_forget(stage.counts, stage.one);
		assert_true(apply(&stage));
	}
	assert_true(running(&stage, stage.one) == 0);
	close_stage(&stage);
}

/* While requests wait in the backend for any server, who is missing at one may wait there. */
static uint32_t missing_after_three(struct stage *stage, uint32_t waiting)
{
	uint32_t sum = 0;

	for (int poll = 0; poll < 3; poll++) {
		uint32_t missing = 0;

		session_counts_begin(stage->counts, 0);
		session_counts_add(stage->counts, 0, stage->one,
		                   &(struct session_count){ 0, 0, waiting });
		session_counts_done(stage->counts, 0);
		world_clock += SECOND;
		assert_true(session_counts_apply(stage->counts, stage->world.facts, world_clock,
		                                 &missing));
		sum += missing;
	}
	return sum;
}

static void nobody_is_missing_while_some_wait_in_the_backend(void **state)
{
	static struct stage stage;
	struct facts *facts;
	struct flight *flight = NULL;

	(void)state;
	open_stage(&stage, 1);
	facts = stage.world.facts;
	assert_int_equal(
	        inflight_open(facts->inflight, flight_id_of(span_of("r")), world_clock, &flight),
	        INFLIGHT_OK);
	flight->chosen = stage.one;
	flight->replica_slot = ledger_acquire(facts->ledger, stage.one, 0, 0, world_clock);
	assert_int_equal(missing_after_three(&stage, 1), 0);
	assert_int_equal(inflight_count(facts->inflight), 1);
	assert_int_equal(missing_after_three(&stage, 0), 1);
	assert_int_equal(inflight_count(facts->inflight), 0);
	close_stage(&stage);
}

/* HAProxy counts for the server; each rank is compared with its part. */
static void what_a_server_counts_is_shared_out_to_its_ranks(void **state)
{
	static struct replica_policy ranked = { .name = "s1", .weight = 1, .ranks = 2 };
	static struct instance_policy svc;
	struct stage stage;
	uint32_t ranks[2];
	double queued;

	(void)state;
	open_stage(&stage, 1);
	svc = stage.world.policy.default_instance;
	memcpy(svc.name, "svc", 4);
	svc.replicas = &ranked;
	svc.replica_count = 1;
	stage.world.policy.instances = &svc;
	stage.world.policy.instance_count = 1;
	facts_set_policy(stage.world.facts, &stage.world.policy);
	world_servers(&stage.world, addresses, 2);
	ranks[0] = stage.one = world_target(&stage.world, "10.0.0.1:80");
	ranks[1] = world_target(&stage.world, "10.0.0.1:80#1");
	assert_int_not_equal(ranks[0], ranks[1]);
	for (int i = 0; i < 3; i++)
		(void)ledger_acquire(stage.world.facts->ledger, ranks[1], 1, 1, world_clock);
	for (int i = 0; i < 3; i++) {
		count(&stage, 0, 3, 0);
		assert_true(apply(&stage));
	}
	assert_true(running(&stage, ranks[0]) == 0);
	assert_true(running(&stage, ranks[1]) == 3);
	for (int i = 0; i < 3; i++) { /* four more that we did not send, and three that wait */
		count(&stage, 0, 4, 3);
		assert_true(apply(&stage));
	}
	assert_true(running(&stage, ranks[0]) == 2);
	assert_true(running(&stage, ranks[1]) == 5);
	assert_true(engines_queue(stage.world.facts->engines, ranks[0], world_clock, 0, &queued));
	assert_true(queued == 2);
	assert_true(engines_queue(stage.world.facts->engines, ranks[1], world_clock, 0, &queued));
	assert_true(queued == 1);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest session_counts[] = {
		cmocka_unit_test(what_a_server_counts_is_shared_out_to_its_ranks),
		cmocka_unit_test(three_sums_in_a_row_correct_the_ledger),
		cmocka_unit_test(who_waits_for_any_server_is_the_instances),
		cmocka_unit_test(each_comparison_needs_a_new_count_of_all),
		cmocka_unit_test(a_silent_source_leaves_the_sum_unknown),
		cmocka_unit_test(a_count_begun_anew_starts_from_nothing),
		cmocka_unit_test(what_was_counted_for_a_target_goes_with_it),
		cmocka_unit_test(nobody_is_missing_while_some_wait_in_the_backend),
	};

	return cmocka_run_group_tests(session_counts, NULL, NULL);
}
