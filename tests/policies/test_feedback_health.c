/* test_feedback_health.c - what HAProxy tells of a stream, and whom that ejects. Proves R065,
 * R069, B006, B007, B034, P077, P078. */
#include "policies/ejection.h"
#include "tests/policies/sent.h"

static enum health_state state_of(struct world *world, uint32_t target)
{
	return health_state(world->facts->health, target, world->now);
}

/* Sent to whom it may be, until it is this one's turn. */
static struct sent sent_of(struct world *world, uint32_t target, struct request request)
{
	for (int i = 0; i < 1000; i++) {
		struct sent sent;

		snprintf(world->id, sizeof(world->id), "id-%llu",
		         (unsigned long long)++world->asked);
		request.id = SPAN(world->id);
		sent = send_to(world, request);
		if (sent.chosen == target)
			return sent;
		(void)ends(&sent, "CD--", 200);
	}
	fail_msg("nothing was sent there");
	return (struct sent){ 0 };
}

static struct request prompt_of_tenant(struct world *world, uint64_t prompt, const char *tenant)
{
	struct request request = world_ask_long(world, 2000, 2000, prompt, 0);

	request.tenant = SPAN(tenant);
	return request;
}

static void fails(struct world *world, uint32_t target, uint64_t prompt, const char *tenant)
{
	struct sent sent = sent_of(world, target, prompt_of_tenant(world, prompt, tenant));

	(void)ends(&sent, "----", 500);
}

static uint32_t first_of(struct world *world)
{
	world_strategy(world, "random");
	world_entry(world)->gate_gap = 1e6; /* who fails is charged, and would be too busy for it */
	world->policy.health.probe = false;
	return world_replica(world, "a", "s1")->target->id;
}

static void five_prompts_that_fail_eject(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (uint64_t i = 0; i < 4; i++)
		fails(world, target, i + 1, "");
	assert_int_equal(state_of(world, target), HEALTH_UP);
	fails(world, target, 5, "");
	assert_int_equal(state_of(world, target), HEALTH_EJECTED);
}

static void one_prompt_that_fails_does_not(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (uint64_t i = 0; i < 30; i++)
		fails(world, target, 1, "k1");
	assert_int_equal(state_of(world, target), HEALTH_UP);
	for (uint64_t i = 0; i < 4; i++)
		fails(world, target, 1, (const char *[]){ "k2", "k3", "k4", "k5" }[i]);
	assert_int_equal(state_of(world, target), HEALTH_EJECTED);
}

/* Shorter than a block, and told apart. */
static void short_prompts_are_told_apart_too(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10; i++) {
			struct request request = world_ask_long(world, 500, 0, 0, 7);
			struct sent sent;

			request.hashes[0] = round == 0 ? 1 : (uint64_t)i;
			request.hash_count = 1;
			if (state_of(world, target) == HEALTH_EJECTED)
				break;
			sent = sent_of(world, target, request);
			(void)ends(&sent, "SH--", 502);
		}
		assert_int_equal(state_of(world, target), round == 0 ? HEALTH_UP : HEALTH_EJECTED);
	}
}

static void bad_requests_eject_nobody(void **state)
{
	const int statuses[] = { 400, 404, 405, 408, 413, 415, 422, 499, 501, 505 };
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (uint64_t i = 0; i < 200; i++) {
		struct sent sent = sent_of(world, target, prompt_of_tenant(world, i + 1, "k1"));

		(void)ends(&sent, "----", statuses[i % COUNT(statuses)]);
	}
	assert_int_equal(state_of(world, target), HEALTH_UP);
}

static void bad_credentials_need_two_tenants(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (uint64_t i = 0; i < 60; i++) {
		const char *tenant = i < 50 ? "k1" : i % 2 ? "k1" : "k2";
		struct sent sent;

		if (i == 54)
			assert_int_equal(state_of(world, target), HEALTH_UP);
		if (state_of(world, target) == HEALTH_EJECTED)
			break;
		sent = sent_of(world, target, prompt_of_tenant(world, i + 1, tenant));
		(void)ends(&sent, "----", i % 2 ? 401 : 403);
	}
	assert_int_equal(state_of(world, target), HEALTH_EJECTED);
}

/* Chosen said 503, HAProxy went on, and the last said so, too. */
static void a_retry_that_ends_busy_is_nobodys_failure(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (uint64_t i = 0; i < 100; i++) {
		struct sent sent = sent_of(world, target, prompt_of_tenant(world, i + 1, "k1"));
		struct stream_end end = end_of(&sent, "----", 503);

		end.by = sent.by_other;
		end.retries = 1;
		end.redispatched = true;
		(void)tell(&sent, &end);
		pass(world, SECOND);
	}
	assert_int_equal(state_of(world, target), HEALTH_UP);
	assert_false(health_suspect(world->facts->health, target, world->now));
}

/* Served by another in the end, again and again, and it finishes nothing itself. */
static void retries_eject_who_finishes_nothing(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);
	struct sent sent = sent_of(world, target, prompt_of_tenant(world, 1000, ""));
	int retries = 0;

	(void)ends(&sent, "----", 200);
	while (state_of(world, target) != HEALTH_EJECTED) {
		struct stream_end end;

		sent = sent_of(world, target,
		               prompt_of_tenant(world, 2000 + (uint64_t)retries, ""));
		end = end_of(&sent, "----", 200);
		end.by = sent.by_other;
		end.retries = 1;
		end.redispatched = true;
		(void)tell(&sent, &end);
		pass(world, SECOND);
		assert_true(++retries < 20);
	}
	assert_int_equal(retries, 12); /* 10 s and one more */
}

/* Of s1, ejected and half-open again: the one request that is on trial. */
static struct sent on_trial(struct world *world, uint32_t target)
{
	health_eject(world->facts->health, target, world->now);
	pass(world, 300 * SECOND);
	assert_int_equal(state_of(world, target), HEALTH_HALF_OPEN);
	return sent_of(world, target, world_ask(world));
}

static bool takes(struct world *world, uint32_t target)
{
	return health_takes(world->facts->health, target, world->now);
}

static void a_trial_is_over_when_it_ends_or_moves_or_is_given_up(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);
	struct sent sent = on_trial(world, target), next;
	struct stream_end end;

	assert_false(takes(world, target));
	(void)ends(&sent, "CD--", 200);
	assert_true(takes(world, target));
	sent = on_trial(world, target);
	assert_false(takes(world, target));
	(void)first_byte(&sent, &sent.by, 200);
	assert_false(takes(world, target));
	(void)ends(&sent, "----", 200);
	assert_true(takes(world, target));
	sent = on_trial(world, target);
	(void)first_byte(&sent, &sent.by_other, 200);
	assert_true(takes(world, target));
	next = sent_of(world, target, world_ask(world));
	end = end_of(&sent, "----", 200);
	end.by = sent.by_other;
	(void)tell(&sent, &end); /* it was over before: the next one holds the place */
	assert_false(takes(world, target));
	(void)ends(&next, "CD--", 200);
	sent = on_trial(world, target);
	feedback_late(world->facts, sent.id, world->now);
	assert_true(takes(world, target));
	(void)on_trial(world, target);
	(void)feedback_process_gone(world->facts, 0, world->now);
	assert_true(takes(world, target));
	/* An engine that restarts is another one to the request, not to its trial. */
	sent = on_trial(world, target);
	facts_engine_restarted(world->facts, target, world->now + 1);
	pass(world, SECOND);
	(void)ends(&sent, "----", 200);
	assert_true(takes(world, target));
}

static void three_requests_on_trial_that_end_well_bring_it_back(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);
	struct sent sent = on_trial(world, target);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(state_of(world, target), HEALTH_HALF_OPEN);
		(void)ends(&sent, "----", 200);
		sent = sent_of(world, target, world_ask(world));
	}
	assert_int_equal(state_of(world, target), HEALTH_RAMP);
	sent = on_trial(world, target);
	(void)ends(&sent, "sH--", 504);
	assert_int_equal(state_of(world, target), HEALTH_EJECTED);
}

/* HAProxy tried it elsewhere, so that the client had its answer. */
static void a_request_on_trial_that_had_to_go_elsewhere_ejects(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);

	for (int heard = 0; heard < 2; heard++) {
		struct sent sent = on_trial(world, target);
		struct stream_end end = end_of(&sent, "----", 200);

		if (heard)
			(void)first_byte(&sent, &sent.by_other, 200);
		end.by = sent.by_other;
		end.retries = 1;
		end.redispatched = true;
		(void)tell(&sent, &end);
		assert_int_equal(state_of(world, target), HEALTH_EJECTED);
	}
}

/* Waits for a minute; an end that HAProxy made is no sign of life, an answer is. */
static void only_an_answer_is_a_sign_of_life(void **state)
{
	struct world *world = *state;
	uint32_t target = first_of(world);
	struct sent waiting = sent_of(world, target, world_ask(world));
	struct sent other = sent_of(world, target, world_ask(world));

	ejection_look(world->facts, world->now);
	pass(world, 50 * SECOND);
	(void)ends(&other, "sH--", 504);
	pass(world, 10 * SECOND);
	ejection_look(world->facts, world->now);
	assert_int_equal(state_of(world, target), HEALTH_STALLED);
	(void)ends(&waiting, "----", 500);
	assert_int_equal(state_of(world, target), HEALTH_UP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_prompts_that_fail_eject),
		TEST(one_prompt_that_fails_does_not),
		TEST(short_prompts_are_told_apart_too),
		TEST(bad_requests_eject_nobody),
		TEST(bad_credentials_need_two_tenants),
		TEST(a_retry_that_ends_busy_is_nobodys_failure),
		TEST(retries_eject_who_finishes_nothing),
		TEST(a_trial_is_over_when_it_ends_or_moves_or_is_given_up),
		TEST(three_requests_on_trial_that_end_well_bring_it_back),
		TEST(a_request_on_trial_that_had_to_go_elsewhere_ejects),
		TEST(only_an_answer_is_a_sign_of_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
