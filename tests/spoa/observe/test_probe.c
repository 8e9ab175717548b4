/* test_probe.c - who is out of service is asked how it is, and nobody else. Proves R066-R068,
 * B033, P080. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/ejection.h"
#include "spoa/observe/probe.h"
#include "tests/spoa/observe/engines.h"

struct scene {
	struct engines_stage stage;
	struct scraper *scraper;
	struct probe *probe;
	struct credential credential;
};

static int open_scene(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct scraper_options options = { .seed = 1 };
	struct health_policy *policy;

	if (!scene)
		return -1;
	*state = scene;
	engines_open(&scene->stage);
	policy = &scene->stage.world.policy.health;
	policy->probe_interval = 50 * MSEC;
	policy->probe_timeout = 500 * MSEC;
	policy->ejection = 10 * MSEC;
	scene->stage.observe.credential = &scene->credential;
	scene->scraper = scraper_new(&scene->stage.observe, scene->stage.fetch,
	                             scene->stage.profiles, &options);
	scene->probe = probe_new(&scene->stage.observe, scene->stage.fetch, scene->scraper, 1);
	if (!scene->scraper || !scene->probe)
		return -1;
	probe_start(scene->probe);
	return 0;
}

static int close_scene(void **state)
{
	struct scene *scene = *state;

	probe_free(scene->probe);
	scraper_free(scene->scraper);
	engines_close(&scene->stage);
	free(scene);
	return 0;
}

static void eject(struct scene *scene)
{
	health_eject(scene->stage.world.facts->health, scene->stage.ids[0], loop_now());
}

static enum health_state state_of(const struct scene *scene)
{
	return health_state(scene->stage.world.facts->health, scene->stage.ids[0], loop_now());
}

static bool is_half_open(void *data)
{
	return state_of(data) == HEALTH_HALF_OPEN;
}

static uint64_t *counted(const struct scene *scene)
{
	return scene->stage.world.facts->counters->of[scene->stage.ids[0]].probes;
}

static void the_healthy_are_not_asked(void **state)
{
	struct scene *scene = *state;

	loop_for(scene->stage.loop, 0.4);
	assert_int_equal(scene->stage.peers[0].requests, 0);
	assert_int_equal(scene->stage.peers[1].requests, 0);
}

static void two_good_answers_open_it_for_trial(void **state)
{
	struct scene *scene = *state;

	eject(scene);
	engines_wait(&scene->stage, 2);
	assert_int_equal(state_of(scene), HEALTH_HALF_OPEN);
	assert_int_equal(counted(scene)[PROBE_GOOD], 2);
	loop_for(scene->stage.loop, 0.4);
	assert_int_equal(scene->stage.peers[0].requests, 2); /* that is enough */
	assert_int_equal(scene->stage.peers[1].requests, 0);
}

static void bad_answers_keep_it_out(void **state)
{
	struct scene *scene = *state;

	engines_answer(&scene->stage, 0, 500, "");
	eject(scene);
	engines_wait(&scene->stage, 4);
	assert_int_equal(state_of(scene), HEALTH_EJECTED);
	assert_true(counted(scene)[PROBE_STATUS] >= 4);
	assert_int_equal(scene->stage.said, 1); /* once, not each time */
	engines_answer(&scene->stage, 0, 200, "");
	assert_true(loop_until(scene->stage.loop, is_half_open, scene, 10));
	assert_int_equal(scene->stage.said, 2);
}

static void a_page_that_is_not_there_is_no_reason_to_stay_out(void **state)
{
	struct scene *scene = *state;

	engines_answer(&scene->stage, 0, 401, "");
	eject(scene);
	engines_wait(&scene->stage, 2);
	assert_int_equal(state_of(scene), HEALTH_HALF_OPEN);
	assert_int_equal(counted(scene)[PROBE_NO_PAGE], 2);
	assert_int_equal(scene->stage.said, 1);
}

static bool was_sent(const struct scene *scene, const char *text)
{
	return strstr(scene->stage.peers[0].last, text);
}

/* The bytes of a body may come after those of the head. */
static bool body_was_sent(void *data)
{
	return was_sent(data, "{\"model\":\"llama\",\"prompt\":\"1\",\"max_tokens\":1}");
}

static void let_it_stall(struct scene *scene)
{
	struct health *health = scene->stage.world.facts->health;
	uint32_t target = scene->stage.ids[0];
	usec_t now = loop_now();

	(void)health_waits(health, target, true, now);
	assert_true(health_waits(health, target, true, now + 61 * SECOND));
	assert_int_equal(state_of(scene), HEALTH_STALLED);
}

static void lists(struct scene *scene, const char *model)
{
	struct span span = span_of(model);

	assert_true(
	        fleet_models(scene->stage.world.facts->fleet, scene->stage.ids[0], &span, NULL, 1));
}

/* A page that says 200 is no proof. */
static void who_lets_requests_wait_is_asked_for_a_token(void **state)
{
	struct scene *scene = *state;

	lists(scene, "llama");
	engines_answer(&scene->stage, 0, 500, "");
	let_it_stall(scene);
	engines_wait(&scene->stage, 1);
	assert_true(was_sent(scene, "POST /v1/completions HTTP/1.1"));
	assert_true(was_sent(scene, "content-type: application/json"));
	assert_true(loop_until(scene->stage.loop, body_was_sent, scene, 10));
	assert_int_equal(state_of(scene), HEALTH_EJECTED);
	/* As long as it has not come back. */
	engines_answer(&scene->stage, 0, 200, "{}");
	assert_true(loop_until(scene->stage.loop, is_half_open, scene, 10));
	assert_true(was_sent(scene, "POST /v1/completions HTTP/1.1"));
}

static void who_answers_no_such_request_is_alive(void **state)
{
	struct scene *scene = *state;

	lists(scene, "llama");
	engines_answer(&scene->stage, 0, 400, "{}");
	let_it_stall(scene);
	engines_wait(&scene->stage, 2);
	assert_int_equal(state_of(scene), HEALTH_STALLED);
	assert_int_equal(counted(scene)[PROBE_NO_PAGE], 2);
}

static void a_page_is_asked_for_where_tokens_are_off_or_no_model_is_known(void **state)
{
	struct scene *scene = *state;

	let_it_stall(scene);
	engines_wait(&scene->stage, 1);
	assert_true(was_sent(scene, "GET /health HTTP/1.1"));
	lists(scene, "llama");
	scene->stage.world.policy.health.probe_token = TOKEN_NEVER;
	engines_wait(&scene->stage, scene->stage.peers[0].requests + 2);
	assert_true(was_sent(scene, "GET /health HTTP/1.1"));
	scene->stage.world.policy.health.probe_token = TOKEN_ALWAYS;
	engines_wait(&scene->stage, scene->stage.peers[0].requests + 2);
	assert_true(was_sent(scene, "POST /v1/completions HTTP/1.1"));
}

static void one_that_fails_is_asked_for_its_page(void **state)
{
	struct scene *scene = *state;

	lists(scene, "llama");
	eject(scene);
	engines_wait(&scene->stage, 1);
	assert_true(was_sent(scene, "GET /health HTTP/1.1"));
}

static void a_token_may_take_its_time(void **state)
{
	struct scene *scene = *state;
	struct health_policy *policy = &scene->stage.world.policy.health;

	policy->probe_timeout = 10 * SECOND;
	probe_set_policy(scene->probe);
	policy->probe_token_timeout = 100 * MSEC;
	lists(scene, "llama");
	scene->stage.peers[0].manners = PEER_STALLS;
	let_it_stall(scene);
	engines_wait(&scene->stage, 2);
	assert_true(counted(scene)[PROBE_TIMEOUT] >= 1);
	assert_int_equal(state_of(scene), HEALTH_EJECTED);
}

static void probes_carry_headers_and_the_credential(void **state)
{
	struct scene *scene = *state;
	struct health_policy *policy = &scene->stage.world.policy.health;
	struct probe_header headers[] = { { "x-zone", "b" }, { "accept", "text/plain" } };

	strcpy(scene->credential.line, "authorization: Bearer s3cret");
	policy->probe_headers = headers;
	policy->probe_header_count = 2;
	eject(scene);
	engines_wait(&scene->stage, 1);
	assert_true(was_sent(scene, "authorization: Bearer s3cret\r\n"));
	assert_true(was_sent(scene, "x-zone: b\r\n"));
	assert_true(was_sent(scene, "accept: text/plain\r\n"));
	probe_stop(scene->probe);
	policy->probe_header_count = 0;
}

static void a_new_policy_sets_the_pace(void **state)
{
	struct scene *scene = *state;
	struct health_policy *policy = &scene->stage.world.policy.health;

	policy->probe_interval = 60 * SECOND;
	probe_set_policy(scene->probe);
	loop_for(scene->stage.loop, 0.3);
	eject(scene);
	loop_for(scene->stage.loop, 0.5);
	assert_int_equal(scene->stage.peers[0].requests, 0);
	policy->probe = false;
	assert_int_equal(state_of(scene), HEALTH_HALF_OPEN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_healthy_are_not_asked),
		TEST(two_good_answers_open_it_for_trial),
		TEST(bad_answers_keep_it_out),
		TEST(a_page_that_is_not_there_is_no_reason_to_stay_out),
		TEST(who_lets_requests_wait_is_asked_for_a_token),
		TEST(who_answers_no_such_request_is_alive),
		TEST(a_page_is_asked_for_where_tokens_are_off_or_no_model_is_known),
		TEST(one_that_fails_is_asked_for_its_page),
		TEST(a_token_may_take_its_time),
		TEST(probes_carry_headers_and_the_credential),
		TEST(a_new_policy_sets_the_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
