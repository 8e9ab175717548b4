/* test_metrics.c - the page for Prometheus: its bytes, its names, its labels, its
 * size. Proves R092, R093 (as far as level 1 has values), R108, R120. */
#include "tests/spoa/admin/admin_world.h"

#include <malloc.h>

#include "policies/state/average.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/page.h"
#include "tests/spoa/golden.h"

static char *print(const struct sources *sources, size_t *ret_len)
{
	struct page page = { 0 };
	char *text;

	metrics_print(&page, sources);
	page_bytes(&page, "", 1);
	text = page_give(&page, ret_len);
	assert_non_null(text);
	--*ret_len;
	return text;
}

static void the_page_is_as_agreed(void **state)
{
	struct world *world = admin_world();
	struct sources sources = sources_of(world);
	struct route_counts routes = { .answers[ROUTE_METRICS][2] = 3 };
	size_t len;
	char *text;

	(void)state;
	sources.routes = &routes;
	text = print(&sources, &len);
	golden_compare("metrics.txt", text, len);
	free(text);
	world_free(world);
}

static bool has(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static bool page_has(const struct world *world, struct sources sources, const char *line)
{
	size_t len;
	char *text;
	bool found;

	sources.now = world->now;
	text = print(&sources, &len);
	found = has(text, line);
	free(text);
	return found;
}

static void the_gauge_is_true_after_every_event(void **state)
{
	struct world *world = world_new(1, 1);
	struct sources sources = sources_of(world);
	uint32_t id = world_replica(world, "a", "s1")->target->id;
	struct slot slot = ledger_acquire(world->facts->ledger, id, 10, 20, world->now);

	(void)state;
#define GAUGE "inference_spoa_replica_inflight_requests{instance=\"a\",replica=\"s1\"} "
	assert_true(page_has(world, sources, GAUGE "1"));
	assert_true(ledger_release(world->facts->ledger, slot, world->now));
	assert_true(page_has(world, sources, GAUGE "0"));
	/* Nobody ever releases this one: the page shows the pruned value. */
	(void)ledger_acquire(world->facts->ledger, id, 10, 20, world->now);
	world->now += world->policy.ledger_ttl + world->policy.ledger_width;
	assert_true(page_has(world, sources, GAUGE "0"));
	assert_true(
	        page_has(world, sources,
	                 "inference_spoa_slots_expired_total{instance=\"a\",replica=\"s1\"} 1"));
	world_free(world);
}

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

static void names_and_labels_keep_the_rules(void **state)
{
	static const char *const types[] = { "counter", "gauge", "histogram", NULL };
	static const char *const labels[] = { "alarm",     "cause",  "class",  "code",     "commit",
		                              "direction", "engine", "fault",  "haproxy",  "hash",
		                              "instance",  "kind",   "level",  "libs",     "of",
		                              "op",        "path",   "reason", "replica",  "result",
		                              "source",    "stage",  "state",  "strategy", "type",
		                              "version",   NULL };
	char text[128];

	(void)state;
	for (size_t i = 0; metric_at(i); i++) {
		const struct metric *metric = metric_at(i);
		size_t len = strlen(metric->name);
		bool total = len > 6 && strcmp(metric->name + len - 6, "_total") == 0;

		assert_int_equal(strspn(metric->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
		                 len);
		assert_true(is_one_of(metric->type, types));
		assert_int_equal(total, strcmp(metric->type, "counter") == 0);
		assert_int_equal(metric->help[strlen(metric->help) - 1], '.');
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(metric->name, metric_at(k)->name);
		(void)snprintf(text, sizeof(text), "%s", metric->labels);
		for (char *label = strtok(text, ","); label; label = strtok(NULL, ","))
			assert_true(is_one_of(label, labels));
	}
}

static size_t lines_of(const struct world *world)
{
	struct sources sources = sources_of((struct world *)(uintptr_t)world);
	size_t lines = 0;
	size_t len;
	char *text = print(&sources, &len);

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	free(text);
	return lines;
}

/* Whatever clients send, the set of series stays as it is. */
static void traffic_of_strangers_adds_no_series(void **state)
{
	struct world *world = world_new(2, 4);
	struct rng rng = { .state = 7 };
	size_t before;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct request request =
		        world_ask_long(world, 8192, 4096, rng_next(&rng) % 50, rng_next(&rng));
		char text[3][32];

		for (int k = 0; k < 3; k++)
			(void)snprintf(text[k], sizeof(text[k]), "%016llx",
			               (unsigned long long)rng_next(&rng));
		request.tenant = SPAN(text[0]);
		request.session = SPAN(text[1]);
		request.path = SPAN(text[2]);
		if (i % 10 == 0)
			request.model = SPAN(text[0]);
		(void)world_decide(world, request);
		world->now += MSEC;
		/* By then each reason that such traffic has was seen. */
		if (i == 50000)
			before = lines_of(world);
	}
	assert_int_equal(lines_of(world), before);
	world_free(world);
}

static void the_same_labels_never_come_twice(void **state)
{
	struct world *world = world_new(1, 1);
	/* Another HAProxy calls another engine s1. */
	struct server_fact other = { SPAN("a"), SPAN("s1"), SPAN("10.9.9.9:8000"), .weight = 1,
		                     .up = true };
	struct sources sources = sources_of(world);

	(void)state;
	(void)fleet_apply(world->facts->fleet, 1, &other, 1, world->now, facts_forget,
	                  world->facts);
	assert_int_equal(world_instance(world, "a")->replica_count, 2);
	assert_true(page_has(world, sources,
	                     "inference_spoa_replica_inflight_requests{instance=\"a\","
	                     "replica=\"s1\"} 0"));
	assert_true(page_has(world, sources,
	                     "inference_spoa_replica_inflight_requests{instance=\"a\","
	                     "replica=\"10.9.9.9:8000\"} 0"));
	world_free(world);
}

static void with_many_replicas_histograms_are_by_instance(void **state)
{
	struct world *world = world_new(1, 65);
	struct sources sources = sources_of(world);
	struct target_counters *of = world->facts->counters->of;

	(void)state;
	histogram_add(&of[world_instance(world, "a")->target->id].ttft, &bounds_ttft, 1);
	histogram_add(&of[world_instance(world, "a")->target->id].ttft, &bounds_ttft, 2);
	assert_true(
	        page_has(world, sources, "inference_spoa_ttft_seconds_count{instance=\"a\"} 2"));
	assert_true(page_has(world, sources, "inference_spoa_ttft_seconds_sum{instance=\"a\"} 3"));
	assert_true(page_has(world, sources,
	                     "inference_spoa_ttft_seconds_bucket{instance=\"a\",le=\"1\"} 1"));
	world_free(world);
}

static void what_is_unknown_has_no_line(void **state)
{
	struct world *world = admin_world();
	struct sources sources = sources_of(world);
	size_t len;
	char *text = print(&sources, &len);

	(void)state;
	assert_null(strstr(text, "kv_capacity_tokens{"));
	assert_null(strstr(text, "waiting_requests{instance=\"a\",replica=\"s2\"}"));
	assert_null(strstr(text, "haproxy_age_seconds{haproxy=\"odd"));
	assert_non_null(strstr(text, "haproxy_up{haproxy=\"odd\\\"na\\\\me?\"} 0\n"));
	free(text);
	world_free(world);
}

static void a_thousand_pages_need_no_more_memory(void **state)
{
	struct world *world = admin_world();
	struct sources sources = sources_of(world);
	size_t used = 0;
	size_t len;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		free(print(&sources, &len));
		if (i == 9)
			used = mallinfo2().uordblks;
	}
	assert_int_equal(mallinfo2().uordblks, used);
	world_free(world);
}

static void promtool_finds_nothing_wrong(void **state)
{
	char path[512];
	char command[600];

	(void)state;
	if (system("command -v promtool >/dev/null") != 0) {
		print_message("no promtool here: not checked\n");
		skip();
	}
	golden_path("metrics.txt", path);
	(void)snprintf(command, sizeof(command), "promtool check metrics < '%s'", path);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest metrics[] = {
		cmocka_unit_test(the_page_is_as_agreed),
		cmocka_unit_test(the_gauge_is_true_after_every_event),
		cmocka_unit_test(names_and_labels_keep_the_rules),
		cmocka_unit_test(traffic_of_strangers_adds_no_series),
		cmocka_unit_test(the_same_labels_never_come_twice),
		cmocka_unit_test(with_many_replicas_histograms_are_by_instance),
		cmocka_unit_test(what_is_unknown_has_no_line),
		cmocka_unit_test(a_thousand_pages_need_no_more_memory),
		cmocka_unit_test(promtool_finds_nothing_wrong),
	};

	return cmocka_run_group_tests(metrics, NULL, NULL);
}
