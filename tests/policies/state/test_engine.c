/* test_engine.c - engine pages and their age. Proves R102 in part, docs/strategies.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/engine.h"
#include "tests/failing_calloc.h"

#define SPAN_OF(text) ((struct span){ (text), sizeof(text) - 1 })

static int open_engines(void **state)
{
	*state = engines_new(2);
	return *state ? 0 : -1;
}

static int close_engines(void **state)
{
	engines_free(*state);
	return 0;
}

static void a_page_is_good_until_it_is_too_old(void **state)
{
	struct engine_page page = { .at = 10 * SECOND, .waiting = 3, .kv_usage = -1 };

	assert_null(engines_page(*state, 0, 10 * SECOND, 3 * SECOND));
	assert_null(engines_page(*state, 0, 10 * SECOND, 0));
	engines_put(*state, 0, &page);
	assert_non_null(engines_page(*state, 0, 13 * SECOND, 3 * SECOND));
	assert_true(engines_page(*state, 0, 13 * SECOND, 3 * SECOND)->waiting == 3);
	assert_null(engines_page(*state, 0, 13 * SECOND + 1, 3 * SECOND));
	assert_non_null(engines_page(*state, 0, 1000 * SECOND, 0));
	assert_null(engines_page(*state, 1, 10 * SECOND, 0));
}

static void a_new_page_replaces_all_of_the_old(void **state)
{
	engines_put(*state, 0, &(struct engine_page){ .at = 1, .waiting = 3, .running = 4 });
	engines_put(*state, 0, &(struct engine_page){ .at = 2, .waiting = -1, .running = 5 });
	assert_true(engines_page(*state, 0, 2, 0)->waiting < 0);
	assert_true(engines_page(*state, 0, 2, 0)->running == 5);
}

static void the_queue_has_an_age_of_its_own(void **state)
{
	double queued = 9;

	assert_false(engines_queue(*state, 1, SECOND, 0, &queued));
	assert_true(queued == 9);
	engines_put_queue(*state, 1, 2, SECOND);
	assert_true(engines_queue(*state, 1, 4 * SECOND, 3 * SECOND, &queued));
	assert_true(queued == 2);
	assert_false(engines_queue(*state, 1, 4 * SECOND + 1, 3 * SECOND, &queued));
}

static void what_we_sent_is_counted(void **state)
{
	struct engine_page page = engine_page_blank(SECOND);

	engines_count_acquired(*state, 0, 700);
	engines_count_acquired(*state, 0, 20);
	engines_count_first_byte(*state, 0);
	engines_counts(*state, 0, &page);
	assert_int_equal(page.acquired, 2);
	assert_int_equal(page.acquired_tokens, 720);
	assert_int_equal(page.first_bytes, 1);
	engines_counts(*state, 1, &page);
	assert_int_equal(page.acquired + page.first_bytes + page.acquired_tokens, 0);
	engines_forget(*state, 0);
	engines_counts(*state, 0, &page);
	assert_int_equal(page.acquired + page.first_bytes + page.acquired_tokens, 0);
}

/* 31250 blocks of 16 tokens: 20000 tokens since then are 4 hundredths. */
static void usage_grows_by_what_was_sent_since(void **state)
{
	struct engine_page page = engine_page_blank(SECOND);
	double usage = -1;

	page.kv_usage = 0.6;
	page.kv_tokens = 31250 * 16;
	engines_count_acquired(*state, 0, 12345); /* before the page */
	engines_counts(*state, 0, &page);
	engines_put(*state, 0, &page);
	engines_count_acquired(*state, 0, 15000);
	engines_count_acquired(*state, 0, 5000);
	assert_true(engines_kv_usage(*state, 0, 2 * SECOND, 3 * SECOND, &usage));
	assert_true(fabs(usage - 0.64) < 1e-9);
	engines_count_acquired(*state, 0, 1000000);
	assert_true(engines_kv_usage(*state, 0, 2 * SECOND, 3 * SECOND, &usage));
	assert_true(usage == 1);
	assert_false(engines_kv_usage(*state, 0, 5 * SECOND, 3 * SECOND, &usage));
	page.kv_tokens = -1;
	engines_put(*state, 0, &page);
	assert_true(engines_kv_usage(*state, 0, 2 * SECOND, 3 * SECOND, &usage));
	assert_true(usage == 0.6);
	page.kv_usage = -1;
	engines_put(*state, 0, &page);
	assert_false(engines_kv_usage(*state, 0, 2 * SECOND, 3 * SECOND, &usage));
}

static void send_since(struct engines *engines, int acquired, int first_bytes)
{
	while (acquired-- > 0)
		engines_count_acquired(engines, 0, 1);
	while (first_bytes-- > 0)
		engines_count_first_byte(engines, 0);
}

/* Gauge 3, since then 4 sent and 5 first bytes: 2. */
static void what_waits_is_put_right_by_what_happened_since(void **state)
{
	struct engine_page page = engine_page_blank(SECOND);
	double pending = -1;

	assert_false(engines_pending(*state, 0, SECOND, 3 * SECOND, &pending));
	page.waiting = 3;
	engines_put(*state, 0, &page);
	send_since(*state, 4, 5);
	assert_true(engines_pending(*state, 0, 2 * SECOND, 3 * SECOND, &pending));
	assert_true(pending == 2);
	send_since(*state, 0, 4);
	assert_true(engines_pending(*state, 0, 2 * SECOND, 3 * SECOND, &pending));
	assert_true(pending == 0);
	engines_put_queue(*state, 0, 7, 3 * SECOND);
	assert_true(engines_pending(*state, 0, 3 * SECOND, 3 * SECOND, &pending));
	assert_true(pending == 7);
	assert_true(engines_pending(*state, 0, 5 * SECOND, 3 * SECOND, &pending));
	assert_true(pending == 7); /* the page is too old, the queue is not */
	assert_false(engines_pending(*state, 0, 9 * SECOND, 3 * SECOND, &pending));
}

static void adapters_have_an_age(void **state)
{
	struct engine_loras loras = { .at = SECOND, .active_count = 1 };

	loras.active[0] = lora_id(SPAN_OF("one"));
	assert_null(engines_loras(*state, 0, SECOND, 0));
	engines_put_loras(*state, 0, &loras);
	assert_int_equal(engines_loras(*state, 0, 4 * SECOND, 3 * SECOND)->active[0],
	                 lora_id(SPAN_OF("one")));
	assert_null(engines_loras(*state, 0, 4 * SECOND + 1, 3 * SECOND));
	assert_true(lora_id(SPAN_OF("one")) != lora_id(SPAN_OF("two")));
	engines_put_kind(*state, 0, "vllm");
	assert_string_equal(engines_kind(*state, 0), "vllm");
	assert_null(engines_kind(*state, 1));
	engines_forget(*state, 0);
	assert_null(engines_kind(*state, 0));
	assert_null(engines_loras(*state, 0, SECOND, 0));
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(engines_new(2));
	}
	assert_int_equal(failing, 0);
	engines_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_engines, close_engines)

int main(void)
{
	const struct CMUnitTest engine[] = {
		TEST(a_page_is_good_until_it_is_too_old),
		TEST(a_new_page_replaces_all_of_the_old),
		TEST(the_queue_has_an_age_of_its_own),
		TEST(what_we_sent_is_counted),
		TEST(usage_grows_by_what_was_sent_since),
		TEST(what_waits_is_put_right_by_what_happened_since),
		TEST(adapters_have_an_age),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(engine, NULL, NULL);
}
