/* test_error_magnet.c - one of four replicas answers 500 in a millisecond: it always has the
 * least in flight, and must not get the traffic for that; docs/strategies.md. Proves B032,
 * P076. */
#include "policies/ejection.h"
#include "tests/policies/sent.h"

enum { REQUESTS = 1000, AT_ONCE = 8 };

static const usec_t good = 300 * MSEC, bad = MSEC;

struct open {
	struct sent sent;
	usec_t until;
	bool fails;
	char id[32];
};

/* One of them ends, and the next request takes its place. */
static struct open *first_to_end(struct open *open)
{
	struct open *first = &open[0];

	for (int i = 1; i < AT_ONCE; i++) {
		if (open[i].until < first->until)
			first = &open[i];
	}
	return first;
}

/* Every prompt is another. */
static void begin(struct world *world, uint32_t magnet, uint64_t number, struct open *ret_open)
{
	struct open *open = ret_open;
	struct request request = world_ask_long(world, 4000, 4000, 100 + number, 0);

	snprintf(open->id, sizeof(open->id), "%s", world->id);
	open->sent = send_to(world, request);
	open->sent.id = SPAN(open->id);
	open->fails = open->sent.chosen == magnet;
	open->until = world->now + (open->fails ? bad : good);
}

static uint32_t failed_of(const char *strategy)
{
	struct world *world = world_new(1, 4);
	uint32_t magnet = world_replica(world, "a", "s1")->target->id;
	struct open open[AT_ONCE];
	uint32_t failed = 0;

	world_strategy(world, strategy);
	for (uint64_t i = 0; i < AT_ONCE; i++)
		begin(world, magnet, i, &open[i]);
	for (uint64_t i = AT_ONCE; i < REQUESTS; i++) {
		struct open *ended = first_to_end(open);

		world->now = ended->until;
		failed += ended->fails;
		(void)ends(&ended->sent, "----", ended->fails ? 500 : 200);
		if (i % 20 == 0) { /* its health page is in order */
			ejection_probed(world->facts, magnet, true, world->now);
			ejection_look(world->facts, world->now);
		}
		begin(world, magnet, i, ended);
	}
	world_free(world);
	return failed;
}

static void who_fails_fast_gets_few(void **state)
{
	const char *const strategies[] = { "least-request", "least-work", "soft-k-choice",
		                           "random" };

	(void)state;
	for (size_t i = 0; i < COUNT(strategies); i++) {
		uint32_t failed = failed_of(strategies[i]);

		if (failed > 20)
			fail_msg("%s: %u of %d failed", strategies[i], failed, REQUESTS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(who_fails_fast_gets_few) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
