/* test_feedback_soak.c - a million events in any order leave no slot, and take no memory.
 * Proves R110, R121, R125. */
#include <malloc.h>

#include "policies/core/rng.h"
#include "tests/policies/sent.h"

static uint32_t expired;

static void on_expired(void *data, uint32_t target, uint32_t slots)
{
	(void)data;
	(void)target;
	expired += slots;
}

/* Property: whatever comes, and in whatever order, what was taken is given back. */
static void a_million_events_leave_nothing_behind(void **state)
{
	enum { IDS = 600, EVENTS = 1000000 };
	static struct sent open[IDS];
	static char ids[IDS][32];
	struct world *world = *state;
	const char *const terminations[] = { "----", "CD--", "SH--", "cR--", "LR--" };
	struct rng rng = { 8 };
	uint64_t decisions = 0;
	uint64_t expired_before;
	size_t allocated = mallinfo2().uordblks;

	expired = 0;
	for (int i = 0; i < EVENTS; i++) {
		size_t at = rng_next(&rng) % IDS;
		struct sent *sent = &open[at];
		uint64_t what = rng_next(&rng) % 16;
		bool moved = rng_next(&rng) % 8 == 0;
		struct stream_end end;

		pass(world, rng_next(&rng) % (5 * MSEC));
		if (!sent->world || what < 3) { /* some are never heard of again */
			struct request request = world_ask(world);

			*sent = send_to(world, request);
			memcpy(ids[at], world->id, sizeof(ids[at]));
			sent->id = SPAN(ids[at]);
			decisions++;
			if (decisions % 1000 == 0)
				feedback_sweep(world->facts, world->now, on_expired, NULL);
		} else if (what < 8) {
			(void)first_byte(sent, moved ? &sent->by_other : &sent->by, 200);
		} else if (what == 8) {
			feedback_late(world->facts, sent->id, world->now);
		} else {
			end = end_of(sent, terminations[rng_next(&rng) % COUNT(terminations)], 200);
			end.by = moved ? sent->by_other : sent->by;
			end.retries = moved;
			(void)tell(sent, &end);
			if (rng_next(&rng) % 4 != 0) /* else it will come twice */
				sent->world = NULL;
		}
	}
	assert_int_equal(mallinfo2().uordblks, allocated);
	pass(world, 606 * SECOND);
	expired_before = expired;
	feedback_sweep(world->facts, world->now, on_expired, NULL);
	assert_true(expired > expired_before && expired_before > 0);
	assert_idle(world);
	for (int i = 0; i < 10; i++) /* so many at a time */
		feedback_sweep(world->facts, world->now, on_expired, NULL);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest feedback[] = {
		TEST(a_million_events_leave_nothing_behind),
	};

	return cmocka_run_group_tests(feedback, NULL, NULL);
}
