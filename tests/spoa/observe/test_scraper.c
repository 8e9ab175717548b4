/* test_scraper.c - engines' pages into the facts, on time and with their age.
 * Proves B016, P057, P086, R102. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/scraper.h"
#include "tests/spoa/observe/engines.h"

static const usec_t interval = 50 * MSEC;

static struct engines_stage stage;
static struct scraper *scraper;

static void open_scraper(usec_t backoff_max)
{
	struct scraper_options options = {
		.interval = interval, .deadline = 400 * MSEC, .backoff_max = backoff_max, .seed = 1
	};

	engines_open(&stage);
	scraper = scraper_new(&stage.observe, stage.fetch, stage.profiles, &options);
	assert_non_null(scraper);
}

static void close_scraper(void)
{
	scraper_free(scraper);
	engines_close(&stage);
}

static const struct engine_page *page_of(size_t engine, usec_t max_age)
{
	return engines_page(stage.world.facts->engines, stage.ids[engine], loop_now(), max_age);
}

static void a_page_becomes_facts(void **state)
{
	struct span text = fixture("engine-vllm-0.33.txt");
	const struct engine_page *page;

	(void)state;
	open_scraper(0);
	engines_answer(&stage, 0, 200, text.at);
	engines_count_acquired(stage.world.facts->engines, stage.ids[0], 100);
	engines_count_acquired(stage.world.facts->engines, stage.ids[0], 100);
	engines_count_first_byte(stage.world.facts->engines, stage.ids[0]);
	scraper_start(scraper);
	engines_wait(&stage, 1);
	page = page_of(0, SECOND);
	assert_non_null(page);
	assert_true(page->running == 17);
	assert_true(page->waiting == 3);
	assert_true(page->kv_tokens == 640000);
	assert_true(page->prompt_tokens == 1.5e6);
	assert_int_equal(page->acquired, 2);
	assert_int_equal(page->first_bytes, 1);
	assert_string_equal(scraper_engine(scraper, stage.ids[0])->name, "vllm");
	assert_null(scraper_engine(scraper, stage.ids[1]));
	assert_int_equal(strncmp(stage.peers[0].last, "GET /metrics HTTP/1.1", 21), 0);
	free((void *)(uintptr_t)text.at);
	close_scraper();
}

static void one_that_hangs_holds_up_nobody(void **state)
{
	usec_t oldest = 0, end;
	unsigned before;

	(void)state;
	open_scraper(0);
	stage.peers[1].manners = PEER_STALLS;
	engines_answer(&stage, 0, 200, "vllm:num_requests_running 1\n");
	scraper_start(scraper);
	engines_wait(&stage, 1);
	before = stage.peers[0].requests;
	for (end = loop_now() + SECOND; loop_now() < end;) {
		const struct engine_page *page = page_of(0, 0);
		usec_t age = loop_now() - page->at;

		oldest = age > oldest ? age : oldest;
		loop_for(stage.loop, 0.01);
	}
	/* Two intervals; and room for a machine that is busy. */
	assert_true(oldest <= 2 * interval + 100 * MSEC);
	assert_true(stage.peers[0].requests - before >= 8);
	assert_null(page_of(1, 0));
	assert_int_equal(stage.peers[1].most_open, 1);
	assert_true(scraper_counts(scraper).late >= 1);
	close_scraper();
}

static void what_is_not_on_the_page_is_unknown(void **state)
{
	(void)state;
	open_scraper(0);
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 5\nvllm:num_requests_waiting 50\n");
	scraper_start(scraper);
	engines_wait(&stage, 1);
	assert_int_equal(scraper_counts(scraper).incomplete, 0);
	assert_true(page_of(0, SECOND)->running == 5);
	engines_answer(&stage, 0, 200, "vllm:num_requests_waiting 50\n");
	engines_wait(&stage, stage.peers[0].requests + 1);
	assert_true(page_of(0, SECOND)->running == -1);
	assert_true(page_of(0, SECOND)->waiting == 50);
	assert_true(scraper_counts(scraper).incomplete >= 1);
	/* And a page that is not answered any more grows old. */
	peer_stop(&stage.peers[0]);
	loop_for(stage.loop, 0.3);
	assert_null(page_of(0, 3 * interval));
	assert_non_null(page_of(0, 0));
	assert_true(scraper_counts(scraper).refused >= 1);
	close_scraper();
}

/* Whatever we believed to be in its cache is not. */
static void counters_that_go_back_are_a_restart(void **state)
{
	static const uint64_t chain[2] = { 1, 2 };
	struct facts *facts;

	(void)state;
	open_scraper(0);
	facts = stage.world.facts;
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 0\nvllm:prompt_tokens_total 100\n"
	               "vllm:generation_tokens_total 100\n");
	scraper_start(scraper);
	engines_wait(&stage, 1);
	prefix_index_confirm(facts->prefix, stage.ids[0], chain, 2, &stage.world.policy.ladder,
	                     loop_now());
	assert_int_equal(prefix_index_held(facts->prefix, stage.ids[0]), 2);
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 0\nvllm:prompt_tokens_total 100\n");
	engines_wait(&stage, stage.peers[0].requests + 1);
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 0\nvllm:prompt_tokens_total 120\n"
	               "vllm:generation_tokens_total 100\n");
	engines_wait(&stage, stage.peers[0].requests + 1);
	assert_int_equal(scraper_counts(scraper).restarts, 0);
	assert_int_equal(prefix_index_held(facts->prefix, stage.ids[0]), 2);
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 1\nvllm:prompt_tokens_total 121\n"
	               "vllm:generation_tokens_total 99\n");
	engines_wait(&stage, stage.peers[0].requests + 2);
	assert_int_equal(scraper_counts(scraper).restarts, 1);
	assert_int_equal(prefix_index_held(facts->prefix, stage.ids[0]), 0);
	assert_true(page_of(0, SECOND)->running == 1); /* the page that told it counts */
	close_scraper();
}

static void the_size_of_the_cache_bounds_what_we_believe(void **state)
{
	static const uint64_t chain[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct facts *facts;

	(void)state;
	open_scraper(0);
	facts = stage.world.facts;
	/* 512 tokens of 4 bytes: two of the ladder's first blocks of 1 KB. */
	engines_answer(&stage, 0, 200,
	               "vllm:num_requests_running 0\n"
	               "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"32\"} 1\n");
	engines_answer(&stage, 1, 200, "vllm:num_requests_running 0\n");
	scraper_start(scraper);
	engines_wait(&stage, 2);
	for (size_t i = 0; i < ENGINES; i++)
		prefix_index_confirm(facts->prefix, stage.ids[i], chain, 4,
		                     &stage.world.policy.ladder, loop_now());
	assert_int_equal(prefix_index_held(facts->prefix, stage.ids[0]), 2);
	assert_int_equal(prefix_index_held(facts->prefix, stage.ids[1]), 4);
	close_scraper();
}

static void an_engine_without_a_page_is_left_alone(void **state)
{
	(void)state;
	open_scraper(10 * SECOND);
	engines_answer(&stage, 0, 404, "");
	engines_answer(&stage, 1, 200, "{\"this\": \"is no page\"}");
	scraper_start(scraper);
	engines_wait(&stage, 2);
	assert_int_equal(strncmp(stage.peers[0].last, "GET /prometheus/metrics ", 24), 0);
	loop_for(stage.loop, 0.5);
	assert_int_equal(stage.peers[0].requests, 2);
	assert_int_equal(stage.peers[1].requests, 2);
	assert_int_equal(scraper_counts(scraper).no_page, 4);
	assert_int_equal(stage.said, 0);
	close_scraper();
}

static void a_page_at_the_other_path_is_found(void **state)
{
	(void)state;
	open_scraper(10 * SECOND);
	engines_answer(&stage, 0, 404, "");
	scraper_start(scraper);
	engines_wait(&stage, 1);
	engines_answer(&stage, 0, 200, "trtllm_num_requests_running 2\n");
	engines_wait(&stage, 3);
	assert_string_equal(scraper_engine(scraper, stage.ids[0])->name, "trtllm");
	assert_int_equal(strncmp(stage.peers[0].last, "GET /prometheus/metrics ", 24), 0);
	assert_true(page_of(0, SECOND)->running == 2);
	close_scraper();
}

static void failures_are_asked_less_and_less_often(void **state)
{
	unsigned asked;

	(void)state;
	open_scraper(10 * SECOND);
	engines_answer(&stage, 0, 500, "");
	scraper_start(scraper);
	loop_for(stage.loop, 1.2);
	/* At 0, 50, 150, 350, 750 ms and then 1550, each within a fifth. */
	asked = stage.peers[0].requests;
	assert_in_range(asked, 3, 6);
	assert_int_equal(scraper_counts(scraper).status, asked);
	close_scraper();
}

/* It need not wait until its back-off is over. */
static void one_that_comes_up_is_asked_at_once(void **state)
{
	static const bool down[ENGINES] = { false, true }, up[ENGINES] = { true, true };
	unsigned before;

	(void)state;
	open_scraper(10 * SECOND);
	engines_answer(&stage, 0, 500, "");
	scraper_start(scraper);
	engines_wait(&stage, 5); /* its next turn is 800 ms away */
	engines_list(&stage, down);
	loop_for(stage.loop, 0.3);
	before = stage.peers[0].requests;
	engines_answer(&stage, 0, 200, "vllm:num_requests_running 1\n");
	engines_list(&stage, up);
	loop_for(stage.loop, 0.3);
	assert_true(stage.peers[0].requests > before);
	assert_non_null(page_of(0, SECOND));
	close_scraper();
}

/* A server slot that gets another address is another engine: the answer of the
 * one before is not its. */
static void an_answer_for_a_target_that_is_gone_is_dropped(void **state)
{
	static const bool up[ENGINES] = { true, true };

	(void)state;
	open_scraper(0);
	stage.peers[0].manners = PEER_STALLS;
	scraper_start(scraper);
	engines_wait(&stage, 1);
	/* It is asked; now another takes its place, and its id. */
	(void)snprintf(stage.addresses[0], ADDRESS_MAX_BYTES, "127.0.0.1:1");
	engines_list(&stage, up); /* no usable address: it is gone */
	(void)snprintf(stage.addresses[0], ADDRESS_MAX_BYTES, "127.0.0.2:%u", stage.peers[1].port);
	engines_list(&stage, up);
	loop_for(stage.loop, 0.6);
	assert_true(stage.ids[0] != TARGET_NONE);
	assert_null(page_of(0, 0));
	assert_int_equal(stage.peers[0].open, 0); /* given up */
	assert_int_equal(stage.peers[0].requests, 1);
	close_scraper();
}

static void stopping_and_freeing_leave_nothing_open(void **state)
{
	(void)state;
	open_scraper(0);
	stage.peers[0].manners = PEER_STALLS;
	scraper_start(scraper);
	engines_wait(&stage, 1);
	assert_true(fetch_open(stage.fetch) >= 1);
	scraper_free(scraper);
	scraper = NULL;
	assert_int_equal(fetch_open(stage.fetch), 0);
	close_scraper();
}

/* Like that of an operator who writes a profile while the agent runs. */
static struct engine_profiles *own_profile(const char *running)
{
	struct problems *problems = problems_new();
	struct engine_profiles *profiles;
	char text[512];

	(void)snprintf(text, sizeof(text),
	               "{\"engine\": \"own\", \"recognise\": [\"own_\"], \"pages\": [\"/own\"], "
	               "\"health\": \"/h\", \"models\": \"/m\", "
	               "\"metrics\": {\"running\": [\"%s\"]}}",
	               running);
	profiles = engine_profiles_parse("own.json", text, strlen(text), problems);
	if (!profiles)
		problems_print(problems, stderr);
	assert_non_null(profiles);
	problems_free(problems);
	return profiles;
}

static void profiles_can_be_others_from_now_on(void **state)
{
	struct engine_profiles *first = own_profile("own_a"), *second = own_profile("own_b");

	(void)state;
	open_scraper(0);
	engines_answer(&stage, 0, 200, "own_a 3\nown_b 5\n");
	scraper_start(scraper);
	engines_wait(&stage, 2);
	assert_null(scraper_engine(scraper, stage.ids[0])); /* of no kind, and asked no more */
	scraper_set_profiles(scraper, first);
	engines_wait(&stage, 4);
	assert_non_null(page_of(0, 0));
	assert_true(page_of(0, 0)->running == 3);
	assert_int_equal(strncmp(stage.peers[0].last, "GET /own HTTP/1.1", 17), 0);
	assert_string_equal(engines_kind(stage.world.facts->engines, stage.ids[0]), "own");
	scraper_set_profiles(scraper, second);
	engine_profiles_free(first);
	assert_string_equal(scraper_engine(scraper, stage.ids[0])->name, "own");
	assert_string_equal(engines_kind(stage.world.facts->engines, stage.ids[0]), "own");
	engines_wait(&stage, stage.peers[0].requests + 2);
	assert_true(page_of(0, 0)->running == 5);
	scraper_set_profiles(scraper, stage.profiles);
	engine_profiles_free(second);
	assert_null(scraper_engine(scraper, stage.ids[0]));
	assert_null(engines_kind(stage.world.facts->engines, stage.ids[0]));
	close_scraper();
}

static void others_may_have_fewer_pages(void **state)
{
	struct engine_profiles *own = own_profile("own_a");

	(void)state;
	open_scraper(0);
	engines_answer(&stage, 0, 200, "own_a 3\n");
	scraper_start(scraper);
	engines_wait(&stage, 1); /* the next would be the second of the program's */
	scraper_set_profiles(scraper, own);
	engines_wait(&stage, 3);
	assert_int_equal(strncmp(stage.peers[0].last, "GET /own HTTP/1.1", 17), 0);
	assert_true(page_of(0, 0)->running == 3);
	scraper_set_profiles(scraper, stage.profiles);
	engine_profiles_free(own);
	close_scraper();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_becomes_facts),
		cmocka_unit_test(one_that_hangs_holds_up_nobody),
		cmocka_unit_test(what_is_not_on_the_page_is_unknown),
		cmocka_unit_test(counters_that_go_back_are_a_restart),
		cmocka_unit_test(the_size_of_the_cache_bounds_what_we_believe),
		cmocka_unit_test(an_engine_without_a_page_is_left_alone),
		cmocka_unit_test(a_page_at_the_other_path_is_found),
		cmocka_unit_test(failures_are_asked_less_and_less_often),
		cmocka_unit_test(one_that_comes_up_is_asked_at_once),
		cmocka_unit_test(an_answer_for_a_target_that_is_gone_is_dropped),
		cmocka_unit_test(others_may_have_fewer_pages),
		cmocka_unit_test(profiles_can_be_others_from_now_on),
		cmocka_unit_test(stopping_and_freeing_leave_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
