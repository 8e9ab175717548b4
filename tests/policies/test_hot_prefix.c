/* test_hot_prefix.c - a prefix that everybody asks for buries nobody. Proves B010, P065, P066,
 * P067, R005, R006; docs/strategies.md. Engines are modelled: a closed loop in virtual time. */
#include "tests/policies/world.h"

enum { PARALLEL = 16 };

struct client {
	char id[32];
	usec_t first_byte_at, ends_at;
	const struct replica *replica;
	bool confirmed;
};

struct crowd {
	struct world *world;
	struct client clients[PARALLEL];
	struct rng rng;
	uint32_t got[WORLD_SERVERS_MAX + 64]; /* requests, by target id */
	uint32_t prefix_reasons;
};

/* 1 to 2 s each, and prefill at 8000 tokens a second. */
static void ask(struct crowd *crowd, struct client *client, struct request request)
{
	struct world *world = crowd->world;
	struct decision decision = world_decide(world, request);
	double uncached = (double)(request.prompt_bytes - decision.matched) / 4;

	assert_true(decision.slot && decision.replica);
	memcpy(client->id, world->id, sizeof(client->id));
	client->replica = decision.replica;
	client->confirmed = false;
	client->first_byte_at = world->now + (usec_t)(50000 + uncached / 8000 * 1e6);
	client->ends_at = client->first_byte_at + (usec_t)((1 + rng_unit(&crowd->rng)) * 1e6);
	crowd->got[decision.replica->target->id]++;
	crowd->prefix_reasons += decision.reason == REASON_PREFIX;
}

/* Until the next client is free. */
static struct client *wait(struct crowd *crowd)
{
	for (;;) {
		struct client *next = NULL;
		usec_t at = UINT64_MAX;

		for (size_t i = 0; i < PARALLEL; i++) {
			struct client *client = &crowd->clients[i];
			usec_t due = client->confirmed ? client->ends_at : client->first_byte_at;

			if (client->replica && due < at) {
				at = due;
				next = client;
			}
		}
		assert_non_null(next);
		crowd->world->now = at;
		if (next->confirmed) {
			world_end(crowd->world, SPAN(next->id));
			next->replica = NULL;
			return next;
		}
		world_first_byte(crowd->world, SPAN(next->id));
		next->confirmed = true;
	}
}

static struct client *free_client(struct crowd *crowd)
{
	for (size_t i = 0; i < PARALLEL; i++) {
		if (!crowd->clients[i].replica)
			return &crowd->clients[i];
	}
	return wait(crowd);
}

static void drain(struct crowd *crowd)
{
	for (size_t i = 0; i < PARALLEL; i++) {
		if (crowd->clients[i].replica)
			i = (wait(crowd), (size_t)-1);
	}
}

static void play(struct crowd *crowd, uint32_t requests, uint64_t bytes, uint64_t common)
{
	for (uint32_t i = 0; i < requests; i++) {
		struct client *client = free_client(crowd);
		struct request request =
		        world_ask_long(crowd->world, bytes, common, 1, 1000 + crowd->world->asked);

		ask(crowd, client, request);
	}
	drain(crowd);
}

static uint32_t most(const struct crowd *crowd, const struct target **ret_target)
{
	const struct instance *instance = world_instance(crowd->world, "a");
	uint32_t highest = 0;

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct target *target = instance->replicas[i].target;

		if (crowd->got[target->id] <= highest)
			continue;
		highest = crowd->got[target->id];
		if (ret_target)
			*ret_target = target;
	}
	return highest;
}

static struct crowd crowd;

static void begin(const char *strategy, uint64_t seed)
{
	crowd = (struct crowd){ .world = world_new(1, 4), .rng = { seed } };
	world_strategy(crowd.world, strategy);
	world_decider(crowd.world, seed);
}

static void a_hot_prefix_of_8_kb_stays_below_40_percent_by_work(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin("least-work", seed);
		play(&crowd, 400, 9000, 8192);
		assert_in_range(most(&crowd, NULL), 100, 160);
		world_free(crowd.world);
	}
}

/* Then the fullest is killed, and the rest goes on. */
static void a_hot_prefix_is_spread_where_holders_go_first(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct target *fullest = NULL;

		begin("soft-k-choice", seed);
		play(&crowd, 96, 9000, 8192);
		assert_in_range(most(&crowd, &fullest), 24, 40);
		for (size_t i = 0; i < 4; i++)
			crowd.world->servers[i].up =
			        strcmp(crowd.world->names[i][2], fullest->label) != 0;
		world_apply(crowd.world);
		memset(crowd.got, 0, sizeof(crowd.got));
		play(&crowd, 96, 9000, 8192);
		assert_in_range(most(&crowd, NULL), 32, 50);
		world_free(crowd.world);
	}
}

static void a_common_system_prompt_is_no_reason_to_herd(void **state)
{
	static const char *const strategies[] = { "least-work", "soft-k-choice" };

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		begin(strategies[s], 7);
		play(&crowd, 200, 20000, 2048);
		assert_true(most(&crowd, NULL) <= 62); /* max / mean 1.25 */
		assert_int_equal(crowd.prefix_reasons, 0);
		world_free(crowd.world);
	}
}

static void one_conversation_stays_where_it_is(void **state)
{
	static const char *const strategies[] = { "least-work", "soft-k-choice", "prefix-cache" };

	(void)state;
	for (size_t s = 0; s < 3; s++) {
		const struct replica *home = NULL;

		begin(strategies[s], 3);
		for (uint64_t turn = 1; turn <= 20; turn++) {
			struct request request =
			        world_ask_long(crowd.world, 12000 * turn, 12000 * turn, 5, 5);
			struct decision decision = world_decide(crowd.world, request);

			assert_true(!home || decision.replica == home);
			home = decision.replica;
			world_first_byte(crowd.world, request.id);
			crowd.world->now += SECOND;
			world_end(crowd.world, request.id);
		}
		world_free(crowd.world);
	}
}

static void a_miss_is_routed_by_load_whoever_holds_more(void **state)
{
	struct decision decision;

	(void)state;
	begin("least-work", 3);
	world_busy(crowd.world, "a", "s1", 10);
	world_busy(crowd.world, "a", "s3", 10);
	world_busy(crowd.world, "a", "s4", 10);
	for (uint64_t i = 0; i < 20; i++) { /* s2 holds a lot */
		struct request request = world_ask_long(crowd.world, 90000, 90000, i, i);

		decision = world_decide(crowd.world, request);
		expect_server(&decision, "s2");
		world_first_byte(crowd.world, request.id);
		world_end(crowd.world, request.id);
	}
	decision = world_decide(crowd.world, world_ask_long(crowd.world, 9000, 9000, 99, 99));
	expect_server(&decision, "s2");
	world_free(crowd.world);
}

static void a_long_prompt_in_flight_weighs_more_than_two_short_ones(void **state)
{
	struct decision first, decision;

	(void)state;
	begin("least-work", 3);
	for (size_t i = 2; i < 4; i++)
		crowd.world->servers[i].maintenance = true;
	world_apply(crowd.world);
	first = world_decide(crowd.world, world_ask_long(crowd.world, 102400, 0, 1, 1));
	for (uint64_t i = 2; i < 5; i++) {
		decision = world_decide(crowd.world, world_ask_long(crowd.world, 1000, 0, i, i));
		assert_ptr_not_equal(decision.replica, first.replica);
	}
	world_free(crowd.world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hot_prefix_of_8_kb_stays_below_40_percent_by_work),
		cmocka_unit_test(a_hot_prefix_is_spread_where_holders_go_first),
		cmocka_unit_test(a_common_system_prompt_is_no_reason_to_herd),
		cmocka_unit_test(one_conversation_stays_where_it_is),
		cmocka_unit_test(a_miss_is_routed_by_load_whoever_holds_more),
		cmocka_unit_test(a_long_prompt_in_flight_weighs_more_than_two_short_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
