/* test_whole_loop.c - one record shows the whole loop: who could serve, how each was, who was
 * chosen, under which name, and what came of it. Proves R016, R090. */
#include "tests/spoa/admin/admin_world.h"

#include <jansson.h>

#include "policies/feedback.h"
#include "spoa/admin/decision_log.h"

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void one_record_shows_candidates_state_decision_rewrite_and_result(void **state)
{
	struct world *world = world_new(1, 3);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = { .now = world->now,
		                        .wall_ms = wall_ms,
		                        .stages = { pipeline_stage, name_of_stage },
		                        .ladder = &world->policy.ladder };
	struct request request = world_ask(world);
	struct stream_end end = { .id = request.id,
		                  .by = { SPAN("a"), SPAN("s3"), SPAN("10.0.0.3:8000"), 0 },
		                  .status = 200,
		                  .termination = { '-', '-', '-', '-' },
		                  .routed = true,
		                  .applied = true };
	struct decision decision;
	struct feedback feedback;
	json_t *record, *candidates, *ended;
	bool chosen = false, busy = false;

	(void)state;
	strcpy(world->policy.default_rule.upstream_model, "meta/Llama");
	request.model = SPAN("llama");
	world_busy(world, "a", "s1", 4);
	world_busy(world, "a", "s2", 2);
	decision = world_decide(world, request);
	decision_log_decided(log, &request, &decision, world->now, 3);
	feedback = feedback_end(world->facts, &end, world->now + SECOND);
	decision_log_ended(log, &end, &feedback, world->now + SECOND);

	record = decision_log_find(log, request.id, &words);
	assert_string_equal(text_of(record, "model"), "llama");
	candidates =
	        json_object_get(json_array_get(json_object_get(record, "levels"), 1), "candidates");
	assert_int_equal(json_array_size(candidates), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *candidate = json_array_get(candidates, i);
		const char *name = text_of(candidate, "name");

		chosen |= strcmp(name, "s3") == 0;
		busy |= strcmp(name, "s1") == 0 &&
		        json_number_value(json_object_get(candidate, "running")) == 4;
	}
	assert_true(chosen && busy);
	assert_string_equal(text_of(record, "instance"), "a");
	assert_string_equal(text_of(record, "replica"), "s3");
	assert_string_equal(
	        text_of(json_array_get(json_object_get(record, "levels"), 1), "strategy"),
	        "least-work");
	assert_string_equal(text_of(record, "upstream_model"), "meta/Llama");
	assert_true(json_is_false(json_object_get(record, "fallback")));
	ended = json_object_get(record, "end");
	assert_string_equal(text_of(ended, "served"), "s3");
	assert_int_equal(json_integer_value(json_object_get(ended, "status")), 200);
	json_decref(record);
	decision_log_free(log);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_record_shows_candidates_state_decision_rewrite_and_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
