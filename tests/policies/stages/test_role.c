/* test_role.c - who may be sent whole requests, and prompts of which length. Proves R101. */
#include "tests/policies/paired.h"

static struct decision ask(struct paired *paired, uint64_t bytes)
{
	struct request request = world_ask_long(paired->world, bytes, bytes, 1, 0);

	request.backend = SPAN("a");
	return world_decide(paired->world, request);
}

static void a_prefill_replica_gets_no_whole_request(void **state)
{
	struct paired *paired = paired_new("p p d c");

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct decision decision = ask(paired, 8000);

		assert_non_null(decision.replica);
		assert_int_not_equal(decision.replica->role, ROLE_PREFILL);
		assert_null(decision.prefill);
	}
	assert_true(world_running(paired->world, "a", "s1") < 1e-9);
	assert_true(world_running(paired->world, "a", "s3") > 19);
	paired_free(paired);
}

static void where_only_prefill_replicas_are_the_instance_cannot_serve(void **state)
{
	struct paired *paired = paired_new("p p");
	struct request request = world_ask(paired->world);
	struct decision decision = world_decide(paired->world, request);

	(void)state;
	assert_int_equal(decision.outcome, OUTCOME_UNANSWERED);
	assert_int_equal(decision.levels[0].standing, 0);
	paired_free(paired);
}

static void prompts_go_where_their_length_is_taken(void **state)
{
	struct paired *paired = paired_new("c c c");
	static const struct {
		uint64_t bytes;
		const char *server;
	} rows[] = {
		{ 3996, "s1" },  /* 999 tokens */
		{ 4000, "s2" },  /* 1000: at least */
		{ 16000, "s2" }, /* 4000: at most */
		{ 16004, "s3" },
	};

	(void)state;
	paired->replicas[0].max_prompt = 999;
	paired->replicas[1].min_prompt = 1000;
	paired->replicas[1].max_prompt = 4000;
	paired->replicas[2].min_prompt = 4000.5;
	paired_apply(paired);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct decision decision = ask(paired, rows[i].bytes);

		expect_server(&decision, rows[i].server);
	}
	paired_free(paired);
}

static void a_length_that_nobody_takes_is_left_to_haproxy(void **state)
{
	struct paired *paired = paired_new("c c");
	struct decision decision;

	(void)state;
	paired->replicas[0].max_prompt = paired->replicas[1].max_prompt = 100;
	paired_apply(paired);
	decision = ask(paired, 8000);
	assert_null(decision.replica);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	paired_free(paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefill_replica_gets_no_whole_request),
		cmocka_unit_test(where_only_prefill_replicas_are_the_instance_cannot_serve),
		cmocka_unit_test(prompts_go_where_their_length_is_taken),
		cmocka_unit_test(a_length_that_nobody_takes_is_left_to_haproxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
