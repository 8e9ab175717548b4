/* test_pace.c - what comes often is read by the clock, and what does not at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/pace.h"
#include "tests/spoa/observe/loop.h"

struct source {
	unsigned waiting; /* readings that find something */
	unsigned readings;
	bool watched;
};

static bool read_source(void *data)
{
	struct source *source = data;

	source->readings++;
	if (source->waiting == 0)
		return false;
	source->waiting--;
	return true;
}

static void watch_source(void *data, bool watch)
{
	((struct source *)data)->watched = watch;
}

static bool watched(void *data)
{
	return ((struct source *)data)->watched;
}

static void begin(struct pace *pace, struct source *source)
{
	*source = (struct source){ .watched = true };
	pace_init(pace, ev_loop_new(EVFLAG_AUTO),
	          &(struct pace_of){ read_source, watch_source, source });
	ev_now_update(pace->loop);
}

static void wake(struct pace *pace, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		pace_woken(pace);
}

static void often_is_by_the_clock_until_there_is_nothing(void **state)
{
	struct pace pace;
	struct source source;

	(void)state;
	begin(&pace, &source);
	wake(&pace, PACE_WOKEN - 1);
	assert_true(source.watched);
	assert_false(pace_keeps(&pace));
	wake(&pace, 1);
	assert_false(source.watched);
	assert_true(pace_keeps(&pace));
	source.waiting = 3;
	assert_true(loop_until(pace.loop, watched, &source, 5));
	assert_int_equal(source.readings, 4);
	assert_false(pace_keeps(&pace));
	ev_loop_destroy(pace.loop);
}

/* What had arrived in the same turn of the loop is still told. */
static void arrivals_while_it_keeps_the_clock_change_nothing(void **state)
{
	struct pace pace;
	struct source source;

	(void)state;
	begin(&pace, &source);
	wake(&pace, 3 * PACE_WOKEN);
	assert_true(loop_until(pace.loop, watched, &source, 5));
	assert_int_equal(source.readings, 1);
	wake(&pace, PACE_WOKEN - 1);
	assert_true(source.watched);
	ev_loop_destroy(pace.loop);
}

static void arrivals_far_apart_are_each_read_at_once(void **state)
{
	struct pace pace;
	struct source source;

	(void)state;
	begin(&pace, &source);
	for (unsigned i = 0; i < 2 * PACE_WOKEN; i++) {
		wake(&pace, PACE_WOKEN / 2);
		loop_for(pace.loop, 1.5 * PACE_S);
	}
	assert_true(source.watched);
	assert_int_equal(source.readings, 0);
	ev_loop_destroy(pace.loop);
}

static void stopped_it_reads_no_more(void **state)
{
	struct pace pace;
	struct source source;

	(void)state;
	begin(&pace, &source);
	wake(&pace, PACE_WOKEN);
	pace_stop(&pace);
	pace_stop(&pace);
	loop_for(pace.loop, 3 * PACE_S);
	assert_int_equal(source.readings, 0);
	ev_loop_destroy(pace.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(often_is_by_the_clock_until_there_is_nothing),
		cmocka_unit_test(arrivals_while_it_keeps_the_clock_change_nothing),
		cmocka_unit_test(arrivals_far_apart_are_each_read_at_once),
		cmocka_unit_test(stopped_it_reads_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
