/* test_session.c - the target that has a session, kept while it is not too busy.
 * Proves R160, R161, R162, R163, R170, B019, B020, B053. */
#include "policies/stages/session.h"

#include <math.h>

#include "policies/state/session_id.h"
#include "tests/policies/world.h"

static struct world *world;

/* One instance of 10.0.0.1:8000, 10.0.0.2:8000, 10.0.0.3:8000. */
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

static struct decision decide_for(struct world *in, const char *key)
{
	struct request request = world_ask(in);

	request.session = SPAN(key);
	return world_decide(in, request);
}

/* What came in x-session-id. */
static struct decision decide_by_id(const char *id)
{
	struct request request = world_ask(world);

	request.session = SPAN(id);
	request.session_may_be_id = true;
	return world_decide(world, request);
}

static void pin(const char *key, const char *server)
{
	struct request request = { .session = SPAN(key) };

	pins_put(world->facts->sessions, session_key(world->facts, &request, 0),
	         world_replica(world, "a", server)->target->id, world->now);
}

/* -1: nowhere */
static int pinned(const char *key)
{
	struct request request = { .session = SPAN(key) };
	struct pin found;

	if (!pins_find(world->facts->sessions, session_key(world->facts, &request, 0), world->now,
	               &found))
		return -1;
	return (int)found.target;
}

static int id_of(const char *server)
{
	return (int)world_replica(world, "a", server)->target->id;
}

static void expect_session(const struct decision *decision, const char *server,
                           enum session_result result)
{
	expect_server(decision, server);
	assert_int_equal(decision->levels[1].session.result, result);
	assert_int_equal(decision->reason, REASON_SESSION);
}

/* The vectors of session_id.h, through a whole decision. */
static void a_new_key_falls_to_the_heaviest(void **state)
{
	struct decision decision = decide_for(world, "s-1");

	(void)state;
	expect_session(&decision, "s1", SESSION_NEW);
	decision = decide_for(world, "s-2");
	expect_session(&decision, "s2", SESSION_NEW);
	assert_int_equal(pinned("s-1"), id_of("s1"));
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_PINNED);
	assert_int_equal(world->facts->counters->sessions[SESSION_NEW], 2);
	assert_int_equal(world->facts->counters->sessions[SESSION_PINNED], 1);
}

static void a_pin_outweighs_the_hash(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s3");
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s3", SESSION_PINNED);
}

static void an_old_pin_is_none(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s3");
	world->now += 3600 * SECOND + 1;
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_NEW);
}

/* s1 is down: all agents take the heaviest of the others. */
static void where_the_pin_does_not_stand_the_hash_says_where(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s1");
	world_server(world, "a", "s1")->up = false;
	world_apply(world);
	decision = decide_for(world, "s-1");
	/* a622... of s3 against 94df... of s2 */
	expect_session(&decision, "s3", SESSION_GONE);
	assert_int_equal(decision.levels[1].session.pinned, id_of("s1"));
	assert_int_equal(pinned("s-1"), id_of("s3"));
	assert_int_equal(world->facts->counters->session_moves[SESSION_MOVE_GONE], 1);
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s3", SESSION_PINNED);
}

/* Another engine at the old one's place has none of its sessions. */
static void an_address_that_is_gone_takes_its_pins_along(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s2");
	world_server(world, "a", "s2")->address = SPAN("10.0.0.9:8000");
	world_apply(world);
	assert_int_equal(pinned("s-1"), -1);
	decision = decide_for(world, "s-1");
	assert_int_equal(decision.levels[1].session.result, SESSION_NEW);
}

static void an_engine_that_begins_anew_has_no_sessions(void **state)
{
	(void)state;
	pin("s-1", "s2");
	facts_engine_restarted(world->facts, (uint32_t)id_of("s2"), world->now);
	assert_int_equal(pinned("s-1"), -1);
}

static void a_hundred_at_once_go_to_one(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct decision decision = decide_for(world, "s-2");

		expect_server(&decision, "s2");
	}
	assert_int_equal((int)world_running(world, "a", "s2"), 100);
}

/* Twenty of its own are no reason to leave, nor are four of others beside them; a
 * fifth is: 25 - 20 - 0 > max(4, sqrt(25 / 3)). */
static void others_drive_a_session_away(void **state)
{
	struct decision decision;

	(void)state;
	for (int i = 0; i < 20; i++)
		decision = decide_for(world, "s-1");
	world_busy(world, "a", "s1", 4);
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_PINNED);
	world_busy(world, "a", "s1", 1);
	decision = decide_for(world, "s-1");
	assert_string_not_equal(server_of(&decision), "s1");
	assert_int_equal(decision.reason, REASON_SPILL);
}

/* Once the gate says no, load decides, and the reason tells. */
static void a_session_that_is_too_busy_goes_to_the_least_loaded(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s1");
	world_busy(world, "a", "s2", 1);
	world_busy(world, "a", "s1", 4);
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_PINNED);
	world_busy(world, "a", "s1", 1);
	decision = decide_for(world, "s-1");
	expect_server(&decision, "s3");
	assert_int_equal(decision.reason, REASON_SPILL);
	assert_true(decision.levels[1].session.spilled);
	assert_int_equal(world->facts->counters->sessions_spilled, 1);
	assert_int_equal(pinned("s-1"), id_of("s1"));
}

/* What it has in the cache there may cost a longer queue: 102 400 B save
 * 25 600 tokens, worth 7.3 requests. */
static void a_long_context_bears_a_longer_queue(void **state)
{
	struct request request = world_ask_long(world, 110000, 110000, 1, 1);
	struct decision decision;

	(void)state;
	request.session = SPAN("s-1");
	decision = world_decide(world, request);
	expect_server(&decision, "s1");
	world_first_byte(world, request.id);
	world_end(world, request.id);
	world_busy(world, "a", "s1", 7);
	request = world_ask_long(world, 103000, 103000, 1, 1);
	request.session = SPAN("s-1");
	decision = world_decide(world, request);
	expect_server(&decision, "s1");
	world_end(world, request.id);
	world_busy(world, "a", "s1", 2);
	request = world_ask_long(world, 103000, 103000, 1, 1);
	request.session = SPAN("s-1");
	decision = world_decide(world, request);
	assert_string_not_equal(server_of(&decision), "s1");
}

/* What waits for prefill has a bound whoever sent it: half as much again as the
 * mean, and 30 720 tokens. At 2050 a prompt, 1025 n > 30 720 from 30 on. */
static void its_own_prefill_drives_a_session_away(void **state)
{
	(void)state;
	for (unsigned int i = 0; i <= 30; i++) {
		struct request request = world_ask_long(world, 8200, 0, 0, 100 + i);
		struct decision decision;

		request.session = SPAN("s-2");
		decision = world_decide(world, request);
		assert_int_equal(strcmp(server_of(&decision), "s2") == 0, i < 30);
	}
}

/* max-running 10, relaxed 2.5 times for who has the context: 25 with this one. */
static void admission_is_relaxed_for_the_session(void **state)
{
	struct decision decision;

	(void)state;
	world_entry(world)->admit.running = 10;
	pin("s-1", "s1");
	world_busy(world, "a", "s1", 24);
	world_busy(world, "a", "s2", 22);
	world_busy(world, "a", "s3", 22);
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_PINNED);
	decision = decide_for(world, "s-1");
	assert_int_not_equal(decision.reason, REASON_SESSION);
}

static void an_id_names_its_replica(void **state)
{
	struct decision decision = decide_by_id("MTAuMC4wLjM6ODAwMA=="); /* 10.0.0.3:8000 */

	(void)state;
	expect_session(&decision, "s3", SESSION_NAMED);
	/* An id needs no pin. */
	assert_int_equal(pins_count(world->facts->sessions), 0);
	assert_ptr_equal(decision.session, &world->policy.session);
	world->policy.session.format = SESSION_OPAQUE;
	world->policy.session.seed = 42;
	decision = decide_by_id("5db438e50fd5578e"); /* 10.0.0.1:8000 */
	expect_session(&decision, "s1", SESSION_NAMED);
	/* Addresses force nothing where ids are opaque. */
	decision = decide_by_id("MTAuMC4wLjM6ODAwMA==");
	assert_int_equal(decision.levels[1].session.result, SESSION_UNNAMED);
}

/* Ids of nobody are all alike, so they must not fall to one by their hash. */
static void an_id_of_nobody_is_drawn(void **state)
{
	unsigned int times[3] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		struct request request = world_ask(world);
		struct decision decision;

		request.session = SPAN("MTI3LjAuMC4xOjIy"); /* 127.0.0.1:22 */
		request.session_may_be_id = true;
		decision = world_decide(world, request);
		assert_int_equal(decision.outcome, OUTCOME_ROUTED);
		assert_int_equal(decision.levels[1].session.result, SESSION_UNNAMED);
		times[server_of(&decision)[1] - '1']++;
		world_end(world, request.id);
	}
	/* 4 x sqrt(1/3 x 2/3 x 3000) = 103 */
	for (size_t i = 0; i < 3; i++)
		assert_in_range(times[i], 897, 1103);
}

/* Whatever a client writes there, one of the three serves. */
static void no_id_leads_out_of_the_candidates(void **state)
{
	static const char *const forged[] = {
		"MTI3LjAuMC4xOjIy",
		"%00",
		"====",
		"MTAuMC4wLjk6ODAwMA==", /* 10.0.0.9:8000 */
		"0000000000000000",
		"../../etc/passwd",
		"10.0.0.1:8000",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(forged); i++) {
		struct decision decision = decide_by_id(forged[i]);

		assert_int_equal(decision.outcome, OUTCOME_ROUTED);
		assert_ptr_equal(decision.instance, world_instance(world, "a"));
		assert_non_null(decision.replica);
		assert_int_not_equal(decision.levels[1].session.result, SESSION_NAMED);
	}
}

/* In another header an id is a key like any other. */
static void an_id_in_a_key_is_a_key(void **state)
{
	struct decision decision = decide_for(world, "MTAuMC4wLjM6ODAwMA==");

	(void)state;
	assert_int_equal(decision.levels[1].session.result, SESSION_NEW);
}

static void without_a_session_it_is_least_request(void **state)
{
	struct decision decision;

	(void)state;
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s3", 1);
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s2");
	assert_int_equal(decision.levels[1].session.result, SESSION_NONE);
	assert_int_equal(decision.reason, REASON_LOAD);
	/* The client is given an id all the same, to come back with. */
	assert_ptr_equal(decision.session, &world->policy.session);
}

static void by_default_a_session_counts_nothing(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s3", 1);
	decision = decide_for(world, "s-1");
	expect_server(&decision, "s2");
	assert_int_equal(decision.levels[1].session.result, SESSION_NONE);
	assert_null(decision.session);
	assert_int_equal(pins_count(world->facts->sessions), 0);
}

/* A mode of the entry is stronger than its strategy's. */
static void an_entry_has_its_mode(void **state)
{
	struct decision decision;

	(void)state;
	world_entry(world)->session_mode = SESSION_OFF;
	world_busy(world, "a", "s1", 3);
	world_busy(world, "a", "s3", 1);
	decision = decide_for(world, "s-1");
	/* The strategy's own signal still counts. */
	expect_server(&decision, "s1");
	assert_false(decision.levels[1].session.kept);
	world_strategy(world, "least-request");
	world_entry(world)->session_mode = SESSION_HARD;
	decision = decide_for(world, "s-1");
	expect_session(&decision, "s1", SESSION_PINNED);
	assert_true(decision.levels[1].session.kept);
}

/* Soft: as much as all other signals together. */
static void a_soft_session_is_one_of_the_reasons(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_entry(world)->session_mode = SESSION_SOFT;
	world_busy(world, "a", "s1", 3);
	decision = decide_for(world, "s-1");
	/* Of 3, 0, 0 with a spread of 4: running 0.25, 1, 1; with the session 0.625, 0.5, 0.5. */
	expect_session(&decision, "s1", SESSION_NEW);
	assert_false(decision.levels[1].session.kept);
	assert_true(fabs(decision.levels[1].pool[decision.levels[1].chosen].score - 0.625) < 1e-9);
	/* Of 4, 0, 0: 0.5, 0.5, 0.5. Whoever was chosen longest ago. */
	decision = decide_for(world, "s-1");
	assert_string_not_equal(server_of(&decision), "s1");
}

/* Two callers, or two models, with one key are two sessions. */
static void a_key_is_its_callers_own(void **state)
{
	struct request request = { .session = SPAN("s-1") };
	struct pin_key one = session_key(world->facts, &request, 0), other;

	(void)state;
	request.tenant = SPAN("acme");
	other = session_key(world->facts, &request, 0);
	assert_true(one.hash != other.hash);
	request.model = SPAN("m");
	assert_true(session_key(world->facts, &request, TARGET_NONE).hash != other.hash);
}

static void explaining_leaves_no_pin(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	request.session = SPAN("s-1");
	decider_explain(world->decider, &request, world->now, &decision);
	expect_session(&decision, "s1", SESSION_NEW);
	assert_int_equal(pins_count(world->facts->sessions), 0);
}

/* Agents that share nothing: 50 new keys, the same 50 choices, whatever their seeds
 * and whatever they chose before. */
static void agents_agree_without_a_store(void **state)
{
	struct world *other = world_new(1, 3);

	(void)state;
	world_strategy(other, "session-affinity");
	world_decider(other, 77);
	(void)world_decide(other, world_ask(other));
	for (unsigned int i = 0; i < 50; i++) {
		struct decision here, there;
		char key[16];

		snprintf(key, sizeof(key), "new-%u", i);
		here = decide_for(world, key);
		there = decide_for(other, key);
		assert_string_equal(server_of(&here), server_of(&there));
		world_end(world, SPAN(world->id));
		world_end(other, SPAN(other->id));
	}
	world_free(other);
}

/* --- instances ------------------------------------------------------------- */

static int begin_two(void **state)
{
	(void)state;
	world = world_new(2, 3); /* 10.0.0.x and 10.1.0.x */
	world_strategy(world, "session-affinity");
	return 0;
}

/* The heaviest of all six, whatever instance it is in. */
static void the_instance_is_that_of_the_heaviest_replica(void **state)
{
	unsigned int in_a = 0;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		struct rendezvous rendezvous;
		struct decision decision;
		uint64_t most = 0;
		size_t best = 0;
		char key[16];

		snprintf(key, sizeof(key), "k%u", i);
		rendezvous_begin(&rendezvous, SPAN(key));
		for (size_t s = 0; s < world->count; s++) {
			uint64_t weight = rendezvous_weight(&rendezvous, world->names[s][2]);

			best = weight > most ? s : best;
			most = weight > most ? weight : most;
		}
		decision = decide_for(world, key);
		assert_string_equal(decision.replica->target->label, world->names[best][2]);
		in_a += decision.instance == world_instance(world, "a");
		world_end(world, SPAN(world->id));
	}
	assert_in_range(in_a, 10, 30);
}

static void the_instance_is_that_of_the_pin_or_of_the_id(void **state)
{
	struct decision decision;

	(void)state;
	pin("s-1", "s2");
	pins_put(world->facts->sessions,
	         session_key(world->facts, &(struct request){ .session = SPAN("s-1") }, 0),
	         world_replica(world, "b", "s2")->target->id, world->now);
	decision = decide_for(world, "s-1");
	assert_string_equal(decision.replica->target->label, "10.1.0.2:8000");
	assert_int_equal(decision.levels[0].session.result, SESSION_PINNED);
	decision = decide_by_id("MTAuMS4wLjM6ODAwMA=="); /* 10.1.0.3:8000 */
	assert_string_equal(decision.replica->target->label, "10.1.0.3:8000");
	assert_int_equal(decision.levels[0].session.result, SESSION_NAMED);
	/* Of an id of nobody the instance is not drawn: its load decides. */
	world_busy(world, "a", "s1", 9);
	decision = decide_by_id("MTI3LjAuMC4xOjIy");
	assert_ptr_equal(decision.instance, world_instance(world, "b"));
	assert_int_equal(decision.levels[0].session.target, TARGET_NONE);
}

/* An agent that names instances only pins them. */
static void an_instance_can_be_pinned(void **state)
{
	struct decision decision;
	const struct instance *first;

	(void)state;
	world->policy.levels = LEVELS_INSTANCE;
	decision = decide_for(world, "s-1");
	assert_null(decision.replica);
	assert_null(decision.session);
	first = decision.instance;
	assert_int_equal(pinned("s-1"), first->target->id);
	decision = decide_for(world, "s-1");
	assert_ptr_equal(decision.instance, first);
	assert_int_equal(decision.levels[0].session.result, SESSION_PINNED);
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, begin, end)
#define TEST_TWO(name) cmocka_unit_test_setup_teardown(name, begin_two, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_key_falls_to_the_heaviest),
		TEST(a_pin_outweighs_the_hash),
		TEST(an_old_pin_is_none),
		TEST(where_the_pin_does_not_stand_the_hash_says_where),
		TEST(an_address_that_is_gone_takes_its_pins_along),
		TEST(an_engine_that_begins_anew_has_no_sessions),
		TEST(a_hundred_at_once_go_to_one),
		TEST(others_drive_a_session_away),
		TEST(a_session_that_is_too_busy_goes_to_the_least_loaded),
		TEST(a_long_context_bears_a_longer_queue),
		TEST(its_own_prefill_drives_a_session_away),
		TEST(admission_is_relaxed_for_the_session),
		TEST(an_id_names_its_replica),
		TEST(an_id_of_nobody_is_drawn),
		TEST(no_id_leads_out_of_the_candidates),
		TEST(an_id_in_a_key_is_a_key),
		TEST(without_a_session_it_is_least_request),
		TEST(by_default_a_session_counts_nothing),
		TEST(an_entry_has_its_mode),
		TEST(a_soft_session_is_one_of_the_reasons),
		TEST(a_key_is_its_callers_own),
		TEST(explaining_leaves_no_pin),
		TEST(agents_agree_without_a_store),
		TEST_TWO(the_instance_is_that_of_the_heaviest_replica),
		TEST_TWO(the_instance_is_that_of_the_pin_or_of_the_id),
		TEST_TWO(an_instance_can_be_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
