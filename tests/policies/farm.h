/* farm.h - eight engines of eight seats behind the decider, in virtual time: requests
 * arrive by chance, wait for a seat, and what HAProxy and the engines' pages tell goes
 * back each time. */
#pragma once

#include <math.h>

#include "policies/feedback.h"
#include "tests/policies/world.h"

enum { FARM_ENGINES = 8, FARM_SEATS = 8, FARM_OPEN_MAX = 4096 };

struct farm_open {
	char id[32];
	usec_t first_at, end_at;
	size_t engine; /* number of its server in the world */
	bool confirmed;
};

struct farm {
	struct world *world; /* of eight servers */
	struct rng rng;
	double slowness[FARM_ENGINES];
	usec_t seats[FARM_ENGINES][FARM_SEATS]; /* taken until */
	usec_t page_at;
	struct farm_open open[FARM_OPEN_MAX];
	size_t open_count;
	uint32_t got[FARM_ENGINES]; /* requests */
};

static inline void farm_begin(struct farm *farm, size_t instances, const char *strategy,
                              uint64_t seed)
{
	*farm = (struct farm){ .world = world_new(instances, FARM_ENGINES / instances),
		               .rng = { seed } };
	for (size_t i = 0; i < FARM_ENGINES; i++)
		farm->slowness[i] = 1;
	world_strategy(farm->world, strategy);
	world_decider(farm->world, seed);
}

static inline uint32_t farm_running(const struct farm *farm, size_t engine)
{
	uint32_t running = 0;

	for (size_t i = 0; i < farm->open_count; i++)
		running += farm->open[i].engine == engine;
	return running;
}

/* Each second, as the scraper does it. */
static inline void farm_pages(struct farm *farm)
{
	struct world *world = farm->world;

	if (world->now < farm->page_at)
		return;
	farm->page_at = world->now + SECOND;
	for (size_t i = 0; i < FARM_ENGINES; i++) {
		double open = farm_running(farm, i), running = fmin(open, FARM_SEATS);

		engines_put(
		        world->facts->engines,
		        world_replica(world, world->names[i][0], world->names[i][1])->target->id,
		        &(struct engine_page){ .at = world->now,
		                               .running = running,
		                               .waiting = open - running,
		                               .kv_usage = running / FARM_SEATS });
	}
}

/* The first token comes 0.1 s after a seat is free and the last one after 1 to 3 s, where
 * nothing is slow. */
static inline void farm_arrive(struct farm *farm)
{
	struct world *world = farm->world;
	struct farm_open *open = &farm->open[farm->open_count++];
	struct decision decision = world_decide(world, world_ask(world));
	usec_t *seat;

	assert_true(decision.slot && decision.replica && farm->open_count < FARM_OPEN_MAX);
	*open = (struct farm_open){ 0 };
	memcpy(open->id, world->id, sizeof(open->id));
	while (strcmp(world->names[open->engine][2], decision.replica->target->label) != 0)
		open->engine++;
	seat = farm->seats[open->engine];
	for (size_t i = 1; i < FARM_SEATS; i++) {
		if (farm->seats[open->engine][i] < *seat)
			seat = &farm->seats[open->engine][i];
	}
	if (*seat < world->now)
		*seat = world->now;
	open->first_at = *seat + (usec_t)(1e5 * farm->slowness[open->engine]);
	*seat += (usec_t)((1 + 2 * rng_unit(&farm->rng)) * 1e6 * farm->slowness[open->engine]);
	open->end_at = *seat;
	farm->got[open->engine]++;
}

static inline void farm_answer(struct farm *farm, struct farm_open *open)
{
	char(*names)[64] = farm->world->names[open->engine];
	struct stream_end end = { .id = SPAN(open->id), .status = 200 };

	end.by = (struct served){ SPAN(names[0]), SPAN(names[1]), SPAN(names[2]), 0 };
	end.routed = end.applied = true;
	memcpy(end.termination, "----", 4);
	if (!open->confirmed) {
		open->confirmed = true;
		(void)feedback_first_byte(farm->world->facts,
		                          &(struct first_byte){ end.id, end.by, 200 },
		                          farm->world->now);
		return;
	}
	assert_int_equal(feedback_end(farm->world->facts, &end, farm->world->now).class, CLASS_OK);
	*open = farm->open[--farm->open_count];
}

/* Everything that happens until then, in order. */
static inline void farm_until(struct farm *farm, usec_t then)
{
	for (;;) {
		struct farm_open *next = NULL;
		usec_t at = then;

		for (size_t i = 0; i < farm->open_count; i++) {
			struct farm_open *open = &farm->open[i];
			usec_t due = open->confirmed ? open->end_at : open->first_at;

			if (due < at) {
				at = due;
				next = open;
			}
		}
		farm->world->now = at;
		if (!next)
			return;
		farm_answer(farm, next);
	}
}

/* One more request, after a pause by chance. All seats together serve 32 a second. */
static inline void farm_step(struct farm *farm, double rate)
{
	double pause = -log(1 - rng_unit(&farm->rng)) / rate;

	farm_until(farm, farm->world->now + (usec_t)(pause * 1e6) + 1);
	farm_pages(farm);
	farm_arrive(farm);
}
