/* test_strategies.c - every strategy of the table on one fixed fleet, and without the data it
 * would go by: what it scores, what it falls to; and that it goes where its own number is
 * best. Proves R132, R141, R144, R145, R147, R149, R150, R153, B030, P060. */
#include "policies/blend.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "tests/policies/world.h"
#include "tests/spoa/golden.h"

enum { SERVERS = 6 };

static uint32_t id_of(struct world *world, size_t i)
{
	return world_replica(world, "a", world->names[i][1])->target->id;
}

static void answer(struct world *world, size_t i, double ttft_ms, double e2e_ms)
{
	struct latency *latency = averages_of(world->facts->averages, id_of(world, i));

	average_add(&latency->ttft_ms, ttft_ms, 30 * SECOND, world->now);
	average_add(&latency->e2e_ms, e2e_ms, 60 * SECOND, world->now);
}

/* Two pages ten seconds apart, the last one now. */
static void page(struct world *world, size_t i, double tokens_per_s, double waiting,
                 double kv_usage)
{
	struct engine_page read = engine_page_blank(world->now - 10 * SECOND);
	struct growth growth;

	read.running = 8;
	read.prompt_tokens = read.generation_tokens = read.token_seconds = read.token_gaps = 0;
	(void)rates_learn(world->facts->rates, id_of(world, i), &read, &growth);
	read.at = world->now;
	read.waiting = waiting;
	read.kv_usage = kv_usage;
	read.generation_tokens = read.token_gaps = 10 * tokens_per_s;
	read.prompt_tokens = 20 * tokens_per_s;
	read.token_seconds = 80;
	(void)rates_learn(world->facts->rates, id_of(world, i), &read, &growth);
	engines_put(world->facts->engines, id_of(world, i), &read);
}

static struct request prompt(struct world *world)
{
	struct request request = world_ask_long(world, 40000, 40000, 7, 7);

	request.tenant = SPAN("acme");
	request.session = SPAN("s-1");
	return request;
}

static void holder(struct world *world, size_t best)
{
	struct request request = prompt(world);
	struct span none = { NULL, 0 };
	struct span ladder = SPAN(world->policy.ladder.id);
	uint64_t chain[LADDER_BLOCKS_MAX];

	prefix_chain(NULL, prefix_name_space(&ladder, &none, &none, &none), request.hashes, 12,
	             chain);
	prefix_index_confirm(world->facts->prefix, id_of(world, best), chain, 12,
	                     &world->policy.ladder, world->now);
}

/* s1 holds the prompt and is busy; s2 is idle; s3 is fast; s4's cache is full; s5 is slow; s6
 * is like none of them. */
static struct world *fixture(bool informed)
{
	static const uint32_t running[SERVERS] = { 6, 1, 5, 2, 3, 4 };
	struct world *world = world_new(1, SERVERS);

	for (size_t i = 0; i < SERVERS; i++)
		world_busy(world, "a", world->names[i][1], running[i]);
	world->now += 20 * SECOND;
	world_apply(world);
	if (!informed)
		return world;
	for (size_t i = 0; i < SERVERS; i++) {
		answer(world, i, 200 + 100 * (double)i, 4000 - 500 * (double)i);
		page(world, i, i == 2 ? 3000 : i == 4 ? 500 : 1000, (double)i, i == 3 ? 0.95 : 0.3);
	}
	holder(world, 0);
	return world;
}

static void print_level(FILE *out, const struct level_trace *trace)
{
	char described[BLEND_TEXT_MAX];

	blend_describe(trace->strategy, described);
	(void)fprintf(out, "  %s%s%s: %s\n", trace->degraded ? "lacks its data, " : "",
	              trace->strategy->name, trace->strategy->blended ? ", blended" : "",
	              described);
	for (size_t s = 1; s <= SERVERS; s++) {
		for (size_t i = 0; i < trace->count; i++) {
			const struct candidate *candidate = &trace->pool[i];

			if (candidate->replica->name[0][1] != (char)('0' + s))
				continue;
			(void)fprintf(out, "  s%zu running %g", s, candidate->running);
			if (candidate->dropped_by)
				(void)fprintf(out, " dropped by %s\n", candidate->dropped_by->name);
			else
				(void)fprintf(out, " score %.4f%s\n", candidate->score,
				              i == trace->chosen ? " <- chosen" : "");
		}
	}
}

static void explain_all(bool informed, const char *golden)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; strategy_at(i); i++) {
		struct world *world = fixture(informed);
		struct request request = informed ? prompt(world) : world_ask(world);
		struct decision decision;

		request.strategy = SPAN(strategy_at(i)->name);
		request.backend = SPAN("a");
		decider_explain(world->decider, &request, world->now, &decision);
		(void)fprintf(out, "%s: reason %s\n", strategy_at(i)->name,
		              reason_name(decision.reason));
		assert_int_equal(decision.asked, ASKED_TAKEN);
		print_level(out, &decision.levels[1]);
		world_free(world);
	}
	assert_int_equal(fclose(out), 0);
	golden_compare(golden, text, len);
	free(text);
}

static void every_row_on_one_fixed_fleet(void **state)
{
	(void)state;
	explain_all(true, "strategies.txt");
}

static void every_row_without_its_data(void **state)
{
	(void)state;
	explain_all(false, "strategies_unknown.txt");
}

static bool reads_running(const struct strategy *strategy)
{
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		if (strategy->weighings[i].signal == &signal_running)
			return true;
	}
	return false;
}

/* Without any page, average, hash, tenant or session the idlest is taken, by whatever is left
 * that counts requests; who draws or looks a minute back is left out. */
static void without_data_nobody_is_random_in_disguise(void **state)
{
	size_t looked_at = 0;

	(void)state;
	for (size_t i = 0; strategy_at(i); i++) {
		const struct strategy *row = strategy_at(i);
		struct world *world = fixture(false);
		struct request request = world_ask(world);
		struct decision decision;

		request.strategy = SPAN(row->name);
		decision = world_decide(world, request);
		if (row->picker == &picker_best && strcmp(row->name, "least-busy-time") != 0 &&
		    reads_running(decision.levels[1].strategy)) {
			expect_server(&decision, "s2");
			looked_at++;
		}
		world_free(world);
	}
	assert_true(looked_at >= 10);
}

/* What makes one server the best for a strategy, all else being equal. */
static void less_busy(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		if (i != best)
			world_busy(world, "a", world->names[i][1], 2);
	world->now += 20 * SECOND;
	world_apply(world);
}

static void sooner_done(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		answer(world, i, 300, i == best ? 2000 : 4000);
}

static void emptier_cache(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		page(world, i, 1000, 2, i == best ? 0.2 : 0.6);
}

static void shorter_queue(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		page(world, i, 1000, i == best ? 0 : 4, 0.2);
}

static void fewer_tokens(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		page(world, i, i == best ? 800 : 1000, 2, 0.2);
}

static void more_capacity(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		page(world, i, i == best ? 3000 : 1000, 2, 0.2);
}

static void quicker_start(struct world *world, size_t best)
{
	const struct instance *instance = world_instance(world, "a");

	for (size_t i = 0; i < SERVERS; i++)
		for (int k = 0; k < 10; k++)
			(void)ttft_fit_add(world->facts->ttft_fits, instance, id_of(world, i),
			                   k * 1000.0, 0.05 + k * (i == best ? 0.05 : 0.2));
}

static void holder_of_known_queues(struct world *world, size_t best)
{
	for (size_t i = 0; i < SERVERS; i++)
		page(world, i, 1000, 2, 0.2);
	holder(world, best);
}

static void each_goes_where_its_own_number_is_best(void **state)
{
	static const struct {
		const char *name;
		void (*favour)(struct world *world, size_t best);
	} rows[] = {
		{ "least-request", less_busy },
		{ "least-request-top-k:1", less_busy },
		{ "power-of-two:1", less_busy },
		{ "least-busy-time", less_busy },
		{ "load-balance", more_capacity },
		{ "load-balance", emptier_cache },
		{ "least-latency", sooner_done },
		{ "least-kv-cache", emptier_cache },
		{ "least-utilization", shorter_queue },
		{ "throughput:100", fewer_tokens },
		{ "prefix-cache", holder },
		{ "prefix-cache-preble", holder },
		{ "queue-kv-prefix", holder_of_known_queues },
		{ "queue-kv-prefix", shorter_queue },
		{ "predicted-ttft", quicker_start },
		{ "least-work", holder },
		{ "global-best", less_busy },
		{ "prefix-cache:2,least-latency", holder },
	};

	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++) {
		for (size_t best = 0; best < SERVERS; best++) {
			struct world *world = world_new(1, SERVERS);
			struct request request;
			struct decision decision;

			world->now += 20 * SECOND;
			world_apply(world);
			rows[row].favour(world, best);
			request = prompt(world);
			request.strategy = SPAN(rows[row].name);
			decision = world_decide(world, request);
			assert_int_equal(decision.asked, ASKED_TAKEN);
			if (strcmp(server_of(&decision), world->names[best][1]) != 0)
				fail_msg("%s takes %s, not %s", rows[row].name,
				         server_of(&decision), world->names[best][1]);
			world_free(world);
		}
	}
}

/* Engines at 2:1 speed, by capacity 2:1 of the requests. */
static void load_balance_divides_by_speed(void **state)
{
	struct world *world = world_new(1, 2);
	uint32_t got[2] = { 0 };

	(void)state;
	world->now += 20 * SECOND;
	world_apply(world);
	page(world, 0, 2000, 0, 0.2);
	page(world, 1, 1000, 0, 0.2);
	world_strategy(world, "load-balance");
	for (int i = 0; i < 300; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		got[strcmp(server_of(&decision), "s2") == 0]++;
	}
	assert_true(got[0] >= 190 && got[0] <= 210);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_on_one_fixed_fleet),
		cmocka_unit_test(every_row_without_its_data),
		cmocka_unit_test(without_data_nobody_is_random_in_disguise),
		cmocka_unit_test(each_goes_where_its_own_number_is_best),
		cmocka_unit_test(load_balance_divides_by_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
