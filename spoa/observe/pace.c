/* pace.c - reads what comes often by the clock, not by each arrival. */
#include "spoa/observe/pace.h"

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pace *pace = timer->data;

	(void)events;
	if (pace->of.read(pace->of.data))
		return;
	ev_timer_stop(loop, timer);
	pace->of.watch(pace->of.data, true);
}

void pace_init(struct pace *pace, struct ev_loop *loop, const struct pace_of *of)
{
	pace->of = *of;
	pace->loop = loop;
	pace->since = 0;
	pace->woken = 0;
	ev_timer_init(&pace->timer, on_time, PACE_S, PACE_S);
	pace->timer.data = pace;
}

void pace_woken(struct pace *pace)
{
	ev_tstamp now = ev_now(pace->loop);

	if (pace_keeps(pace))
		return; /* it had arrived before the watching ceased */
	if (now - pace->since >= PACE_S) {
		pace->since = now;
		pace->woken = 0;
	}
	if (++pace->woken < PACE_WOKEN)
		return;
	pace->woken = 0;
	pace->of.watch(pace->of.data, false);
	ev_timer_again(pace->loop, &pace->timer);
}

bool pace_keeps(const struct pace *pace)
{
	struct ev_timer timer = pace->timer; /* the macro casts const away, which clang refuses */

	return ev_is_active(&timer);
}

void pace_stop(struct pace *pace)
{
	ev_timer_stop(pace->loop, &pace->timer);
}
