/* test_lora.c - llm-d's scale: there, a free slot, waiting, full. Proves B064. */
#include "policies/signals/signals.h"
#include "policies/state/lora_look.h"
#include "tests/near.h"
#include "tests/policies/world.h"

static const usec_t stale = 3 * SECOND;
static uint64_t sql, tone, legal;

static int begin(void **state)
{
	*state = world_new(1, 1);
	sql = lora_id(SPAN("sql"));
	tone = lora_id(SPAN("tone"));
	legal = lora_id(SPAN("legal"));
	return 0;
}

static int end(void **state)
{
	world_free(*state);
	return 0;
}

static uint32_t target(const struct world *world)
{
	return world_replica(world, "a", "s1")->target->id;
}

static double scale(const struct world *world, uint64_t lora)
{
	return lora_scale(world->facts, target(world), lora, world->now);
}

/* As vLLM says it: slots, who has requests running, who has requests waiting. */
static void says(struct world *world, double slots, const uint64_t *active, uint32_t actives,
                 const uint64_t *waiting, uint32_t waits)
{
	struct engine_page page = engine_page_blank(world->now);
	struct engine_loras loras = { .at = world->now,
		                      .active_count = actives,
		                      .waiting_count = waits };

	page.lora_slots = slots;
	page.lora_used = actives;
	if (actives > 0)
		memcpy(loras.active, active, actives * sizeof(*active));
	if (waits > 0)
		memcpy(loras.waiting, waiting, waits * sizeof(*waiting));
	engines_put(world->facts->engines, target(world), &page);
	engines_put_loras(world->facts->engines, target(world), &loras);
}

static void the_four_steps(void **state)
{
	struct world *world = *state;
	uint64_t active[] = { sql, tone }, waiting[] = { legal };

	says(world, 2, active, 2, waiting, 1);
	assert_near(scale(world, sql), 1);
	assert_near(scale(world, legal), 0.6);
	assert_near(scale(world, lora_id(SPAN("other"))), 0);
	says(world, 4, active, 2, waiting, 1);
	assert_near(scale(world, tone), 1);
	assert_near(scale(world, legal), 0.8);
	assert_near(scale(world, lora_id(SPAN("other"))), 0.8);
}

/* The slot that a waiting one will have is not free; one that waits and runs has one already. */
static void who_waits_will_have_a_slot(void **state)
{
	struct world *world = *state;
	uint64_t active[] = { sql, tone }, waiting[] = { legal, sql };

	says(world, 3, active, 2, waiting, 2);
	assert_near(scale(world, legal), 0.6);
	assert_near(scale(world, lora_id(SPAN("other"))), 0);
	says(world, 4, active, 2, waiting, 2);
	assert_near(scale(world, lora_id(SPAN("other"))), 0.8);
}

static void an_engine_that_names_none_has_slots_all_the_same(void **state)
{
	struct world *world = *state;
	struct engine_page page = engine_page_blank(world->now);

	page.lora_slots = 8;
	page.lora_used = 7;
	engines_put(world->facts->engines, target(world), &page);
	assert_near(scale(world, sql), 0.8);
	page.lora_used = 8;
	engines_put(world->facts->engines, target(world), &page);
	assert_near(scale(world, sql), 0);
	adapters_sent(world->facts->adapters, target(world), sql, world->now);
	assert_near(scale(world, sql), 1);
}

/* vLLM names who has requests; who was sent there last lies there still. */
static void what_we_sent_lately_is_there(void **state)
{
	struct world *world = *state;
	uint64_t active[] = { tone };

	assert_near(scale(world, sql), 0.8);
	adapters_sent(world->facts->adapters, target(world), sql, world->now);
	assert_near(scale(world, sql), 1);
	says(world, 2, active, 1, NULL, 0);
	assert_near(scale(world, sql), 1);
	/* Two others since: its slot has gone to one of them. */
	world->now += SECOND;
	adapters_sent(world->facts->adapters, target(world), tone, world->now);
	says(world, 2, active, 1, NULL, 0);
	assert_near(scale(world, sql), 1);
	adapters_sent(world->facts->adapters, target(world), legal, world->now);
	assert_near(scale(world, sql), 0.8);
	says(world, 1, active, 1, NULL, 0);
	assert_near(scale(world, sql), 0);
	/* After five minutes nothing is believed. */
	world->now += 300 * SECOND;
	assert_near(scale(world, legal), 1);
	world->now += 1;
	assert_near(scale(world, legal), 0.8);
}

static enum lora_room room(const struct world *world, uint64_t lora)
{
	return lora_room(world->facts, target(world), lora, world->now);
}

/* Of the slots, in use: by the page, or by what went there within a minute. */
static void there_is_room_where_nobody_in_use_has_to_go(void **state)
{
	struct world *world = *state;
	uint64_t active[] = { tone };

	adapters_sent(world->facts->adapters, target(world), tone, world->now);
	adapters_sent(world->facts->adapters, target(world), legal, world->now);
	assert_int_equal(room(world, sql), LORA_ROOM); /* nobody says how many slots there are */
	assert_int_equal(room(world, tone), LORA_THERE);
	says(world, 3, active, 1, NULL, 0);
	assert_int_equal(room(world, sql), LORA_ROOM);
	says(world, 2, active, 1, NULL, 0);
	assert_int_equal(room(world, sql), LORA_CROWDED);
	assert_near(scale(world, sql), 0.8);
	says(world, 1, active, 1, NULL, 0);
	assert_int_equal(room(world, sql), LORA_CROWDED);
	world->now += 60 * SECOND + 1;
	says(world, 2, active, 1, NULL, 0);
	assert_int_equal(room(world, sql), LORA_ROOM);
}

static void an_old_page_says_nothing(void **state)
{
	struct world *world = *state;
	uint64_t active[] = { sql };

	says(world, 1, active, 1, NULL, 0);
	world->now += stale;
	assert_near(scale(world, sql), 1);
	assert_near(scale(world, tone), 0);
	world->now += 1;
	assert_near(scale(world, sql), 0.8);
	assert_near(scale(world, tone), 0.8);
}

static void without_an_adapter_there_is_no_score(void **state)
{
	struct world *world = *state;
	struct candidate candidate = { .target = world_replica(world, "a", "s1")->target };
	struct walk walk = { .facts = world->facts, .now = world->now };
	double value = -77;

	assert_false(signal_lora.read(&walk, &candidate, &value));
	assert_true(value == -77);
	walk.adapter.id = sql;
	assert_true(signal_lora.read(&walk, &candidate, &value));
	assert_near(value, 0.8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_four_steps),
		TEST(who_waits_will_have_a_slot),
		TEST(an_engine_that_names_none_has_slots_all_the_same),
		TEST(what_we_sent_lately_is_there),
		TEST(there_is_room_where_nobody_in_use_has_to_go),
		TEST(an_old_page_says_nothing),
		TEST(without_an_adapter_there_is_no_score),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
