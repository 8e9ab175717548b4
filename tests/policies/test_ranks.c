/* test_ranks.c - an engine of several data-parallel ranks: each is chosen, counted and cached for
 * by itself, though HAProxy knows one server. Proves B066. */
#include "tests/policies/paired.h"

enum { PROMPT = 40000 };

/* s1 has four ranks, s2 two, s3 none. */
static int open_ranks(void **state)
{
	struct paired *paired = paired_new("c c c");

	paired->replicas[0].ranks = 4;
	paired->replicas[1].ranks = 2;
	paired->world->servers[0].weight = 100;
	paired->world->servers[0].max_running = 30;
	paired_strategy(paired, "least-request");
	paired_apply(paired);
	world_apply(paired->world);
	*state = paired;
	return 0;
}

static int close_ranks(void **state)
{
	paired_free(*state);
	return 0;
}

static const struct replica *rank(struct paired *paired, const char *label)
{
	struct world *world = paired->world;
	const struct target *target = fleet_target_at(world->facts->fleet, SPAN(label));

	return target ? fleet_replica_of_target(world->facts->fleet, world_instance(world, "a"),
	                                        target->id)
	              : NULL;
}

static uint32_t running(struct paired *paired, const char *label)
{
	return running_at(paired->world, rank(paired, label)->target->id);
}

/* Only these stand. */
static void leave(struct paired *paired, const char *server)
{
	for (size_t i = 0; i < paired->world->count; i++)
		paired->world->servers[i].draining =
		        strcmp(paired->world->names[i][1], server) != 0;
	world_apply(paired->world);
}

static void a_server_is_as_many_replicas_as_it_has_ranks(void **state)
{
	struct paired *paired = *state;
	const struct fleet *fleet = paired->world->facts->fleet;
	const struct instance *a = world_instance(paired->world, "a");
	const struct replica *third = rank(paired, "10.0.0.1:8000#2");

	assert_int_equal(a->replica_count, 4 + 2 + 1);
	assert_non_null(third);
	assert_int_equal(third->target->rank, 2);
	assert_int_equal(third->target->ranks, 4);
	assert_string_equal(fleet_replica_name(third, 0), "s1");
	assert_true(third->weight == 25);
	assert_int_equal(third->max_running, 8); /* 30 / 4, and nobody gets none */
	assert_int_equal(target_address(third->target).len, strlen("10.0.0.1:8000"));
	assert_ptr_equal(rank(paired, "10.0.0.1:8000"), rank(paired, "10.0.0.1:8000#0"));
	assert_ptr_equal(fleet_replica_named(fleet, a, 0, SPAN("s1")),
	                 rank(paired, "10.0.0.1:8000#0"));
	assert_ptr_equal(fleet_replica_rank(fleet, a, third, 1), rank(paired, "10.0.0.1:8000#1"));
	assert_ptr_equal(fleet_replica_rank(fleet, a, third, 2), third);
	assert_null(fleet_replica_rank(fleet, a, third, 4));
	assert_int_equal(rank(paired, "10.0.0.3:8000")->target->ranks, 0);
	assert_null(fleet_target_at(fleet, SPAN("10.0.0.3:8000#0")));
}

static void each_rank_is_chosen_by_its_own_load(void **state)
{
	struct paired *paired = *state;
	uint32_t got[4] = { 0 };

	leave(paired, "s1");
	world_busy(paired->world, "a", "s1", 10); /* its first rank */
	for (int i = 0; i < 30; i++) {
		struct request request = world_ask(paired->world);
		struct decision decision;

		request.backend = SPAN("a");
		decision = world_decide(paired->world, request);
		assert_string_equal(server_of(&decision), "s1");
		got[decision.replica->target->rank]++;
	}
	assert_int_equal(got[0], 0);
	for (int i = 1; i < 4; i++)
		assert_int_equal(got[i], 10);
}

static void a_prompt_goes_to_the_rank_that_has_it(void **state)
{
	struct paired *paired = *state;
	struct sent first, other, again;

	paired_strategy(paired, "least-work");
	paired_apply(paired);
	first = sent_prompt(paired->world, 1);
	other = sent_prompt(paired->world, 2);
	(void)first_byte(&first, &first.by, 200);
	assert_int_not_equal(first.chosen, other.chosen);
	(void)ends(&first, "----", 200);
	(void)ends(&other, "----", 200);
	again = sent_prompt(paired->world, 1);
	assert_int_equal(again.chosen, first.chosen);
	assert_true(held_by(paired->world, first.chosen) > 0);
}

static void the_slot_stays_at_the_rank_that_was_told(void **state)
{
	struct paired *paired = *state;
	struct sent sent[4];

	leave(paired, "s1");
	for (size_t i = 0; i < 4; i++)
		sent[i] = sent_prompt(paired->world, i);
	for (size_t i = 0; i < 4; i++) {
		struct feedback feedback = first_byte(&sent[i], &sent[i].by, 200);

		assert_int_equal(feedback.target, sent[i].chosen);
		assert_false(feedback.moved);
		assert_int_equal(running_at(paired->world, sent[i].chosen), 1);
	}
	for (size_t i = 4; i-- > 0;) {
		assert_false(ends(&sent[i], "----", 200).moved);
		assert_int_equal(running_at(paired->world, sent[i].chosen), 0);
		assert_int_equal(counted(&sent[i], sent[i].chosen)->released[RELEASED_LOG], 1);
	}
	assert_idle(paired->world);
}

static uint32_t rank_of(const struct sent *sent)
{
	return fleet_target(sent->world->facts->fleet, sent->chosen)->rank;
}

/* The header goes along to whatever server HAProxy tries next; what that has no rank of is
 * anybody's guess. */
static void another_server_is_told_the_same_rank(void **state)
{
	static const char *const served[] = { "10.0.0.2:8000#0", "10.0.0.2:8000#1" };
	struct paired *paired = *state;
	struct served by = { .backend = SPAN("a"),
		             .server = SPAN("s2"),
		             .address = SPAN("10.0.0.2:8000") };
	bool seen[4] = { false };

	leave(paired, "s1");
	for (uint64_t i = 0; i < 4; i++) {
		struct sent sent = sent_prompt(paired->world, i);
		uint32_t told = rank_of(&sent), target;

		seen[told] = true;
		target = first_byte(&sent, &by, 200).target;
		if (told < 2)
			assert_int_equal(target, rank(paired, served[told])->target->id);
		assert_int_equal(running_at(paired->world, target), 1);
		sent.by = by;
		assert_true(ends(&sent, "----", 200).moved);
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(seen[i]);
	assert_idle(paired->world);
}

/* HAProxy chose the server, and the engine the rank: we take it for the idlest. */
static void of_who_was_told_no_rank_the_idlest_is_charged(void **state)
{
	struct paired *paired = *state;
	struct sent sent = { .world = paired->world,
		             .id = SPAN("not of ours"),
		             .by = { .backend = SPAN("a"),
		                     .server = SPAN("s1"),
		                     .address = SPAN("10.0.0.1:8000") } };
	struct slot held[2];

	held[0] = ledger_acquire(paired->world->facts->ledger,
	                         rank(paired, "10.0.0.1:8000#0")->target->id, 1, 1,
	                         paired->world->now);
	held[1] = ledger_acquire(paired->world->facts->ledger,
	                         rank(paired, "10.0.0.1:8000#1")->target->id, 1, 1,
	                         paired->world->now);
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(running(paired, "10.0.0.1:8000#2"), 1);
	for (size_t i = 0; i < 2; i++)
		assert_true(
		        ledger_release(paired->world->facts->ledger, held[i], paired->world->now));
	assert_int_equal(ends(&sent, "----", 200).target,
	                 rank(paired, "10.0.0.1:8000#2")->target->id);
	assert_idle(paired->world);
}

static void a_policy_with_other_ranks_holds_from_the_next_look_on(void **state)
{
	struct paired *paired = *state;
	uint32_t first = rank(paired, "10.0.0.1:8000#0")->target->id;

	paired->replicas[0].ranks = 2;
	paired_apply(paired);
	world_apply(paired->world);
	assert_int_equal(world_instance(paired->world, "a")->replica_count, 2 + 2 + 1);
	assert_int_equal(rank(paired, "10.0.0.1:8000#0")->target->id, first);
	assert_true(rank(paired, "10.0.0.1:8000#1")->weight == 50);
	assert_null(rank(paired, "10.0.0.1:8000#2"));
	paired->replicas[0].ranks = 0;
	paired_apply(paired);
	assert_int_equal(rank(paired, "10.0.0.1:8000#0")->target->ranks, 0); /* told no more */
	world_apply(paired->world);
	assert_int_equal(world_instance(paired->world, "a")->replica_count, 1 + 2 + 1);
	assert_string_equal(rank(paired, "10.0.0.1:8000")->target->label, "10.0.0.1:8000");
	assert_true(rank(paired, "10.0.0.1:8000")->weight == 100);
}

static void a_trusted_client_excludes_the_server_with_all_its_ranks(void **state)
{
	struct paired *paired = *state;

	for (int i = 0; i < 20; i++) {
		struct request request = world_ask(paired->world);
		struct decision decision;

		request.backend = SPAN("a");
		request.exclude = SPAN("10.0.0.1:8000, s3");
		decision = world_decide(paired->world, request);
		assert_string_equal(server_of(&decision), "s2");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_server_is_as_many_replicas_as_it_has_ranks,
		                                open_ranks, close_ranks),
		cmocka_unit_test_setup_teardown(each_rank_is_chosen_by_its_own_load, open_ranks,
		                                close_ranks),
		cmocka_unit_test_setup_teardown(a_prompt_goes_to_the_rank_that_has_it, open_ranks,
		                                close_ranks),
		cmocka_unit_test_setup_teardown(the_slot_stays_at_the_rank_that_was_told,
		                                open_ranks, close_ranks),
		cmocka_unit_test_setup_teardown(another_server_is_told_the_same_rank, open_ranks,
		                                close_ranks),
		cmocka_unit_test_setup_teardown(of_who_was_told_no_rank_the_idlest_is_charged,
		                                open_ranks, close_ranks),
		cmocka_unit_test_setup_teardown(
		        a_policy_with_other_ranks_holds_from_the_next_look_on, open_ranks,
		        close_ranks),
		cmocka_unit_test_setup_teardown(
		        a_trusted_client_excludes_the_server_with_all_its_ranks, open_ranks,
		        close_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
