/* test_show.c - what the agent's objects look like in a terminal. Proves R091. */
#include "tests/spoa/admin/admin_world.h"

#include "spoa/admin/models.h"
#include "spoa/admin/show.h"
#include "spoa/admin/state.h"
#include "spoa/admin/table.h"
#include "tests/spoa/admin/printed.h"
#include "tests/spoa/golden.h"

/* Takes the object. */
static void shows(const char *golden, json_t *object, void (*show)(const json_t *, FILE *))
{
	char *text = printed_by(show, object);

	golden_compare(golden, text, strlen(text));
	free(text);
	json_decref(object);
}

static void objects_look_as_agreed(void **state)
{
	struct world *world = admin_world();
	struct sources sources = sources_of(world);

	(void)state;
	shows("show_agent.txt", state_agent(&sources), show_agent);
	shows("show_instances.txt", state_instances(&sources), show_instances);
	shows("show_replicas.txt", state_replicas(&sources, NULL), show_replicas);
	shows("show_engines.txt", state_replicas(&sources, NULL), show_engines);
	shows("show_haproxy.txt", state_haproxy(&sources), show_haproxy);
	shows("show_prefix.txt", state_prefix(&sources), show_prefix);
	shows("show_models.txt", models_list(&sources), show_models);
	world_free(world);
}

static void pin(struct world *world, const char *session, const struct target *target)
{
	(void)pins_hold(world->facts->sessions, pin_key_of(SPAN(session), 0), target->id,
	                world->now - 90 * SECOND);
}

static void sessions_look_as_agreed(void **state)
{
	struct world *world = admin_world();
	struct sources sources = sources_of(world);
	const struct instance *first = fleet_instance_at(world->facts->fleet, 0);

	(void)state;
	pin(world, "s-1", first->replicas[0].target);
	pin(world, "s-2", first->replicas[1].target);
	pin(world, "s-3", first->replicas[1].target);
	world->facts->counters->sessions[SESSION_NEW] = 3;
	world->facts->counters->sessions[SESSION_PINNED] = 7;
	world->facts->counters->session_moves[SESSION_MOVE_GONE] = 2;
	world->facts->counters->sessions_spilled = 1;
	shows("show_sessions.txt", state_sessions(&sources), show_sessions);
	world_free(world);
}

/* One that has no limit, one that has two and is over both, one whose use is long over. */
static void who_uses_how_much_is_shown(void **state)
{
	struct model_quota models[] = { { .model = "m", .quota = { .max_inflight = 7 } } };
	struct tenant_policy list[] = {
		{ .name = "acme",
		  .weight = 2,
		  .quota = { .requests = { 1, 60 }, .tokens = { 100, 1 }, .tokens_burst = 5000 },
		  .models = models,
		  .model_count = 1 },
		{ .name = "b*", .weight = 1, .quota = { .requests = { 10, 1 } } },
	};
	struct world *world = world_new(1, 1);
	struct sources sources = sources_of(world);
	struct decision decision;

	(void)state;
	world->policy.tenants = list;
	world->policy.tenant_count = 2;
	facts_set_policy(world->facts, &world->policy);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "bolt", "acme", "other", "acme" };
		struct request request = world_ask_long(world, 16000, 16000, 1, 0);

		request.tenant = SPAN(names[i]);
		request.model = SPAN("m");
		decision = world_decide(world, request);
		world->now += 100 * MSEC;
	}
	assert_int_equal(decision.reason, REASON_LIMIT);
	sources.now = world->now;
	shows("show_limits.txt", state_limits(&sources), show_limits);
	shows("show_tenants.txt", state_tenants(&sources), show_tenants);
	world_free(world);
}

/* Of ten thousand the hundred that had most. */
static void the_tenants_that_had_most_are_shown(void **state)
{
	struct world *world = world_new(1, 1);
	struct sources sources = sources_of(world);
	json_t *object, *list;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[16];
		struct span span = { name, (size_t)snprintf(name, sizeof(name), "t%d", i) };

		tenants_charge(world->facts->tenants, tenant_key(span), span, 1 + i * 7919 % 1000,
		               0, world->now);
	}
	object = state_tenants(&sources);
	list = json_object_get(object, "tenants");
	assert_int_equal(json_array_size(list), 100);
	assert_int_equal(json_integer_value(json_object_get(object, "known")), 1000);
	for (size_t i = 0; i < 100; i++) {
		double tokens = json_real_value(json_object_get(json_array_get(list, i), "tokens"));

		assert_true(tokens > 999.5 - (double)i && tokens < 1000.5 - (double)i);
	}
	json_decref(object);
	world_free(world);
}

/* An agent that is asked before HAProxy was there says where to look; another one does not. */
static void an_empty_table_says_where_to_look(void **state)
{
	static void (*const shows_it[])(const json_t *, FILE *) = { show_replicas, show_engines,
		                                                    show_instances };
	json_t *none = json_pack("{s:[],s:[]}", "replicas", "instances");
	json_t *some = json_pack("{s:[{}],s:[{}]}", "replicas", "instances");

	(void)state;
	for (size_t i = 0; i < sizeof(shows_it) / sizeof(*shows_it); i++) {
		char *text = printed_by(shows_it[i], none);

		assert_non_null(strstr(text, "\nnone yet: no HAProxy has named servers"));
		assert_non_null(strstr(text, "'inference-spoa show haproxy'"));
		free(text);
		text = printed_by(shows_it[i], some);
		assert_null(strstr(text, "none yet"));
		free(text);
	}
	json_decref(none);
	json_decref(some);
}

static struct decision_words words_of(const struct world *world)
{
	return (struct decision_words){ .now = world->now,
		                        .wall_ms = wall_ms,
		                        .stages = { pipeline_stage, name_of_stage },
		                        .ladder = &world->policy.ladder };
}

/* A prompt that s1 of b holds, decided and ended; and one that is still open. */
static void decisions_explain_themselves(void **state)
{
	struct world *world = world_new(2, 2);
	struct decision_log *log = decision_log_new(8);
	struct decision_words words = words_of(world);
	struct request request = world_ask_long(world, 16384, 16384, 1, 2);
	struct decision decision;
	struct stream_end end = { .id = SPAN("id-2"),
		                  .by = { SPAN("b"), SPAN("s1"), SPAN("10.1.0.1:8000"), 0 },
		                  .status = 200,
		                  .termination = { '-', '-', '-', '-' },
		                  .queue_ms = 0,
		                  .bytes_out = 5000 };
	struct feedback feedback = { .known = true, .ttft_ms = 240, .e2e_ms = 4100 };

	(void)state;
	request.model = SPAN("llama70b");
	decision = world_decide(world, request);
	world_first_byte(world, SPAN("id-1"));
	decision_log_decided(log, &request, &decision, world->now, 3);
	request = world_ask_long(world, 16384, 12288, 1, 2);
	request.model = SPAN("llama70b");
	request.tenant = SPAN("acme");
	decision = world_decide(world, request);
	decision_log_decided(log, &request, &decision, world->now, 4);
	decision_log_ended(log, &end, &feedback, world->now + 5 * SECOND);
	shows("show_decision.txt", decision_log_find(log, SPAN("id-2"), &words), show_decisions);
	shows("show_decision_open.txt", decision_log_find(log, SPAN("id-1"), &words),
	      show_decisions);
	shows("show_decisions.txt",
	      json_pack("{s:o}", "decisions", decision_log_last(log, 10, false, &words)),
	      show_decisions);
	decision_log_free(log);
	world_free(world);
}

static void a_table_tames_what_would_move_the_cursor(void **state)
{
	struct table table;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	table_init(&table, "A|>B");
	table_cell(&table, "%s", "x\x1b[2Jy");
	table_cell(&table, "%d", 12345);
	table_cell(&table, "long enough");
	table_cell(&table, "1");
	table_print(&table, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "A                B\n"
	                          "x?[2Jy       12345\n"
	                          "long enough      1\n");
	table_done(&table);
	free(text);
}

/* Whatever a wrong server answers, there is a text and no crash. */
static void objects_of_somebody_else_are_dashes(void **state)
{
	static void (*const shows_it[])(const json_t *,
	                                FILE *) = { show_agent,     show_instances, show_replicas,
		                                    show_haproxy,   show_prefix,    show_models,
		                                    show_decisions, show_config,    show_engines };
	static const char *const objects[] = { "{}",
		                               "[]",
		                               "{\"replicas\":[1,null,{}]}",
		                               "{\"decisions\":[{}],\"levels\":7}",
		                               "{\"levels\":[{\"candidates\":[{}]}]}",
		                               "{\"instances\":[{\"models\":[1]}]}" };

	(void)state;
	for (size_t i = 0; i < COUNT(objects); i++) {
		json_t *object = json_loads(objects[i], 0, NULL);
		FILE *out = fopen("/dev/null", "w");

		assert_non_null(object);
		assert_non_null(out);
		for (size_t k = 0; k < COUNT(shows_it); k++)
			shows_it[k](object, out);
		(void)fclose(out);
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest show[] = {
		cmocka_unit_test(objects_look_as_agreed),
		cmocka_unit_test(who_uses_how_much_is_shown),
		cmocka_unit_test(the_tenants_that_had_most_are_shown),
		cmocka_unit_test(sessions_look_as_agreed),
		cmocka_unit_test(decisions_explain_themselves),
		cmocka_unit_test(a_table_tames_what_would_move_the_cursor),
		cmocka_unit_test(an_empty_table_says_where_to_look),
		cmocka_unit_test(objects_of_somebody_else_are_dashes),
	};

	return cmocka_run_group_tests(show, NULL, NULL);
}
