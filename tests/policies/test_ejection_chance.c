/* test_ejection_chance.c - whatever happens in whatever order, half of a pool stays in service,
 * and who is out comes back. Proves R065, R068, B008, P079. */
#include "tests/policies/failing.h"

static uint64_t below(struct rng *rng, uint64_t limit)
{
	return (uint64_t)(rng_unit(rng) * (double)limit);
}

static const char *any_server(struct rng *rng)
{
	static const char *const names[] = { "s1", "s2", "s3", "s4" };

	return names[below(rng, COUNT(names))];
}

static void something_happens(struct rng *rng)
{
	const char *server = any_server(rng);
	struct health *health = world->facts->health;
	uint32_t trial = 0;

	world->now += below(rng, 3 * SECOND);
	if (takes(server))
		trial = health_trial_begin(health, id_of(server), world->now);
	switch (below(rng, 4)) {
	case 0:
		probed(server, below(rng, 4) > 0);
		break;
	case 1:
		ejection_look(world->facts, world->now);
		break;
	default:
		note(server, (struct report){ .class = (enum outcome_class)below(rng, 6),
		                              .connect = below(rng, 2),
		                              .retried = below(rng, 2),
		                              .prompt = below(rng, 50),
		                              .tenant = below(rng, 3),
		                              .trial = trial });
	}
	health_trial_over(health, id_of(server), trial, true);
}

static uint32_t out_of_service(bool *ret_all_up)
{
	static const char *const names[] = { "s1", "s2", "s3", "s4" };
	uint32_t out = 0;

	*ret_all_up = true;
	for (size_t i = 0; i < COUNT(names); i++) {
		enum health_state state = state_of(names[i]);

		out += state == HEALTH_EJECTED || state == HEALTH_HALF_OPEN;
		*ret_all_up = *ret_all_up && state <= HEALTH_RAMP;
		if (state == HEALTH_EJECTED || state == HEALTH_STALLED)
			assert_false(takes(names[i]));
	}
	return out;
}

static void half_of_the_pool_stays_in_service(void **state)
{
	struct rng rng = { 11 };
	uint32_t most = 0;
	bool all_up;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t out;

		something_happens(&rng);
		out = out_of_service(&all_up);
		assert_true(out <= 2);
		/* The short way says the same, a second after the last connect error. */
		assert_int_equal(health_any_out(world->facts->health, world->now + 2 * SECOND),
		                 !all_up);
		most = out > most ? out : most;
	}
	assert_int_equal(most, 2);
	for (int i = 0; i < 8; i++) {
		world->now += 300 * SECOND;
		for (int k = 0; k < 4; k++) {
			const char *server = (const char *[]){ "s1", "s2", "s3", "s4" }[k];
			uint32_t trial;

			probed(server, true);
			trial = health_trial_begin(world->facts->health, id_of(server), world->now);
			note(server, (struct report){ .class = CLASS_OK, .trial = trial });
			health_trial_over(world->facts->health, id_of(server), trial, true);
		}
	}
	assert_int_equal(out_of_service(&all_up), 0);
	assert_true(all_up);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(half_of_the_pool_stays_in_service) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
