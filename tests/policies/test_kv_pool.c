/* test_kv_pool.c - where the engines of an instance share a store of KV blocks, a hit is the
 * instance's, outlives the replica that computed it, and is worth 0.6 to who does not hold it
 * itself. Proves R003. */
#include "policies/stages/kv_pool.h"
#include "tests/policies/sent.h"

static void share(struct world *world)
{
	world->policy.default_instance.kv_pool = KV_SHARED;
}

/* One good answer to the prompt of this conversation; who computed it. */
static struct sent computed(struct world *world, uint64_t conversation)
{
	struct sent sent = sent_prompt(world, conversation);

	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	return sent;
}

/* Level 2's candidates of the same prompt, asked dryly. */
static struct decision looked_at(struct world *world, uint64_t conversation)
{
	struct request request = world_ask_long(world, LONG, LONG, conversation, 0);
	struct decision decision;

	request.backend = SPAN("a");
	decider_explain(world->decider, &request, world->now, &decision);
	return decision;
}

static const struct candidate *candidate_of(const struct level_trace *trace, uint32_t target)
{
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->pool[i].target->id == target)
			return &trace->pool[i];
	}
	fail();
	return &trace->pool[0];
}

static void replace(struct world *world, uint32_t target)
{
	const char *names[] = { "s1", "s2", "s3" };

	for (size_t i = 0; i < 3; i++) {
		if (world_replica(world, "a", names[i])->target->id != target)
			continue;
		world_server(world, "a", names[i])->address = SPAN("10.9.9.9:8000");
		world_apply(world);
		return;
	}
	fail();
}

static void the_store_is_worth_six_tenths_to_who_lacks_the_blocks(void **state)
{
	struct world *world = *state;
	struct sent sent;
	struct decision decision;
	const struct candidate *holder, *other;

	share(world);
	sent = computed(world, 1);
	assert_int_equal(held_by(world, sent.chosen), 12);
	assert_int_equal(held_by(world, sent.instance), 12);
	decision = looked_at(world, 1);
	holder = candidate_of(&decision.levels[1], sent.chosen);
	other = candidate_of(&decision.levels[1], sent.other);
	assert_near(holder->effective, 36864);
	assert_near(holder->uncached_tokens, 784);
	assert_near(other->effective, 22118.4);
	assert_near(other->uncached_tokens, (40000 - 22118.4) / 4);
	assert_true(holder->hit && other->hit);
	assert_int_equal(other->matched, 0); /* limits relax by what it holds itself */
}

static void a_hit_outlives_the_replica_that_computed_it(void **state)
{
	struct world *world = *state;
	struct sent sent;
	struct decision decision;

	share(world);
	sent = computed(world, 1);
	replace(world, sent.chosen);
	decision = looked_at(world, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_near(decision.levels[1].pool[i].effective, 22118.4);
		assert_near(decision.levels[1].pool[i].uncached_tokens, 4470.4);
	}
	/* Level 1 sees it, too: the whole of it. */
	decision = world_decide(world, world_ask_long(world, LONG, LONG, 1, 0));
	assert_string_equal(decision.instance->name, "a");
	assert_int_equal(candidate_of(&decision.levels[0], sent.instance)->matched, 36864);
}

static void without_a_store_it_goes_with_the_replica(void **state)
{
	struct world *world = *state;
	struct sent sent = computed(world, 1);
	struct decision decision = looked_at(world, 1);

	assert_int_equal(held_by(world, sent.instance), 0);
	assert_near(candidate_of(&decision.levels[1], sent.other)->uncached_tokens, 10000);
	assert_near(candidate_of(&decision.levels[1], sent.other)->effective, 0);
	replace(world, sent.chosen);
	decision = looked_at(world, 1);
	for (size_t i = 0; i < 3; i++)
		assert_near(decision.levels[1].pool[i].uncached_tokens, 10000);
}

/* Each block is discounted by how many hold it themselves, in the engine or not. */
static void a_holder_is_never_worth_less_than_one_who_would_fetch(void **state)
{
	struct world *world = *state;
	struct sent sent;
	struct stream_end end;
	struct decision decision;

	share(world);
	(void)computed(world, 1);
	sent = sent_prompt(world, 1);
	(void)first_byte(&sent, &sent.by_other, 200);
	end = end_of(&sent, "----", 200);
	end.by = sent.by_other;
	(void)tell(&sent, &end);
	decision = looked_at(world, 1);
	for (size_t i = 0; i < 3; i++) {
		const struct candidate *candidate = &decision.levels[1].pool[i];

		assert_near(candidate->effective, candidate->blocks > 0 ? 18432 : 11059.2);
	}
}

static void what_never_came_is_not_in_the_store(void **state)
{
	struct world *world = *state;
	struct sent sent;

	share(world);
	sent = sent_prompt(world, 1);
	assert_int_equal(held_by(world, sent.instance), 12); /* a burst follows its first */
	(void)ends(&sent, "SH--", 502);
	assert_int_equal(held_by(world, sent.instance), 0);
	assert_int_equal(held_by(world, sent.chosen), 0);
	/* Served elsewhere: the one chosen does not have it, the store does. */
	sent = sent_prompt(world, 2);
	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(held_by(world, sent.other), 12);
	assert_int_equal(held_by(world, sent.instance), 12);
}

static void a_replica_that_breaks_leaves_the_store_alone(void **state)
{
	struct world *world = *state;
	struct sent sent;

	share(world);
	(void)computed(world, 1);
	sent = sent_prompt(world, 1);
	(void)ends(&sent, "----", 500);
	assert_int_equal(held_by(world, sent.instance), 12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_store_is_worth_six_tenths_to_who_lacks_the_blocks),
		TEST(a_hit_outlives_the_replica_that_computed_it),
		TEST(without_a_store_it_goes_with_the_replica),
		TEST(a_holder_is_never_worth_less_than_one_who_would_fetch),
		TEST(what_never_came_is_not_in_the_store),
		TEST(a_replica_that_breaks_leaves_the_store_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
