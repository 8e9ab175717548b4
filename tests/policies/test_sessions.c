/* test_sessions.c - a pin through the life of requests: made at the decision, moved
 * by a good answer from elsewhere, once. Proves R160, R162, B020. */
#include "policies/sessions.h"

#include "policies/stages/session.h"
#include "tests/policies/sent.h"

static struct world *world;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 3);
	world_strategy(world, "session-affinity");
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static struct sent send_in(const char *session)
{
	struct request request = world_ask(world);

	request.session = SPAN(session);
	return send_to(world, request);
}

static struct pin pin_of(const char *session)
{
	struct request request = { .session = SPAN(session) };
	struct pin pin = { .target = TARGET_NONE };

	(void)pins_find(world->facts->sessions, session_key(world->facts, &request, 0), world->now,
	                &pin);
	return pin;
}

static uint64_t moves(enum session_move cause)
{
	return world->facts->counters->session_moves[cause];
}

static uint32_t id_of(const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

static void a_session_stays_where_it_was_served(void **state)
{
	struct sent sent = send_in("s-1");

	(void)state;
	assert_int_equal(pin_of("s-1").target, sent.chosen);
	assert_int_equal(pin_of("s-1").open, 1);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	assert_int_equal(pin_of("s-1").target, sent.chosen);
	assert_int_equal(pin_of("s-1").open, 0);
	assert_int_equal(pins_counts(world->facts->sessions)->moved, 0);
}

/* HAProxy went elsewhere. */
static void it_moves_with_the_first_byte_from_elsewhere(void **state)
{
	struct sent sent = send_in("s-1");
	struct feedback feedback = first_byte(&sent, &sent.by_other, 200);

	(void)state;
	assert_int_equal(pin_of("s-1").target, sent.other);
	assert_int_equal(moves(SESSION_MOVE_HAPROXY), 1);
	assert_string_equal(feedback.session_at, sent.by_other.address.at);
	(void)ends(&sent, "----", 200);
	assert_int_equal(pin_of("s-1").target, sent.other);
	assert_int_equal(moves(SESSION_MOVE_HAPROXY), 1);
	/* And the next request goes there, once and for all. */
	sent = send_in("s-1");
	assert_int_equal(sent.chosen, pin_of("s-1").target);
}

static void it_moves_at_the_end_where_no_first_byte_is_told(void **state)
{
	struct sent sent = send_in("s-1");
	struct stream_end end = end_of(&sent, "----", 200);

	(void)state;
	end.by = sent.by_other;
	end.retries = 1;
	end.redispatched = true;
	(void)tell(&sent, &end);
	assert_int_equal(pin_of("s-1").target, sent.other);
}

/* Its engine began anew meanwhile: there is no context to come back to, so nothing has moved. */
static void a_pin_that_is_void_is_not_made_anew(void **state)
{
	struct sent sent = send_in("s-1");

	(void)state;
	pins_forget(world->facts->sessions, sent.chosen);
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(pin_of("s-1").target, TARGET_NONE);
	assert_int_equal(moves(SESSION_MOVE_CHOICE), 0);
	(void)ends(&sent, "----", 200);
}

/* Who failed has no context to come back to. */
static void a_failure_elsewhere_moves_nothing(void **state)
{
	struct sent sent = send_in("s-1");
	struct stream_end end = end_of(&sent, "SH--", 502);

	(void)state;
	end.by = sent.by_other;
	(void)tell(&sent, &end);
	assert_int_equal(pin_of("s-1").target, sent.chosen);
	sent = send_in("s-1");
	(void)first_byte(&sent, &sent.by_other, 500);
	assert_int_equal(pin_of("s-1").target, sent.chosen);
}

/* s1 is gone: requests at once go to s3, by their hash, and are together there. s1
 * comes back; the session stays. */
static void a_session_moves_once_and_stays(void **state)
{
	struct sent sent[8];

	(void)state;
	sent[0] = send_in("s-1");
	assert_int_equal(sent[0].chosen, id_of("s1"));
	(void)ends(&sent[0], "----", 200);
	world_server(world, "a", "s1")->up = false;
	world_apply(world);
	for (size_t i = 0; i < COUNT(sent); i++) {
		sent[i] = send_in("s-1");
		assert_int_equal(sent[i].chosen, id_of("s3"));
	}
	assert_int_equal(pin_of("s-1").open, COUNT(sent));
	for (size_t i = 0; i < COUNT(sent); i++)
		(void)ends(&sent[i], "----", 200);
	assert_int_equal(pin_of("s-1").target, id_of("s3"));
	assert_int_equal(moves(SESSION_MOVE_GONE), 1);
	world_server(world, "a", "s1")->up = true;
	world_apply(world);
	for (size_t i = 0; i < COUNT(sent); i++) {
		sent[i] = send_in("s-1");
		assert_int_equal(sent[i].chosen, id_of("s3"));
	}
}

/* s1 is over its bound; served elsewhere, the session is there from the next turn on,
 * and a late answer from s1 does not bring it back. */
static void a_spilled_session_moves_once(void **state)
{
	struct sent early = send_in("s-1"), spilled;

	(void)state;
	world_busy(world, "a", "s1", 5);
	spilled = send_in("s-1");
	assert_int_not_equal(spilled.chosen, early.chosen);
	assert_int_equal(pin_of("s-1").target, early.chosen);
	(void)first_byte(&spilled, &spilled.by, 200);
	assert_int_equal(pin_of("s-1").target, spilled.chosen);
	assert_int_equal(moves(SESSION_MOVE_SPILL), 1);
	(void)first_byte(&early, &early.by, 200);
	(void)ends(&early, "----", 200);
	assert_int_equal(pin_of("s-1").target, spilled.chosen);
	assert_int_equal(pins_counts(world->facts->sessions)->moved, 1);
}

/* Of two that left s1 for different places the first to be served moves it. */
static void of_two_the_first_moves_it(void **state)
{
	struct sent home = send_in("s-1"), one, other;

	(void)state;
	(void)ends(&home, "----", 200);
	one = send_in("s-1");
	other = send_in("s-1");
	(void)first_byte(&one, &one.by_other, 200);
	assert_int_equal(pin_of("s-1").target, one.other);
	other.by_other.address = SPAN(world_replica(world, "a", "s2")->target->label);
	other.by_other.server = SPAN("s2");
	if (one.other == id_of("s2")) {
		other.by_other.address = SPAN(world_replica(world, "a", "s3")->target->label);
		other.by_other.server = SPAN("s3");
	}
	(void)first_byte(&other, &other.by_other, 200);
	assert_int_equal(pin_of("s-1").target, one.other);
	assert_int_equal(pins_counts(world->facts->sessions)->moved, 1);
}

/* Whatever becomes of its requests, a pin does not count them for ever. */
static void what_is_lost_lets_the_pin_go(void **state)
{
	struct sent late = send_in("s-1"), lost = send_in("s-1");

	(void)state;
	assert_int_equal(pin_of("s-1").open, 2);
	feedback_late(world->facts, late.id, world->now);
	assert_int_equal(pin_of("s-1").open, 1);
	(void)ends(&late, "----", 200);
	assert_int_equal(pin_of("s-1").open, 1);
	assert_int_equal(feedback_process_gone(world->facts, 0, world->now), 1);
	assert_int_equal(pin_of("s-1").open, 0);
	(void)lost;
}

static void on_expired(void *data, uint32_t target, uint32_t slots)
{
	(void)data;
	(void)target;
	(void)slots;
}

static void old_pins_are_swept_with_old_requests(void **state)
{
	(void)state;
	(void)send_in("s-1");
	world->now += 3600 * SECOND + 1;
	feedback_sweep(world->facts, world->now, on_expired, NULL);
	assert_int_equal(pins_count(world->facts->sessions), 0);
}

/* A client is told another id only if it is told ids at all, and who serves is known. */
static void the_id_is_changed_only_where_one_is_given(void **state)
{
	struct sent sent = send_in("s-1");
	struct served nobody = { .backend = SPAN("a") };

	(void)state;
	assert_null(first_byte(&sent, &sent.by, 200).session_at);
	sent = send_in("s-1");
	assert_null(first_byte(&sent, &nobody, 200).session_at);
	world_strategy(world, "least-request");
	sent = send_in("s-1");
	assert_null(first_byte(&sent, &sent.by_other, 200).session_at);
	assert_int_equal(pins_count(world->facts->sessions), 1);
}

/* HAProxy chose by itself after a late answer: there the session is. */
static void a_late_answer_pins_to_who_served(void **state)
{
	struct sent sent = send_in("s-1");

	(void)state;
	feedback_late(world->facts, sent.id, world->now);
	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(pin_of("s-1").target, sent.other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_stays_where_it_was_served),
		TEST(it_moves_with_the_first_byte_from_elsewhere),
		TEST(it_moves_at_the_end_where_no_first_byte_is_told),
		TEST(a_pin_that_is_void_is_not_made_anew),
		TEST(a_failure_elsewhere_moves_nothing),
		TEST(a_session_moves_once_and_stays),
		TEST(a_spilled_session_moves_once),
		TEST(of_two_the_first_moves_it),
		TEST(what_is_lost_lets_the_pin_go),
		TEST(old_pins_are_swept_with_old_requests),
		TEST(the_id_is_changed_only_where_one_is_given),
		TEST(a_late_answer_pins_to_who_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
