/* test_pair_slots.c - both slots of a pair: taken in one step, given back once each, and
 * nothing charged to the wrong one. Proves R112, P096, P097. */
#include "policies/ejection.h"
#include "tests/policies/paired.h"

enum { PROMPT = 40000 };

static int open_pair(void **state)
{
	struct paired *paired = paired_new("p d p d");

	paired_strategy(paired, "pd");
	*state = paired;
	return 0;
}

static int close_pair(void **state)
{
	paired_free(*state);
	return 0;
}

/* sent->chosen is the decode replica; sent->other some other replica. */
static struct sent send_pair(struct paired *paired, uint64_t conversation, uint32_t *ret_prefill)
{
	struct sent sent = send_to(paired->world,
	                           world_ask_long(paired->world, PROMPT, PROMPT, conversation, 0));
	struct flight *flight =
	        inflight_find(paired->world->facts->inflight, flight_id_of(sent.id));

	assert_non_null(flight);
	assert_true(flight->pair);
	assert_int_not_equal(flight->prefill, TARGET_NONE);
	*ret_prefill = flight->prefill;
	return sent;
}

static const struct replica *replica_at(struct paired *paired, uint32_t target)
{
	return fleet_replica_of_target(paired->world->facts->fleet,
	                               world_instance(paired->world, "a"), target);
}

static void both_slots_are_taken_at_once(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);
	struct work at_prefill = work_at(paired->world, prefill);
	struct work at_decode = work_at(paired->world, sent.chosen);
	struct work at_instance = work_at(paired->world, sent.instance);

	assert_int_equal(at_prefill.running, 1);
	assert_int_equal(at_prefill.awaiting, 1);
	assert_int_equal(at_prefill.prefill_tokens, 10000);
	assert_int_equal(at_prefill.resident_tokens, 10000); /* it makes no output */
	assert_int_equal(at_decode.running, 1);
	assert_int_equal(at_decode.awaiting, 0);
	assert_int_equal(at_decode.prefill_tokens, 0);
	assert_int_equal(at_decode.resident_tokens, 10256);
	assert_int_equal(at_instance.running, 1);
	assert_int_equal(at_instance.prefill_tokens, 10000);
	assert_int_equal(replica_at(paired, prefill)->target->chosen,
	                 replica_at(paired, sent.chosen)->target->chosen);
}

static void the_first_byte_gives_back_the_prefill_slot_and_the_end_the_other(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(running_at(paired->world, prefill), 0);
	assert_int_equal(running_at(paired->world, sent.chosen), 1);
	assert_int_equal(counted(&sent, prefill)->released[RELEASED_FIRST_BYTE], 1);
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(running_at(paired->world, prefill), 0);
	assert_false(ends(&sent, "----", 200).expired);
	assert_idle(paired->world);
	(void)ends(&sent, "----", 200);
	assert_idle(paired->world);
	assert_int_equal(counted(&sent, prefill)->released[RELEASED_FIRST_BYTE], 1);
	assert_int_equal(counted(&sent, sent.chosen)->released[RELEASED_LOG], 1);
}

static void an_end_without_a_first_byte_gives_back_both(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	assert_false(ends(&sent, "CH--", -1).expired);
	assert_idle(paired->world);
	assert_int_equal(counted(&sent, prefill)->released[RELEASED_LOG], 1);
}

static void a_late_answer_gives_back_both(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	feedback_late(paired->world->facts, sent.id, paired->world->now);
	assert_idle(paired->world);
	/* HAProxy chose by itself: a whole request, and no pair any more. */
	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(running_at(paired->world, sent.other), 1);
	(void)ends(&sent, "----", 200);
	assert_idle(paired->world);
}

static void a_lost_process_and_lost_sessions_give_back_both(void **state)
{
	struct paired *paired = *state;
	struct facts *facts = paired->world->facts;
	uint32_t targets = fleet_targets_max(facts->fleet);
	uint32_t *counts = calloc(targets, sizeof(*counts)), *scratch = calloc(targets, 4);
	uint32_t prefill;

	(void)send_pair(paired, 1, &prefill);
	assert_int_equal(feedback_process_gone(facts, 0, paired->world->now), 1);
	assert_idle(paired->world);
	(void)send_pair(paired, 2, &prefill);
	pass(paired->world, SECOND);
	for (int i = 0; i < MISSING_COUNTS; i++)
		(void)feedback_missing(facts, counts, scratch, targets, paired->world->now);
	assert_idle(paired->world);
	free(counts);
	free(scratch);
}

/* HAProxy has no session at the prefill replica; that is no reason to believe it idle. */
static void what_haproxy_counts_does_not_hide_the_prefill(void **state)
{
	struct paired *paired = *state;
	struct ledger *ledger = paired->world->facts->ledger;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	for (int i = 0; i < 3; i++) {
		pass(paired->world, SECOND);
		ledger_reconcile(ledger, prefill, 0, paired->world->now);
		ledger_reconcile(ledger, sent.chosen, 1, paired->world->now);
	}
	assert_near(ledger_running(ledger, prefill, paired->world->now), 1);
	assert_near(ledger_running(ledger, sent.chosen, paired->world->now), 1);
}

static void count_lost(void *data, uint32_t target, uint32_t slots)
{
	(void)target;
	*(uint32_t *)data += slots;
}

static void both_expire_with_their_bucket(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill, lost = 0;
	struct sent sent = send_pair(paired, 1, &prefill);

	pass(paired->world, 700 * SECOND);
	feedback_sweep(paired->world->facts, paired->world->now, count_lost, &lost);
	assert_int_equal(lost, 3); /* both replicas, and the instance */
	assert_idle(paired->world);
	(void)ends(&sent, "----", 200);
	assert_idle(paired->world);
}

static void a_prefill_replica_that_is_gone_takes_its_slot_with_it(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);
	bool first = strcmp(replica_at(paired, prefill)->name[0], "s1") == 0;

	/* Its address is another's now. */
	world_server(paired->world, "a", first ? "s1" : "s3")->address = SPAN("10.9.9.9:1");
	world_apply(paired->world);
	pass(paired->world, SECOND);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	assert_idle(paired->world);
}

static void another_decode_replica_may_serve_in_the_end(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);
	struct stream_end end;

	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(running_at(paired->world, sent.chosen), 0);
	assert_int_equal(running_at(paired->world, sent.other), 1);
	assert_int_equal(running_at(paired->world, prefill), 0);
	end = end_of(&sent, "----", 200);
	end.by = sent.by_other;
	assert_true(tell(&sent, &end).moved);
	assert_idle(paired->world);
	assert_true(held_by(paired->world, prefill) > 0);
	assert_true(held_by(paired->world, sent.other) > 0);
	assert_int_equal(held_by(paired->world, sent.chosen), 0);
}

static uint32_t other_decode(struct paired *paired, uint32_t decode)
{
	uint32_t s2 = world_replica(paired->world, "a", "s2")->target->id;

	return s2 != decode ? s2 : world_replica(paired->world, "a", "s4")->target->id;
}

static void both_hold_the_prompt_once_it_was_answered(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill, again;
	struct sent sent = send_pair(paired, 1, &prefill), next;

	assert_int_equal(held_by(paired->world, prefill), 12);
	assert_int_equal(held_by(paired->world, sent.chosen), 12);
	pass(paired->world, SECOND);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	pass(paired->world, 60 * SECOND); /* longer than what was never confirmed lives */
	(void)ledger_acquire(paired->world->facts->ledger, other_decode(paired, sent.chosen), 0, 0,
	                     paired->world->now);
	next = send_to(paired->world, world_ask_long(paired->world, PROMPT, PROMPT, 1, 0));
	assert_int_equal(next.chosen, sent.chosen); /* it lacks 3136 bytes */
	(void)ends(&next, "----", 200);
	paired_entry(paired)->pair.remote_min_bytes = 1000;
	next = send_pair(paired, 1, &again);
	assert_int_equal(again, prefill);
	assert_int_equal(work_at(paired->world, prefill).prefill_tokens, 784);
}

static void neither_holds_it_if_it_was_not(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	(void)first_byte(&sent, &sent.by, 500);
	(void)ends(&sent, "----", 500);
	assert_int_equal(held_by(paired->world, prefill), 0);
	assert_int_equal(held_by(paired->world, sent.chosen), 0);
}

static void the_time_to_the_first_byte_is_the_prefill_replicas(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	pass(paired->world, SECOND);
	assert_near(first_byte(&sent, &sent.by, 200).ttft_ms, 1000);
	assert_near(ttft_of(paired->world, prefill), 1000);
	assert_near(ttft_of(paired->world, sent.chosen), -1);
	assert_near(ttft_of(paired->world, sent.instance), 1000);
	pass(paired->world, SECOND);
	assert_near(ends(&sent, "----", 200).e2e_ms, 2000);
	assert_near(e2e_of(paired->world, sent.chosen), 2000);
	assert_near(e2e_of(paired->world, prefill), -1);
	assert_near(counted(&sent, prefill)->ttft.sum, 1);
	assert_near(counted(&sent, sent.chosen)->ttft.sum, 0);
	/* A first byte that was only a client leaving is taken back where it was given. */
	sent = send_pair(paired, 2, &prefill);
	pass(paired->world, 5 * SECOND);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "CD--", 200);
	assert_true(ttft_of(paired->world, prefill) < 1001);
}

static double failures_of(struct paired *paired, uint32_t target)
{
	return health_failures(paired->world->facts->health, target, paired->world->now);
}

static void a_failure_is_the_decode_replicas(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	(void)ends(&sent, "SH--", 502);
	assert_true(failures_of(paired, sent.chosen) > 0.3);
	assert_near(failures_of(paired, prefill), 0);
}

static void but_not_where_the_prefill_replica_is_out_of_service(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);
	struct stream_end end = end_of(&sent, "sH--", 504);
	const char *name = strcmp(replica_at(paired, prefill)->name[0], "s1") == 0 ? "s1" : "s3";

	world_server(paired->world, "a", name)->up = false;
	world_apply(paired->world);
	assert_int_equal(tell(&sent, &end).class, CLASS_FAILURE);
	assert_near(failures_of(paired, sent.chosen), 0);
	assert_near(e2e_of(paired->world, sent.chosen), -1);
	assert_idle(paired->world);
	/* A connection that is refused is its own fault all the same. */
	world_server(paired->world, "a", name)->up = true;
	world_apply(paired->world);
	sent = send_pair(paired, 2, &prefill);
	name = strcmp(replica_at(paired, prefill)->name[0], "s1") == 0 ? "s1" : "s3";
	world_server(paired->world, "a", name)->up = false;
	world_apply(paired->world);
	(void)ends(&sent, "SC--", 503);
	assert_true(failures_of(paired, sent.chosen) > 0.3);
	/* And so is a stream that broke after its first byte. */
	world_server(paired->world, "a", name)->up = true;
	world_apply(paired->world);
	pass(paired->world, 2 * SECOND);
	sent = send_pair(paired, 3, &prefill);
	(void)first_byte(&sent, &sent.by, 200);
	name = strcmp(replica_at(paired, prefill)->name[0], "s1") == 0 ? "s1" : "s3";
	world_server(paired->world, "a", name)->up = false;
	world_apply(paired->world);
	(void)ends(&sent, "SD--", 200);
	assert_true(failures_of(paired, sent.chosen) > 0.3);
}

/* Waiting for a prompt elsewhere is nobody's stall but that one's. */
static void a_prefill_that_never_comes_stalls_the_prefill_replica_only(void **state)
{
	struct paired *paired = *state;
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);
	const struct health *health = paired->world->facts->health;

	for (int i = 0; i < 70; i++) {
		ejection_look(paired->world->facts, paired->world->now);
		pass(paired->world, SECOND);
	}
	assert_int_equal(health_state(health, prefill, paired->world->now), HEALTH_STALLED);
	assert_int_not_equal(health_state(health, sent.chosen, paired->world->now), HEALTH_STALLED);
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_not_equal(health_state(health, prefill, paired->world->now), HEALTH_STALLED);
}

static void a_prefill_replica_on_trial_gets_one_prompt_at_a_time(void **state)
{
	struct paired *paired = *state;
	struct world *world = paired->world;
	uint32_t id = world_replica(world, "a", "s1")->target->id, prefill;
	uint32_t other = world_replica(world, "a", "s3")->target->id;

	health_eject(world->facts->health, id, world->now);
	pass(world, 11 * SECOND);
	for (int i = 0; i < 2; i++)
		(void)health_probed(world->facts->health, id, true, world->now);
	assert_int_equal(health_state(world->facts->health, id, world->now), HEALTH_HALF_OPEN);
	for (uint64_t i = 0; i < 3; i++) {
		struct sent trial = send_pair(paired, 10 + 2 * i, &prefill);
		struct sent next;
		uint32_t then;

		/* The other one is busier by then, and still gets the second. */
		assert_int_equal(prefill, id);
		next = send_pair(paired, 11 + 2 * i, &then);
		assert_int_equal(then, other);
		(void)first_byte(&trial, &trial.by, 200);
		(void)ledger_acquire(world->facts->ledger, other, 20000, 0, world->now);
		(void)ends(&trial, "----", 200);
		(void)ends(&next, "----", 200);
	}
	assert_int_equal(health_state(world->facts->health, id, world->now), HEALTH_RAMP);
}

/* An answer that only its end tells of is one, too; one that never came is none. */
static void a_trial_without_an_answer_is_no_good_one(void **state)
{
	struct paired *paired = *state;
	struct world *world = paired->world;
	uint32_t id = world_replica(world, "a", "s1")->target->id, prefill;

	health_eject(world->facts->health, id, world->now);
	pass(world, 11 * SECOND);
	for (int i = 0; i < 2; i++)
		(void)health_probed(world->facts->health, id, true, world->now);
	(void)ledger_acquire(world->facts->ledger, world_replica(world, "a", "s3")->target->id,
	                     90000, 0, world->now);
	for (uint64_t i = 0; i < 4; i++) {
		struct sent trial = send_pair(paired, 10 + i, &prefill);

		assert_int_equal(prefill, id);
		(void)ends(&trial, "CH--", -1);
		assert_int_equal(health_state(world->facts->health, id, world->now),
		                 HEALTH_HALF_OPEN);
	}
	for (uint64_t i = 0; i < 3; i++) {
		struct sent trial = send_pair(paired, 20 + i, &prefill);

		assert_int_equal(prefill, id);
		(void)ends(&trial, "----", 200);
	}
	assert_int_equal(health_state(world->facts->health, id, world->now), HEALTH_RAMP);
}

static void engines_are_told_who_computes(void **state)
{
	struct paired *paired = *state;
	struct engines *engines = paired->world->facts->engines;
	struct engine_page page = { .at = 0 };
	uint32_t prefill;
	struct sent sent = send_pair(paired, 1, &prefill);

	engines_counts(engines, prefill, &page);
	assert_int_equal(page.acquired, 1);
	assert_int_equal(page.acquired_tokens, 10000);
	assert_int_equal(page.first_bytes, 0);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	engines_counts(engines, prefill, &page);
	assert_int_equal(page.first_bytes, 1);
	engines_counts(engines, sent.chosen, &page);
	assert_int_equal(page.acquired, 0);
	assert_int_equal(page.first_bytes, 0);
}

/* Any event, in any order, at any time, twice or never: in the end every count is 0. A
 * count below 0 would end the process. */
enum { STEPS = 40000, OPEN = 64 };

/* A server goes down, comes back, or its address changes. */
static void change_a_server(struct paired *paired, struct rng *rng)
{
	static char addresses[8][32];
	size_t at = rng_below(rng, paired->count);
	struct server_fact *server = &paired->world->servers[at];

	if (rng_below(rng, 8) == 0) {
		snprintf(addresses[at], sizeof(addresses[at]), "10.8.0.%u:%u", (unsigned)at,
		         (unsigned)(9000 + rng_below(rng, 3)));
		server->address = SPAN(addresses[at]);
	}
	server->up = rng_below(rng, 4) > 0;
	world_apply(paired->world);
}

static void random_event(struct paired *paired, struct rng *rng, struct sent *sent)
{
	struct world *world = paired->world;
	struct stream_end end =
	        end_of(sent, rng_below(rng, 2) ? "----" : "SH--", rng_below(rng, 3) ? 200 : 502);

	if (rng_below(rng, 4) == 0)
		end.by = sent->by_other;
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		(void)first_byte(sent, rng_below(rng, 4) ? &sent->by : &sent->by_other,
		                 rng_below(rng, 3) ? 200 : 503);
		break;
	case 2:
	case 3:
	case 4:
		(void)tell(sent, &end);
		break;
	case 5:
		feedback_late(world->facts, sent->id, world->now);
		break;
	case 6:
		change_a_server(paired, rng);
		break;
	default:
		if (rng_below(rng, 200) == 0)
			(void)feedback_process_gone(world->facts, 0, world->now);
		break;
	}
}

static void counts_are_0_in_the_end_whatever_happens(void **state)
{
	struct paired *paired = *state;
	struct world *world = paired->world;
	struct rng rng = { 11 };
	static char ids[OPEN][32];
	struct sent open[OPEN] = { 0 };
	uint32_t lost = 0;

	for (int step = 0; step < STEPS; step++) {
		size_t at = rng_below(&rng, OPEN);
		struct request request;
		struct decision decision;

		pass(world, rng_below(&rng, 400) * MSEC);
		if (open[at].world)
			random_event(paired, &rng, &open[at]);
		if (open[at].world && rng_below(&rng, 3) > 0)
			continue;
		request = world_ask_long(world, PROMPT, PROMPT, rng_below(&rng, 30), 0);
		memcpy(ids[at], request.id.at, request.id.len + 1);
		request.id = SPAN(ids[at]);
		request.backend = SPAN("a");
		decision = world_decide(world, request);
		if (!decision.replica || !decision.slot)
			continue;
		open[at] = (struct sent){ .world = world,
			                  .id = request.id,
			                  .by = served_by(decision.instance, decision.replica),
			                  .by_other = served_by(decision.instance,
			                                        &decision.instance->replicas[1]) };
		if (step % 1000 == 0)
			feedback_sweep(world->facts, world->now, count_lost, &lost);
	}
	assert_true(world->facts->counters->pairs[PAIR_REMOTE] > STEPS / 20);
	pass(world, 700 * SECOND);
	feedback_sweep(world->facts, world->now, count_lost, &lost);
	assert_idle(world);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_slots_are_taken_at_once),
		TEST(the_first_byte_gives_back_the_prefill_slot_and_the_end_the_other),
		TEST(an_end_without_a_first_byte_gives_back_both),
		TEST(a_late_answer_gives_back_both),
		TEST(a_lost_process_and_lost_sessions_give_back_both),
		TEST(what_haproxy_counts_does_not_hide_the_prefill),
		TEST(both_expire_with_their_bucket),
		TEST(a_prefill_replica_that_is_gone_takes_its_slot_with_it),
		TEST(another_decode_replica_may_serve_in_the_end),
		TEST(both_hold_the_prompt_once_it_was_answered),
		TEST(neither_holds_it_if_it_was_not),
		TEST(the_time_to_the_first_byte_is_the_prefill_replicas),
		TEST(a_failure_is_the_decode_replicas),
		TEST(but_not_where_the_prefill_replica_is_out_of_service),
		TEST(a_prefill_that_never_comes_stalls_the_prefill_replica_only),
		TEST(a_prefill_replica_on_trial_gets_one_prompt_at_a_time),
		TEST(a_trial_without_an_answer_is_no_good_one),
		TEST(engines_are_told_who_computes),
		TEST(counts_are_0_in_the_end_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
