/* admin_world.h - a fixed fleet and fixed numbers behind every page. */
#pragma once

#include "policies/page.h"
#include "tests/policies/world.h"

#include "policies/stages/stage.h"
#include "spoa/admin/sources.h"

static const int64_t wall_ms = 1764460800123; /* 2025-11-30T00:00:00.123Z */

static inline const char *name_of_stage(const struct stage *stage)
{
	return stage->name;
}

static inline void fill_agent(void *data, struct agent_counters *ret_counters)
{
	(void)data;
	ret_counters->version = "1.2.3";
	ret_counters->commit = "abc1234";
	ret_counters->libraries = "libev 4.33";
	ret_counters->started_ms = wall_ms - 3600500;
	ret_counters->ready = true;
	ret_counters->policy_path = "/etc/inference-spoa/policy.json";
	ret_counters->policy_hash = 0x1f;
	ret_counters->reloads_ok = 2;
	ret_counters->reloads_refused = 1;
	ret_counters->reloaded_ms = wall_ms - 60000;
	ret_counters->alarms[AGENT_ALARM_POLICY] = true;
	histogram_add(&ret_counters->loop_lag, &bounds_loop_lag, 0.003);
	ret_counters->spop_connections = 4;
	ret_counters->spop_accepted = 6;
	ret_counters->spop_checks = 100;
	ret_counters->spop_frames[AGENT_FRAME_NOTIFY] = 12;
	ret_counters->spop_errors[4] = 1;
	ret_counters->log_bad = 3;
	ret_counters->haproxy_count = 2;
	ret_counters->haproxy[0] = (struct agent_haproxy){ .name = "/run/haproxy.sock",
		                                           .version = "2.6.12",
		                                           .up = true,
		                                           .pid = 77,
		                                           .reloads = 1,
		                                           .dropped_logs = 9,
		                                           .age_ms = 250 };
	ret_counters->haproxy[1] = (struct agent_haproxy){ .name = "odd\"na\\me\n", .age_ms = -1 };
	ret_counters->scrapes[AGENT_SCRAPE_OK] = 40;
}

/* Two pages of one engine, a second apart, and what its answers taught. */
static inline void admin_learn(struct world *world, uint32_t target)
{
	const struct instance *instance = world_instance(world, "a");
	struct engine_page page = engine_page_blank(world->now - SECOND * 3 / 2);

	page.running = 4;
	page.waiting = 1;
	page.kv_usage = 0.4;
	page.prompt_tokens = page.generation_tokens = page.finished = 0;
	page.token_seconds = page.token_gaps = 0;
	page.cache_queries = page.cache_hits = 0;
	(void)page_read(world->facts, target, &page);
	page.at = world->now - SECOND / 2;
	page.cache_queries = page.prompt_tokens = 4000;
	page.cache_hits = 1000;
	page.generation_tokens = 1200;
	page.finished = 4;
	page.token_seconds = 24;
	page.token_gaps = 1200;
	(void)page_read(world->facts, target, &page);
	engines_put_kind(world->facts->engines, target, "vllm");
	answers_sent(world->facts->answers, instance->target->id, 12000, world->now);
	for (int i = 0; i < 8; i++)
		(void)ttft_fit_add(world->facts->ttft_fits, instance, target, 1000 * i,
		                   0.1 + 0.25 * i);
	world->facts->counters->of[target].ttft_predictions = 8;
	world->facts->counters->of[target].ttft_error = 1;
}

/* Two instances of two replicas; traffic at the first, an engine page at a/s1. */
static inline struct world *admin_world(void)
{
	struct world *world = world_new(2, 2);
	struct facts *facts = world->facts;
	uint32_t instance = world_instance(world, "a")->target->id;
	uint32_t s1 = world_replica(world, "a", "s1")->target->id;
	struct target_counters *of = facts->counters->of;
	const struct span models[] = { SPAN("llama70b"), SPAN("base") };

	world->servers[1].up = false;
	world->servers[2].draining = true;
	world->servers[0].max_running = 20;
	world_apply(world);
	(void)fleet_models(facts->fleet, s1, models, NULL, 2);
	(void)ledger_acquire(facts->ledger, s1, 300, 1300, world->now);
	(void)ledger_acquire(facts->ledger, instance, 300, 1300, world->now);
	world_busy(world, "a", "s1", 2);
	facts->counters->decisions = 9;
	facts->counters->rejected[REASON_OVERLOAD] = 2;
	facts->counters->unanswered[REASON_NO_CANDIDATE] = 1;
	facts->counters->dropped[1][0] = 5;
	facts->counters->ends = 8;
	facts->counters->ends_unknown = 1;
	facts->counters->ends_duplicate = 2;
	facts->counters->first_bytes = 5;
	histogram_add(&facts->counters->decision_seconds, &bounds_decision, 3e-6);
	of[instance].decisions[REASON_PREFIX] = 4;
	of[instance].decisions[REASON_LOAD] = 5;
	of[instance].terminations[TERM_COMPLETE] = 4;
	of[instance].prefix_hits = 4;
	of[instance].prefix_none = 5;
	of[instance].predicted_tokens = 2048;
	of[s1].responses[2] = 4;
	of[s1].responses[5] = 1;
	of[s1].pin_overridden[PIN_REDISPATCH] = 1;
	of[s1].released[RELEASED_LOG] = 5;
	histogram_add(&of[s1].ttft, &bounds_ttft, 0.2);
	histogram_add(&of[s1].e2e, &bounds_e2e, 4);
	average_add(&averages_of(facts->averages, s1)->ttft_ms, 250, 60 * SECOND, world->now);
	admin_learn(world, s1);
	engines_put_queue(facts->engines, s1, 2, world->now);
	return world;
}

static inline struct sources sources_of(struct world *world)
{
	struct sources sources = { .facts = world->facts,
		                   .process = { .cpu_seconds = 1.5,
		                                .resident_bytes = 8 << 20,
		                                .virtual_bytes = 64 << 20,
		                                .open_fds = 17,
		                                .max_fds = 1024 },
		                   .stages = { pipeline_stage, name_of_stage },
		                   .now = world->now,
		                   .wall_ms = wall_ms };

	fill_agent(NULL, &sources.agent);
	return sources;
}
