/* test_lora_thrash.c - how often engines load adapters, and that one that is hot has enough
 * replicas; eight engines with four slots each. Proves B064. */
#include <math.h>

#include "tests/near.h"
#include "tests/policies/adapted.h"

enum { ENGINES = 8, SLOTS = 4, ADAPTERS = 16, OPEN_MAX = 512 };

/* An engine's own slots: the one used longest ago makes place. */
struct slots {
	uint32_t adapter[SLOTS];
	uint64_t used[SLOTS];
	uint32_t loads;
};

struct open {
	char id[32];
	double until;
	size_t engine;
	uint32_t adapter;
};

struct run {
	struct adapted *adapted;
	struct rng rng;
	double now_s, next_scrape;
	uint64_t uses;
	struct slots slots[ENGINES];
	struct open open[OPEN_MAX];
	uint32_t open_count;
	uint32_t sent[ADAPTERS][ENGINES];
	double most; /* in flight on the fullest engine, as part of the mean; at arrivals, summed */
	uint32_t arrivals;
};

static void begin_run(struct run *run, bool spread, const char *strategy)
{
	*run = (struct run){ .rng = { 7 } };
	run->adapted = adapted_new(1, ENGINES, ADAPTERS);
	run->adapted->world->policy.lora.spread = spread;
	world_strategy(run->adapted->world, strategy);
	for (size_t e = 0; e < ENGINES; e++)
		for (size_t s = 0; s < SLOTS; s++)
			run->slots[e].adapter[s] = UINT32_MAX;
}

static double exponential(struct run *run, double mean)
{
	return -log(1 - rng_unit(&run->rng)) * mean;
}

/* True when it had to be loaded. */
static bool use(struct run *run, size_t engine, uint32_t adapter)
{
	struct slots *slots = &run->slots[engine];
	size_t place = 0;

	for (size_t s = 0; s < SLOTS; s++) {
		if (slots->adapter[s] == adapter) {
			slots->used[s] = ++run->uses;
			return false;
		}
		if (slots->used[s] < slots->used[place])
			place = s;
	}
	slots->adapter[place] = adapter;
	slots->used[place] = ++run->uses;
	slots->loads++;
	return true;
}

static void end_due(struct run *run)
{
	for (uint32_t i = 0; i < run->open_count;) {
		struct span id = SPAN(run->open[i].id);

		if (run->open[i].until > run->now_s) {
			i++;
			continue;
		}
		world_end(run->adapted->world, id);
		run->open[i] = run->open[--run->open_count];
	}
}

static void note_evenness(struct run *run)
{
	double most = 0, sum = 0;
	char server[8];

	for (size_t e = 0; e < ENGINES; e++) {
		double running;

		snprintf(server, sizeof(server), "s%zu", e + 1);
		running = world_running(run->adapted->world, "a", server);
		sum += running;
		most = running > most ? running : most;
	}
	run->most += most / (sum / ENGINES);
	run->arrivals++;
}

/* Each second engines say which adapters have requests; as vLLM, not which lie there idle. */
static void scrape(struct run *run)
{
	struct world *world = run->adapted->world;
	char server[8];

	if (run->now_s < run->next_scrape)
		return;
	run->next_scrape = run->now_s + 1;
	for (size_t e = 0; e < ENGINES; e++) {
		struct engine_page page = engine_page_blank(world->now);
		struct engine_loras loras = { .at = world->now };

		for (uint32_t i = 0; i < run->open_count; i++) {
			uint64_t lora =
			        lora_id(SPAN(run->adapted->adapters[run->open[i].adapter].name));
			uint32_t k = 0;

			if (run->open[i].engine != e)
				continue;
			while (k < loras.active_count && loras.active[k] != lora)
				k++;
			loras.active[k] = lora;
			loras.active_count += k == loras.active_count && k < SLOTS;
		}
		page.lora_slots = SLOTS;
		page.lora_used = loras.active_count;
		snprintf(server, sizeof(server), "s%zu", e + 1);
		engines_put(world->facts->engines, adapted_target(run->adapted, server), &page);
		engines_put_loras(world->facts->engines, adapted_target(run->adapted, server),
		                  &loras);
	}
}

/* A request for it arrives, so long after the last one; a load takes 0.5 s. */
static void arrive(struct run *run, uint32_t adapter, double after)
{
	struct world *world = run->adapted->world;
	struct open *open = &run->open[run->open_count++];
	struct decision decision;
	size_t engine;

	assert_true(run->open_count <= OPEN_MAX);
	run->now_s += after;
	world->now = 1000 * SECOND + (usec_t)(run->now_s * 1e6);
	run->open_count--;
	end_due(run);
	scrape(run);
	open = &run->open[run->open_count++];
	decision = adapted_send(run->adapted, adapter);
	assert_non_null(decision.replica);
	memcpy(open->id, world->id, sizeof(open->id));
	engine = (size_t)atoi(server_of(&decision) + 1) - 1;
	run->sent[adapter][engine]++;
	open->engine = engine;
	open->adapter = adapter;
	open->until = run->now_s + exponential(run, 2) + (use(run, engine, adapter) ? 0.5 : 0);
	note_evenness(run);
}

/* The i-th most wanted of them is asked for 1 / (i + 1) as often as the first. */
static uint32_t some_adapter(struct run *run)
{
	double sum = 0, drawn;
	uint32_t i;

	for (i = 0; i < ADAPTERS; i++)
		sum += 1.0 / (i + 1);
	drawn = rng_unit(&run->rng) * sum;
	for (i = 0; i + 1 < ADAPTERS && drawn >= 1.0 / (i + 1); i++)
		drawn -= 1.0 / (i + 1);
	return i;
}

static uint32_t loads(const struct run *run)
{
	uint32_t sum = 0;

	for (size_t e = 0; e < ENGINES; e++)
		sum += run->slots[e].loads;
	return sum;
}

static uint32_t replicas_of(const struct run *run, uint32_t adapter)
{
	uint32_t count = 0;

	for (size_t e = 0; e < ENGINES; e++)
		count += run->sent[adapter][e] > 0;
	return count;
}

/* The part of its requests that went to the one that had most of them. */
static double most_at_one(const struct run *run, uint32_t adapter)
{
	uint32_t most = 0, sum = 0;

	for (size_t e = 0; e < ENGINES; e++) {
		sum += run->sent[adapter][e];
		most = run->sent[adapter][e] > most ? run->sent[adapter][e] : most;
	}
	return (double)most / sum;
}

/* 24 requests a second of 2 s each: 48 in flight, 6 an engine. */
static uint32_t loads_of(bool spread, const char *strategy, double *ret_most)
{
	struct run run;
	uint32_t count;

	begin_run(&run, spread, strategy);
	for (uint32_t i = 0; i < 12000; i++)
		arrive(&run, some_adapter(&run), exponential(&run, 1.0 / 24));
	*ret_most = run.most / run.arrivals;
	count = loads(&run);
	adapted_free(run.adapted);
	return count;
}

static void far_fewer_loads_than_by_load_alone(void **state)
{
	static const char *const strategies[] = { "least-work", "least-request", "soft-k-choice" };

	(void)state;
	for (size_t i = 0; i < COUNT(strategies); i++) {
		double most_spread, most;
		uint32_t by_load = loads_of(true, strategies[i], &most_spread);
		uint32_t bounded = loads_of(false, strategies[i], &most);

		assert_true(by_load > 6000);
		assert_true(bounded < by_load / 10);
		assert_true(most < 1.5);
		assert_true(most_spread < most);
	}
}

/* Nobody else is there: then it is loaded as often as there are replicas that it needs. */
static void a_quiet_fleet_loads_each_once(void **state)
{
	struct run run;

	(void)state;
	begin_run(&run, false, "least-work");
	for (uint32_t i = 0; i < 4000; i++)
		arrive(&run, i % 8, 1);
	assert_int_equal(loads(&run), 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(replicas_of(&run, i), 1);
	adapted_free(run.adapted);
}

/* Adapter 0 is asked for so often a second, and the others four times together. */
static void ask_for(struct run *run, double rate, double seconds)
{
	double until = run->now_s + seconds;

	memset(run->sent, 0, sizeof(run->sent));
	while (run->now_s < until) {
		bool hot = rng_unit(&run->rng) < rate / (rate + 4);
		uint32_t other = 1 + (uint32_t)rng_below(&run->rng, 7);

		arrive(run, hot ? 0 : other, exponential(run, 1 / (rate + 4)));
	}
}

static void it_grows_when_hot_and_shrinks_when_cold(void **state)
{
	struct run run;
	uint32_t cold, hot;

	(void)state;
	begin_run(&run, false, "least-work");
	ask_for(&run, 0.5, 120);
	cold = replicas_of(&run, 0);
	ask_for(&run, 24, 120); /* 48 of 56 in flight */
	hot = replicas_of(&run, 0);
	assert_int_equal(cold, 1);
	assert_true(hot >= 7);
	ask_for(&run, 0.5, 300);
	ask_for(&run, 0.5, 120);
	assert_true(replicas_of(&run, 0) <= 2);
	assert_true(most_at_one(&run, 0) > 0.9);
	adapted_free(run.adapted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(far_fewer_loads_than_by_load_alone),
		cmocka_unit_test(a_quiet_fleet_loads_each_once),
		cmocka_unit_test(it_grows_when_hot_and_shrinks_when_cold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
