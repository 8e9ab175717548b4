/* test_store_page.c - the store as numbers, JSON and text; and that there is nothing to see without
 * one. Proves R093, B038. */
#include "redis/store.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/show.h"
#include "spoa/admin/sources.h"
#include "spoa/admin/state.h"
#include "tests/redis/agent.h"

enum { AGENT = 0xabc };

static struct policy policy;
static struct facts *facts;
static struct store *store;
static struct ev_loop *loop;

static usec_t fixed_now(void)
{
	return 100 * SECOND;
}

static void say(void *data, int level, const char *text)
{
	(void)data;
	(void)level;
	(void)text;
}

static int begin(void **state)
{
	const struct store_options options = { .space = "test",
		                               .kept_bytes = 1e6,
		                               .loads = true,
		                               .kept_life = SECOND,
		                               .agent = AGENT,
		                               .now = fixed_now };
	const struct store_log log = { say, NULL };
	struct error error = { "" };

	(void)state;
	loop = ev_loop_new(EVFLAG_AUTO);
	facts = agent_facts(&policy, "10.0.0.1:1", "10.0.0.2:1");
	store = store_new(loop, facts, &options, &log, &error);
	return store ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	store_free(store);
	facts_free(facts);
	ev_loop_destroy(loop);
	return 0;
}

static struct sources sources_of(const struct store *of)
{
	return (struct sources){ .facts = facts, .store = of, .now = fixed_now() };
}

/* How often the text is on the page of the store's metrics. */
static unsigned count_on_page(const struct store *of, const char *text)
{
	struct sources sources = sources_of(of);
	struct page page = { 0 };
	unsigned count = 0;
	size_t len;
	char *body;

	for (size_t i = 0; metric_at(i); i++) {
		if (strncmp(metric_at(i)->name, "store_", 6) == 0) {
			page_metric(&page, metric_at(i));
			metric_at(i)->fill(&page, &sources);
		}
	}
	body = page_give(&page, &len);
	assert_non_null(body);
	for (const char *at = body;
	     (at = memmem(at, len - (size_t)(at - body), text, strlen(text))); at++)
		count++;
	free(body);
	return count;
}

static void shown(const struct store *of, char *ret_text, size_t room)
{
	struct sources sources = sources_of(of);
	json_t *object = state_store(&sources);
	FILE *out = fmemopen(ret_text, room, "w");

	assert_non_null(object);
	assert_non_null(out);
	show_store(object, out);
	(void)fclose(out);
	json_decref(object);
}

static void without_a_store_there_is_nothing(void **state)
{
	char text[4096] = "";

	(void)state;
	assert_int_equal(count_on_page(NULL, "\ninference_spoa_store"), 0);
	shown(NULL, text, sizeof(text));
	assert_non_null(strstr(text, "nothing is shared"));
}

static void a_store_is_seen_by_numbers(void **state)
{
	(void)state;
	assert_int_equal(count_on_page(store, "inference_spoa_store_up 0\n"), 1);
	assert_int_equal(count_on_page(store, "inference_spoa_store_warmup_ratio 0\n"), 1);
	assert_int_equal(count_on_page(store, "inference_spoa_store_peers 0\n"), 1);
	assert_int_equal(count_on_page(store, "inference_spoa_store_dropped_total 0\n"), 1);
	/* Nothing was read: how far behind we are is not known. */
	assert_int_equal(count_on_page(store, "\ninference_spoa_store_lag_seconds"), 0);
	assert_int_equal(count_on_page(store, "store_ops_total{"), OP_COUNT);
	assert_int_equal(count_on_page(store, "store_op_duration_seconds_count{"), OP_COUNT - 1);
}

static void a_store_is_shown_with_who_is_heard(void **state)
{
	char text[4096] = "";

	(void)state;
	assert_int_equal(peers_hear(facts->peers, 7, 1, fixed_now(), fixed_now()), PEER_NEWS);
	shown(store, text, sizeof(text));
	assert_non_null(strstr(text, "not found yet, space test, we are 0000000000000abc"));
	assert_non_null(strstr(text, "tells: not yet, follows: not yet (down)"));
	assert_non_null(strstr(text, "\nbound "));
	assert_non_null(strstr(text, "\n0000000000000007 "));
	assert_int_equal(count_on_page(store, "inference_spoa_store_peers 1\n"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_store_there_is_nothing),
		TEST(a_store_is_seen_by_numbers),
		TEST(a_store_is_shown_with_who_is_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
