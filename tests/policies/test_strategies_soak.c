/* test_strategies_soak.c - a million decisions over all strategies take no memory and leave
 * no count. Proves R125, B070. */
#include <malloc.h>

#include "policies/core/rng.h"
#include "policies/page.h"
#include "tests/policies/sent.h"

enum { OPEN = 64, DECISIONS = 1000000, PAGE_EVERY = 500 };

struct open_request {
	struct sent sent;
	char id[32], session[16], tenant[16];
};

/* What a busy engine's page may say. */
static void read_pages(struct world *world, struct rng *rng, double *counter)
{
	*counter += 1000;
	for (uint32_t id = 0; id < fleet_targets_max(world->facts->fleet); id++) {
		struct engine_page page = engine_page_blank(world->now);

		if (!fleet_target(world->facts->fleet, id))
			continue;
		page.running = (double)rng_below(rng, 20);
		page.waiting = (double)rng_below(rng, 5);
		page.kv_usage = rng_unit(rng);
		page.prompt_tokens = *counter * 10;
		page.generation_tokens = *counter;
		page.finished = *counter / 100;
		page.token_seconds = *counter / 50;
		page.token_gaps = *counter;
		(void)page_read(world->facts, id, &page);
	}
}

static void ask(struct world *world, struct rng *rng, const char *strategy,
                struct open_request *ret_open)
{
	uint64_t talk = rng_below(rng, 300);
	struct request request = world_ask_long(world, 1024 + rng_below(rng, 100000),
	                                        4096 * rng_below(rng, 9), talk % 7, talk + 100);

	(void)snprintf(ret_open->id, sizeof(ret_open->id), "%s", world->id);
	(void)snprintf(ret_open->session, sizeof(ret_open->session), "s%u", (unsigned)talk);
	(void)snprintf(ret_open->tenant, sizeof(ret_open->tenant), "t%u", (unsigned)talk % 20);
	request.id = SPAN(ret_open->id);
	request.session = SPAN(ret_open->session);
	request.tenant = SPAN(ret_open->tenant);
	request.strategy = SPAN(strategy);
	ret_open->sent = send_to(world, request);
	ret_open->sent.id = SPAN(ret_open->id);
}

static void finish(struct open_request *open, struct rng *rng)
{
	static const char *const terminations[] = { "----", "CD--", "SD--" };
	size_t how = rng_below(rng, 50);
	struct stream_end end;

	if (!open->sent.world)
		return;
	(void)first_byte(&open->sent, &open->sent.by, 200);
	end = end_of(&open->sent, terminations[how < 2 ? how + 1 : 0], 200);
	(void)tell(&open->sent, &end);
	open->sent.world = NULL;
}

static void a_million_decisions_leave_nothing_behind(void **state)
{
	static struct open_request open[OPEN];
	struct world *world = *state;
	struct rng rng = { 3 };
	double counter = 0;
	size_t allocated = mallinfo2().uordblks;
	size_t strategies = 0, row = 0;

	while (strategy_at(strategies))
		strategies++;
	for (int i = 0; i < DECISIONS; i++) {
		pass(world, 2 * MSEC);
		if (i % PAGE_EVERY == 0) {
			read_pages(world, &rng, &counter);
			row++;
		}
		finish(&open[i % OPEN], &rng);
		ask(world, &rng, strategy_at(row % strategies)->name, &open[i % OPEN]);
	}
	for (int i = 0; i < OPEN; i++)
		finish(&open[i], &rng);
	assert_int_equal(mallinfo2().uordblks, allocated);
	assert_idle(world);
	assert_int_equal(world->facts->counters->decisions, DECISIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_million_decisions_leave_nothing_behind,
		                                open_world, close_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
