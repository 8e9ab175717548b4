/* failing.h - four replicas of instance a, and what becomes of requests there. */
#pragma once

#include "policies/ejection.h"
#include "tests/policies/world.h"

static struct world *world;

static inline int open_four(void **state)
{
	(void)state;
	world = world_new(1, 4);
	return world ? 0 : -1;
}

static inline int close_four(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static inline uint32_t id_of(const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

static inline struct target_counters *counted(const char *server)
{
	return &world->facts->counters->of[id_of(server)];
}

static inline uint64_t refused(void)
{
	return world->facts->counters->of[world_instance(world, "a")->target->id].ejections_refused;
}

static inline enum health_state state_of(const char *server)
{
	return health_state(world->facts->health, id_of(server), world->now);
}

static inline void expect(const char *server, enum health_state state)
{
	if (state_of(server) != state)
		fail_msg("%s is %s, not %s", server, health_state_names[state_of(server)],
		         health_state_names[state]);
}

/* Seconds since the world began. */
static inline void at(double seconds)
{
	world->now = 1000 * SECOND + (usec_t)(seconds * 1e6);
}

static inline void note(const char *server, struct report report)
{
	report.target = id_of(server);
	ejection_note(world->facts, &report, world->now);
}

/* So many different prompts of one tenant. */
static inline void fails(const char *server, int times)
{
	static uint64_t prompt = 1000;

	for (int i = 0; i < times; i++)
		note(server,
		     (struct report){ .class = CLASS_FAILURE, .prompt = ++prompt, .tenant = 1 });
}

static inline void is_ok(const char *server)
{
	note(server, (struct report){ .class = CLASS_OK });
}

static inline void probed(const char *server, bool good)
{
	ejection_probed(world->facts, id_of(server), good, world->now);
}

/* Ejected at 4 until 14, half-open at 14. */
static inline void eject_s1(void)
{
	for (int i = 0; i < 5; i++) {
		at(i);
		expect("s1", HEALTH_UP);
		fails("s1", 1);
	}
	expect("s1", HEALTH_EJECTED);
}

static inline void open_half(void)
{
	eject_s1();
	at(9);
	probed("s1", true);
	expect("s1", HEALTH_EJECTED);
	at(14);
	probed("s1", true);
	expect("s1", HEALTH_HALF_OPEN);
}

/* One request to s1 while it is on trial: the slot's number. */
static inline uint32_t try_s1(void)
{
	return health_trial_begin(world->facts->health, id_of("s1"), world->now);
}

static inline void on_trial(enum outcome_class class)
{
	static uint64_t prompt = 500;
	uint32_t trial = try_s1();

	assert_true(trial > 0);
	health_trial_over(world->facts->health, id_of("s1"), trial, true);
	note("s1", (struct report){ .class = class, .trial = trial, .prompt = ++prompt });
}

static inline bool takes(const char *server)
{
	return health_takes(world->facts->health, id_of(server), world->now);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_four, close_four)
