/* agent_watch.c - the agent's timers and signals, and how it goes.
 *
 * Going takes three steps. First health checks fail, so that HAProxy asks nobody
 * here any more; what it still asks is answered. leave_time later, enough for two
 * checks of the configuration we ship, the connections are said goodbye to. When all
 * are closed, or after drain_time, the loop ends. A second signal ends it at once.
 *
 * Sockets that a service manager holds stay open when we go: who asks meanwhile waits
 * in them for our successor. Nobody needs to be told to stay away, so the first step is
 * left out and the gap is as short as it can be. */
#include <signal.h>
#include <string.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"

static const double sweep_seconds = 5;
static const double look_seconds = 1;
static const double flush_seconds = 0.02;
static const double pulse_seconds = 0.1;
static const double drain_seconds = 0.01;
static const usec_t leave_time = 800 * MSEC;
static const usec_t drain_time = 2 * SECOND;

enum { STALL_MS = 100 };

/* Said when it begins, and again only after a line came. */
static void look_for_lines(struct agent *agent, usec_t now)
{
	bool before = agent->lines_missing;

	agent->lines_missing =
	        line_watch_missing(&agent->line_watch, inflight_count(agent->facts->inflight), now);
	if (agent->lines_missing && !before)
		journal_say(&agent->journal, LOGGED_WARNING,
		            "no end line has come from HAProxy since %llu requests were decided: "
		            "check its log target and log-format",
		            (unsigned long long)agent->line_watch.decided);
}

static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	usec_t now = clock_monotonic();

	(void)loop;
	(void)events;
	feedback_sweep(agent->facts, now, agent_on_expired, agent);
	look_for_lines(agent, now);
}

static void look_for_policy(struct agent *agent)
{
	const struct run_options *options = &agent->options;

	if (options->watch_policy && options->policy &&
	    file_watch_look(&agent->policy_watch, options->policy))
		(void)agent_reload(agent);
}

static void on_health(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	agent_look(timer->data);
	look_for_policy(timer->data);
}

static void on_flush(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	struct decision_words words = agent_words(agent);

	(void)loop;
	(void)events;
	decision_log_flush(agent->decisions, &words);
}

static void on_pulse(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	usec_t now = clock_monotonic();
	usec_t late = now > agent->pulse_due ? now - agent->pulse_due : 0;

	(void)loop;
	(void)events;
	histogram_add(&agent->loop_lag, &bounds_loop_lag, (double)late / 1e6);
	if (late > STALL_MS * MSEC) {
		agent->loop_stalls++;
		journal_say(&agent->journal, LOGGED_WARNING,
		            "the event loop stood still for %llu ms; decisions waited that long",
		            (unsigned long long)(late / MSEC));
	}
	agent->pulse_due = now + (usec_t)(pulse_seconds * 1e6);
}

static void on_hup(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)loop;
	(void)events;
	(void)agent_reload(watcher->data);
}

static void on_drain(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	usec_t now = clock_monotonic();

	(void)events;
	if (now < agent->drain_from)
		return;
	if (!agent->drained) {
		agent->drained = true;
		spop_server_drain(agent->server);
		agent_store_leave(agent);
	}
	if (!agent_store_left(agent, now))
		return;
	if (spop_server_counters(agent->server)->open == 0 || now >= agent->drain_from + drain_time)
		ev_break(loop, EVBREAK_ALL);
}

/* Whether any HAProxy could still think that we are there. */
static bool is_known(const struct spop_server_counters *counters)
{
	return counters->open > 0 || counters->accepted > 0 || counters->checks > 0;
}

static void on_alive(struct ev_loop *loop, ev_timer *timer, int events)
{
	const struct agent *agent = timer->data;

	(void)loop;
	(void)events;
	notify_alive(&agent->notify);
}

/* Whether HAProxy asks at sockets that outlive us. */
static bool is_held(const struct addresses *spop)
{
	for (uint32_t i = 0; i < spop->count; i++) {
		if (strncmp(spop->at[i], "fd@", 3) != 0)
			return false;
	}
	return spop->count > 0;
}

static void on_end(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct agent *agent = watcher->data;

	(void)events;
	if (agent->draining) {
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	agent->draining = true;
	notify_tell(&agent->notify, "STOPPING=1");
	journal_say(&agent->journal, LOGGED_NOTICE,
	            "ending: %s, %u requests are open at HAProxy and go on without us",
	            is_held(&agent->options.spop) ? "who asks now waits for the next process"
	                                          : "health checks fail from now on",
	            inflight_count(agent->facts->inflight));
	agent->drain_from = clock_monotonic();
	if (!is_held(&agent->options.spop)) {
		spop_server_leave(agent->server);
		if (is_known(spop_server_counters(agent->server)))
			agent->drain_from += leave_time;
	}
	ev_timer_start(loop, &agent->drain);
}

static void begin_signal(struct agent *agent, ev_signal *watcher, int number,
                         void (*callback)(struct ev_loop *, ev_signal *, int))
{
	ev_signal_init(watcher, callback, number);
	watcher->data = agent;
	ev_signal_start(agent->loop, watcher);
}

static void make_timer(struct agent *agent, ev_timer *timer, double seconds,
                       void (*callback)(struct ev_loop *, ev_timer *, int))
{
	ev_timer_init(timer, callback, seconds, seconds);
	timer->data = agent;
}

void agent_watch(struct agent *agent)
{
	begin_signal(agent, &agent->on_hup, SIGHUP, on_hup);
	begin_signal(agent, &agent->on_term, SIGTERM, on_end);
	begin_signal(agent, &agent->on_int, SIGINT, on_end);
	make_timer(agent, &agent->sweep, sweep_seconds, on_sweep);
	make_timer(agent, &agent->look, look_seconds, on_health);
	make_timer(agent, &agent->flush, flush_seconds, on_flush);
	make_timer(agent, &agent->pulse, pulse_seconds, on_pulse);
	make_timer(agent, &agent->drain, drain_seconds, on_drain);
	make_timer(agent, &agent->alive, (double)agent->notify.watchdog / 1e6 / 2, on_alive);
	agent->pulse_due = clock_monotonic() + (usec_t)(pulse_seconds * 1e6);
	ev_timer_start(agent->loop, &agent->sweep);
	ev_timer_start(agent->loop, &agent->look);
	ev_timer_start(agent->loop, &agent->pulse);
	if (agent->notify.watchdog > 0)
		ev_timer_start(agent->loop, &agent->alive);
}

void agent_unwatch(struct agent *agent)
{
	ev_signal_stop(agent->loop, &agent->on_hup);
	ev_signal_stop(agent->loop, &agent->on_term);
	ev_signal_stop(agent->loop, &agent->on_int);
}
