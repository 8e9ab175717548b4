/* test_adapters_shown.c - LoRA adapters in lists, in metrics and in explained decisions. Proves
 * B064. */
#include "spoa/admin/explain.h"
#include "spoa/admin/metrics.h"
#include "spoa/admin/show.h"
#include "spoa/admin/state.h"
#include "spoa/web/listen.h"
#include "tests/spoa/admin/admin_world.h"
#include "tests/spoa/admin/printed.h"

static struct adapter_policy loadable = { .name = "tone", .model = "llama" };
static struct world *world;
static struct sources sources;

/* Three replicas: s1 and s2 list adapter sql; tone any of the base can load. */
static int begin(void **state)
{
	static const char *const servers[] = { "s1", "s2", "s3" };
	struct span names[] = { SPAN("llama"), SPAN("sql") };
	struct span bases[] = { { NULL, 0 }, SPAN("llama") };

	(void)state;
	world = world_new(1, 3);
	sources = sources_of(world);
	sources.decider = world->decider;
	world->policy.adapters = &loadable;
	world->policy.adapter_count = 1;
	facts_set_policy(world->facts, &world->policy);
	for (size_t i = 0; i < COUNT(servers); i++)
		(void)fleet_models(world->facts->fleet,
		                   world_replica(world, "a", servers[i])->target->id, names, bases,
		                   i < 2 ? 2 : 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static struct decision send(const char *model)
{
	struct request request = world_ask(world);

	request.model = SPAN(model);
	return world_decide(world, request);
}

/* Takes the object; the caller frees the text. */
static char *shown(json_t *object, void (*show)(const json_t *, FILE *))
{
	char *text = printed_by(show, object);

	json_decref(object);
	return text;
}

/* The metrics; the caller frees them. */
static char *printed(const struct sources *from)
{
	struct page page = { 0 };
	size_t len;

	metrics_print(&page, from);
	page_bytes(&page, "", 1);
	return page_give(&page, &len);
}

static void whose_they_are_how_hot_and_where(void **state)
{
	struct decision decision = send("sql");
	char expected[256], *text;

	(void)state;
	(void)send("sql");
	text = shown(state_adapters(&sources), show_adapters);
	(void)snprintf(expected, sizeof(expected),
	               "ADAPTER  BASE   INSTANCE  OPEN  HEAT  THERE\n"
	               "tone     llama  a            0   0.0  \n"
	               "sql      llama  a            2   2.0  %s\n",
	               server_of(&decision));
	assert_string_equal(text, expected);
	free(text);
}

static void numbers_of_adapters_are_published(void **state)
{
	struct engine_page page = engine_page_blank(world->now);
	struct decision decision = send("sql");
	char line[256];
	char *text;

	(void)state;
	(void)send("sql");
	page.lora_slots = 4;
	page.lora_used = 1;
	engines_put(world->facts->engines, decision.replica->target->id, &page);
	text = printed(&sources);
	assert_non_null(text);
	assert_non_null(strstr(text, "inference_spoa_adapters 2\n"));
	assert_non_null(strstr(text, "inference_spoa_adapters_spilled_total 0\n"));
#define EXPECT(name, value)                                                                        \
	(void)snprintf(line, sizeof(line),                                                         \
	               "inference_spoa_replica_adapter_" name                                      \
	               "{instance=\"a\",replica=\"%s\"} " value "\n",                              \
	               server_of(&decision));                                                      \
	assert_non_null(strstr(text, line))
	EXPECT("requests_total", "2");
	EXPECT("loads_total", "1");
	EXPECT("slots", "4");
	EXPECT("slots_used", "1");
#undef EXPECT
	free(text);
}

static void without_adapters_there_are_no_lines(void **state)
{
	struct world *plain = world_new(1, 2);
	struct sources of_plain = sources_of(plain);
	char *text = printed(&of_plain);

	(void)state;
	assert_non_null(text);
	assert_null(strstr(text, "replica_adapter_requests_total{"));
	assert_null(strstr(text, "replica_adapter_loads_total{"));
	assert_null(strstr(text, "replica_adapter_slots{"));
	assert_non_null(strstr(text, "inference_spoa_adapters 0\n"));
	free(text);
	world_free(plain);
}

static void explain_tells_the_base_and_over_how_many_it_is_spread(void **state)
{
	struct web_request asked = { .arguments = { { .name = "model", .value = "tone" } },
		                     .argument_count = 1 };
	json_t *object = explain_dry(&sources, &asked);
	json_t *level;
	char *text;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(object, "adapter_of")), "llama");
	level = json_array_get(json_object_get(object, "levels"), 1);
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(level, "adapter"), "wanted")),
	        1);
	assert_true(json_is_true(json_object_get(json_object_get(level, "adapter"), "narrowed")));
	text = shown(object, show_explain);
	assert_non_null(strstr(text, "  adapter of llama: heat 1.0, on 1 replica\n"));
	assert_non_null(strstr(text, "dropped by adapter"));
	free(text);
	for (int i = 0; i < 4; i++)
		(void)send("tone");
	text = shown(explain_dry(&sources, &asked), show_explain);
	assert_non_null(strstr(text, "  adapter of llama: heat 5.0, on 2 replicas\n"));
	free(text);
	asked.arguments[0].value = "llama";
	object = explain_dry(&sources, &asked);
	assert_null(json_object_get(object, "adapter_of"));
	text = shown(object, show_explain);
	assert_null(strstr(text, "adapter of"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whose_they_are_how_hot_and_where),
		TEST(numbers_of_adapters_are_published),
		cmocka_unit_test(without_adapters_there_are_no_lines),
		TEST(explain_tells_the_base_and_over_how_many_it_is_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
