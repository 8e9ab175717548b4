/* test_haproxy_retry.c - what a retry says of the one that was asked first: its own answer where
 * HAProxy tells, a failure where it does not. Proves R113, B006, B028. */
#include "policies/ejection.h"
#include "tests/policies/sent.h"

/* To s1, and served by another in the end, after this many retries. */
static struct stream_end moved(const struct sent *sent, uint32_t retries)
{
	struct stream_end end = end_of(sent, "----", 200);

	end.by = sent->by_other;
	end.retries = retries;
	end.redispatched = true;
	return end;
}

static void said(struct stream_end *end, int status, uint32_t retry_after, struct span server)
{
	end->first_status = status;
	end->first_retry_after = retry_after;
	end->first_server = server;
}

static struct sent one(struct world *world)
{
	return sent_prompt(world, world->asked + 1);
}

static bool backs_off(struct world *world, uint32_t target)
{
	return health_backing_off(world->facts->health, target, world->now);
}

static bool suspect(struct world *world, uint32_t target)
{
	return health_suspect(world->facts->health, target, world->now);
}

static double failures(struct world *world, uint32_t target)
{
	return health_failures(world->facts->health, target, world->now);
}

static void a_full_engine_is_held_back_for_what_it_asked(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = moved(&sent, 1);

	said(&end, 503, 7, sent.by.server);
	(void)tell(&sent, &end);
	assert_true(backs_off(world, sent.chosen));
	assert_false(suspect(world, sent.chosen));
	assert_near(failures(world, sent.chosen), 0);
	pass(world, 6999 * MSEC);
	assert_true(backs_off(world, sent.chosen));
	pass(world, MSEC);
	assert_false(backs_off(world, sent.chosen));
	assert_false(backs_off(world, sent.other));
}

static void an_engine_that_answered_500_failed_once(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = moved(&sent, 1);

	said(&end, 500, 0, sent.by.server);
	(void)tell(&sent, &end);
	assert_near(failures(world, sent.chosen), 1 / 3.0);
	assert_near(failures(world, sent.other), 0);
	assert_false(suspect(world, sent.chosen)); /* it took the connection */
	assert_false(backs_off(world, sent.chosen));
}

static void five_hidden_500s_eject_a_busy_worker_too(void **state)
{
	struct world *world = *state;
	uint32_t target = world_replica(world, "a", "s1")->target->id;
	int times = 0;

	world_strategy(world, "random");
	world_entry(world)->gate_gap = 1e6;
	while (health_state(world->facts->health, target, world->now) == HEALTH_UP && times < 5) {
		struct sent sent = one(world);
		struct stream_end end = moved(&sent, 1);

		if (sent.chosen != target) {
			(void)ends(&sent, "CD--", 200);
			continue;
		}
		said(&end, 500, 0, sent.by.server);
		(void)tell(&sent, &end);
		times++;
	}
	assert_int_equal(times, 5);
	assert_int_equal(health_state(world->facts->health, target, world->now), HEALTH_EJECTED);
}

static void without_its_word_it_is_a_failure(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = moved(&sent, 1);

	(void)tell(&sent, &end);
	assert_near(failures(world, sent.chosen), 1 / 3.0);
	assert_true(suspect(world, sent.chosen));
	assert_int_equal(counted(&sent, sent.chosen)->pin_overridden[PIN_REDISPATCH], 1);
}

/* Nobody took the connection of the one we chose, the next was full, the third served. */
static void each_that_was_tried_is_judged_by_itself(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = moved(&sent, 2);
	const char *names[] = { "s1", "s2", "s3" };
	struct span third = { NULL, 0 };
	uint32_t id = TARGET_NONE;

	for (size_t i = 0; i < 3; i++) {
		uint32_t target = world_replica(world, "a", names[i])->target->id;

		if (target == sent.chosen || target == sent.other)
			continue;
		id = target;
		third = SPAN(names[i]);
	}
	said(&end, 503, 3, third);
	(void)tell(&sent, &end);
	assert_true(suspect(world, sent.chosen));
	assert_true(backs_off(world, id));
	assert_near(failures(world, id), 0);
	assert_near(failures(world, sent.other), 0);
}

/* Its own last answer is in the line as well; without a retry that is all there is. */
static void without_a_retry_the_end_says_it_all(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = end_of(&sent, "----", 500);

	said(&end, 500, 0, sent.by.server);
	(void)tell(&sent, &end);
	assert_near(failures(world, sent.chosen), 1 / 3.0); /* once */
}

static void a_busy_one_keeps_what_it_holds_a_broken_one_does_not(void **state)
{
	for (int status = 500; status <= 503; status += 3) {
		struct world *world = *state;
		struct sent sent = sent_prompt(world, 1000);
		struct stream_end end;
		uint32_t holder = sent.chosen;

		(void)first_byte(&sent, &sent.by, 200);
		(void)ends(&sent, "----", 200);
		do {
			pass(world, 10 * SECOND);
			sent = sent_prompt(world, 1000);
			if (sent.chosen != holder)
				(void)ends(&sent, "CD--", 200);
		} while (sent.chosen != holder);
		assert_true(held_by(world, holder) > 0);
		end = moved(&sent, 1);
		said(&end, status, 0, sent.by.server);
		(void)tell(&sent, &end);
		if (status == 503)
			assert_true(held_by(world, holder) > 0);
		else
			assert_int_equal(held_by(world, holder), 0);
		prefix_index_forget(world->facts->prefix, sent.other);
	}
}

static void a_name_that_nobody_has_says_nothing(void **state)
{
	struct world *world = *state;
	struct sent sent = one(world);
	struct stream_end end = moved(&sent, 1);

	said(&end, 503, 7, SPAN("gone"));
	(void)tell(&sent, &end);
	assert_true(suspect(world, sent.chosen));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_full_engine_is_held_back_for_what_it_asked),
		TEST(an_engine_that_answered_500_failed_once),
		TEST(five_hidden_500s_eject_a_busy_worker_too),
		TEST(without_its_word_it_is_a_failure),
		TEST(each_that_was_tried_is_judged_by_itself),
		TEST(without_a_retry_the_end_says_it_all),
		TEST(a_busy_one_keeps_what_it_holds_a_broken_one_does_not),
		TEST(a_name_that_nobody_has_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
