/* test_herd_agents.c - by statistics: several agents, each of which knows what the others have in
 * flight only some time later, spread requests nearly as one agent would that has all of them.
 * Seeds are fixed. Proves B023, P058. */
#include <math.h>

#include "policies/pickers/pickers.h"
#include "tests/policies/agents.h"

enum { REPLICAS = 8, OPEN_MAX = 1024, IDS = 32 };

static const double per_second = 64, lasts_s = 2;

struct open {
	char id[IDS];
	uint32_t agent, server;
	usec_t until;
};

static struct {
	struct open open[OPEN_MAX];
	uint32_t count;
	uint32_t at[REPLICAS];
} crowd;

static void end_until(struct agents *agents, usec_t now)
{
	for (;;) {
		struct open *first = NULL;

		for (uint32_t i = 0; i < crowd.count; i++)
			if (!first || crowd.open[i].until < first->until)
				first = &crowd.open[i];
		if (!first || first->until > now)
			return;
		agents_until(agents, first->until);
		world_end(agents->of[first->agent], SPAN(first->id));
		crowd.at[first->server]--;
		*first = crowd.open[--crowd.count];
	}
}

static double drawn(struct rng *rng, double mean)
{
	return -mean * log(1 - rng_unit(rng));
}

static void arrive(struct agents *agents, struct rng *rng)
{
	struct open *open = &crowd.open[crowd.count];
	struct decision decision;

	assert_true(crowd.count < OPEN_MAX);
	open->agent = rng_below(rng, (uint32_t)agents->count);
	decision = world_decide(agents->of[open->agent], world_ask(agents->of[open->agent]));
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	memcpy(open->id, agents->of[open->agent]->id, sizeof(open->id));
	open->server = (uint32_t)(server_of(&decision)[1] - '1');
	open->until = agents->now + (usec_t)(drawn(rng, lasts_s) * 1e6);
	crowd.at[open->server]++;
	crowd.count++;
}

/* Standard deviation over the replicas. */
static double deviation_now(void)
{
	double mean = (double)crowd.count / REPLICAS, squares = 0;

	for (int i = 0; i < REPLICAS; i++)
		squares += (crowd.at[i] - mean) * (crowd.at[i] - mean);
	return sqrt(squares / REPLICAS);
}

/* How much more the fullest has than the mean. */
static double spread_now(void)
{
	uint32_t most = 0;

	for (int i = 0; i < REPLICAS; i++)
		most = crowd.at[i] > most ? crowd.at[i] : most;
	return (double)most * REPLICAS / crowd.count;
}

struct setting {
	size_t agents;
	usec_t lag;
	const char *k;
	bool known, silent;
	usec_t period;              /* 0: 100 ms */
	double (*spread_now)(void); /* NULL: that of the fullest */
};

static void set_k(struct agents *agents, const char *k)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct entry_policy *entry = world_entry(agents->of[i]);
		const struct option *option = option_named(picker_soft_k.options, SPAN("k"));

		world_strategy(agents->of[i], "soft-k-choice");
		assert_ptr_equal(entry->strategy->picker, &picker_soft_k);
		assert_true(option_set_text(option, entry->picker_settings, SPAN(k), NULL));
	}
}

/* Mean spread over 25 s, after 10 s in which it fills. */
static double spread(const struct setting *setting)
{
	struct agents *agents = agents_new(setting->agents, REPLICAS, 1);
	struct rng rng = { 1 };
	usec_t next = agents->now, start = agents->now;
	double sum = 0;
	int looks = 0;

	memset(&crowd, 0, sizeof(crowd));
	agents->lag = setting->lag;
	agents->known = setting->known;
	agents->silent = setting->silent;
	if (setting->period)
		agents->period = setting->period;
	set_k(agents, setting->k);
	while (next < start + 35 * SECOND) {
		end_until(agents, next);
		agents_until(agents, next);
		arrive(agents, &rng);
		next += (usec_t)(drawn(&rng, 1 / per_second) * 1e6);
		if (agents->now < start + 10 * SECOND)
			continue;
		sum += setting->spread_now ? setting->spread_now() : spread_now();
		looks++;
	}
	agents_free(agents);
	return sum / looks;
}

static void expect_no_herd(const char *k, bool known, double most)
{
	static const usec_t lags[] = { 100 * MSEC, SECOND };
	double one = spread(&(struct setting){ .agents = 1, .k = k, .known = known });

	for (size_t agents = 2; agents <= AGENTS_MAX; agents *= 4) {
		for (size_t i = 0; i < COUNT(lags); i++) {
			double all = spread(&(struct setting){
			        .agents = agents, .lag = lags[i], .k = k, .known = known });

			if (all > most * one)
				fail_msg("k %s, %zu agents, %g s late: %.3f, one alone %.3f", k,
				         agents, (double)lags[i] / 1e6, all, one);
		}
	}
}

static void a_stale_view_makes_no_herd(void **state)
{
	(void)state;
	expect_no_herd("2", true, 1.15);
}

static void nor_does_the_strict_choice_of_the_least(void **state)
{
	(void)state;
	expect_no_herd("1", true, 1.15);
}

static void nor_a_choice_that_widens_with_the_age(void **state)
{
	(void)state;
	expect_no_herd("auto", true, 1.3);
}

/* Of each word it is only known when it came; the way took a second. */
static void nor_a_view_that_is_older_than_is_known(void **state)
{
	(void)state;
	expect_no_herd("auto", false, 1.3);
}

/* As the store tells them: each 20 ms, and 10 ms on the way. What nobody can know in that time is
 * all that several agents lack; each 100 ms it is too much. */
static void told_each_20_ms_three_deviate_as_one(void **state)
{
	struct setting setting = {
		.agents = 1,
		.k = "2",
		.known = true,
		.period = 20 * MSEC,
		.spread_now = deviation_now,
	};
	double one = spread(&setting), three;

	(void)state;
	setting.agents = 3;
	setting.lag = 10 * MSEC;
	three = spread(&setting);
	if (three > 1.3 * one)
		fail_msg("standard deviation %.3f, of one alone %.3f", three, one);
	setting.period = 100 * MSEC;
	assert_true(spread(&setting) > three);
}

/* Told as often, but a second on the way: what each did since then is still known. */
static void told_each_20_ms_a_second_late_they_make_no_herd(void **state)
{
	struct setting setting = { .agents = 1, .k = "1", .known = true, .period = 20 * MSEC };
	double one = spread(&setting), three;

	(void)state;
	setting.agents = 3;
	setting.lag = SECOND;
	three = spread(&setting);
	if (three > 1.15 * one)
		fail_msg("%.3f, one alone %.3f", three, one);
}

/* 20 streams through one agent, a second late at the other; then the one is gone. */
static void who_is_busy_by_another_is_avoided_within_a_second(void **state)
{
	struct agents *agents = agents_new(2, 4, 1);
	struct decision decision;

	(void)state;
	agents->lag = 100 * MSEC;
	agents->known = true;
	world_busy(agents->of[0], "a", "s1", 20);
	agents_until(agents, agents->now + 1200 * MSEC);
	assert_true(world_running(agents->of[1], "a", "s1") == 20);
	for (int i = 0; i < 50; i++) {
		decision = world_decide(agents->of[1], world_ask(agents->of[1]));
		assert_string_not_equal(server_of(&decision), "s1");
		world_end(agents->of[1], SPAN(agents->of[1]->id));
	}
	agents->silent = true;
	agents_until(agents, agents->now + 3200 * MSEC);
	(void)peers_sweep(agents->of[1]->facts->peers, agents->now);
	assert_true(world_running(agents->of[1], "a", "s1") == 0);
	agents_free(agents);
}

/* Three agents under load: what each sees is what all have, as soon as all has arrived. */
static void all_see_the_sum_once_it_is_quiet(void **state)
{
	struct agents *agents = agents_new(3, REPLICAS, 1);
	struct rng rng = { 1 };

	(void)state;
	memset(&crowd, 0, sizeof(crowd));
	agents->lag = 100 * MSEC;
	agents->known = true;
	for (usec_t next = agents->now; crowd.count < 100; next += 15 * MSEC) {
		agents_until(agents, next);
		arrive(agents, &rng);
	}
	agents_until(agents, agents->now + SECOND);
	for (int server = 0; server < REPLICAS; server++) {
		char name[] = { 's', (char)('1' + server), '\0' };

		for (size_t i = 0; i < agents->count; i++)
			assert_true(fabs(world_running(agents->of[i], "a", name) -
			                 crowd.at[server]) < 1e-3);
	}
	agents_free(agents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stale_view_makes_no_herd),
		cmocka_unit_test(nor_does_the_strict_choice_of_the_least),
		cmocka_unit_test(nor_a_choice_that_widens_with_the_age),
		cmocka_unit_test(nor_a_view_that_is_older_than_is_known),
		cmocka_unit_test(told_each_20_ms_three_deviate_as_one),
		cmocka_unit_test(told_each_20_ms_a_second_late_they_make_no_herd),
		cmocka_unit_test(who_is_busy_by_another_is_avoided_within_a_second),
		cmocka_unit_test(all_see_the_sum_once_it_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
