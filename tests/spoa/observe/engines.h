/* engines.h - engines of one instance, as peers that answer HTTP. */
#pragma once

#include "spoa/engines/profiles.h"
#include "spoa/web/fetch.h"
#include "tests/spoa/observe/peer.h"
#include "tests/spoa/observe/world.h"

enum { ENGINES = 2, PAGE_ROOM = 16384 };

struct engines_stage {
	struct ev_loop *loop;
	struct world world;
	struct fetch *fetch;
	struct engine_profiles *profiles;
	struct observe observe;
	struct peer peers[ENGINES];
	char pages[ENGINES][PAGE_ROOM];
	char addresses[ENGINES][ADDRESS_MAX_BYTES];
	uint32_t ids[ENGINES];
	unsigned said;
	unsigned requests_wanted;
};

static inline void engines_say(void *data, int level, const char *text)
{
	struct engines_stage *stage = data;

	(void)level;
	(void)text;
	stage->said++;
}

/* A whole HTTP answer; body NULL: none. */
static inline void engines_answer(struct engines_stage *stage, size_t engine, int status,
                                  const char *body)
{
	(void)snprintf(stage->pages[engine], PAGE_ROOM,
	               "HTTP/1.1 %d X\r\ncontent-length: %zu\r\n\r\n%s", status, strlen(body),
	               body);
	peer_say(&stage->peers[engine], stage->pages[engine]);
}

static inline void engines_list(struct engines_stage *stage, const bool *up)
{
	static const char *const names[] = { "s1", "s2" };
	struct server_fact servers[ENGINES];

	for (size_t i = 0; i < ENGINES; i++)
		servers[i] = (struct server_fact){ .backend = span_of("svc"),
			                           .server = span_of(names[i]),
			                           .address = span_of(stage->addresses[i]),
			                           .weight = 100,
			                           .up = up[i] };
	(void)fleet_apply(stage->world.facts->fleet, 0, servers, ENGINES, loop_now(), facts_forget,
	                  stage->world.facts);
	for (size_t i = 0; i < ENGINES; i++)
		stage->ids[i] = world_target(&stage->world, stage->addresses[i]);
}

static inline struct engine_profiles *engines_profiles(void)
{
	struct problems *problems = problems_new();
	struct engine_profiles *profiles = engine_profiles_load(NULL, problems);

	problems_free(problems);
	if (!profiles)
		abort();
	return profiles;
}

static inline void engines_open(struct engines_stage *stage)
{
	static const bool up[ENGINES] = { true, true };

	memset(stage, 0, sizeof(*stage));
	stage->loop = ev_loop_new(EVFLAG_AUTO);
	world_open(&stage->world);
	for (size_t i = 0; i < ENGINES; i++) {
		stage->peers[i] =
		        (struct peer){ .loop = stage->loop, .manners = PEER_KEEPS, .http = true };
		peer_start(&stage->peers[i]);
		engines_answer(stage, i, 200, "");
		(void)snprintf(stage->addresses[i], ADDRESS_MAX_BYTES, "127.0.0.1:%u",
		               stage->peers[i].port);
	}
	engines_list(stage, up);
	stage->fetch = fetch_new(stage->loop, 8);
	stage->profiles = engines_profiles();
	stage->observe = (struct observe){ .loop = stage->loop,
		                           .facts = stage->world.facts,
		                           .now = loop_now,
		                           .log = { engines_say, stage } };
}

static inline void engines_close(struct engines_stage *stage)
{
	fetch_free(stage->fetch);
	engine_profiles_free(stage->profiles);
	for (size_t i = 0; i < ENGINES; i++)
		peer_stop(&stage->peers[i]);
	ev_loop_destroy(stage->loop);
	world_close(&stage->world);
}

static inline bool engines_asked(void *data)
{
	struct engines_stage *stage = data;

	return stage->peers[0].requests >= stage->requests_wanted;
}

/* The first engine has been asked so often, and has answered. */
static inline void engines_wait(struct engines_stage *stage, unsigned requests)
{
	stage->requests_wanted = requests;
	if (!loop_until(stage->loop, engines_asked, stage, 10)) {
		(void)fprintf(stderr, "asked %u times\n", stage->peers[0].requests);
		abort();
	}
	loop_for(stage->loop, 0.02);
}
