/* agent.c - makes every part, runs the loop, and takes all apart again.
 *
 * Order of birth: policy, facts, decider; then who observes; then who listens, so
 * that the first question finds everything in place. Death goes the other way. */
#include "spoa/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"
#include "spoa/command.h"

static const double sweep_seconds = 5;
static const double flush_seconds = 0.05;
static const double pulse_seconds = 0.1;
static const usec_t drain_time = 2 * SECOND;

enum { FETCHES_AT_ONCE = 128, STALL_MS = 100 };

static const struct fleet_limits fleet_limits = { .instances = 1024,
	                                          .replicas = 4096,
	                                          .models = 2048 };

static int64_t wall_ms(void)
{
	return (int64_t)(clock_wall() / MSEC);
}

static const char *stage_name(const struct stage *stage)
{
	return stage ? stage->name : "";
}

static struct decision_words words_now(const struct agent *agent)
{
	return (struct decision_words){
		.now = clock_monotonic(),
		.wall_ms = wall_ms(),
		.stages = { pipeline_stage, stage_name },
		.ladder = &agent->facts->policy->ladder,
	};
}

/* ---- timers and signals */

static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;

	(void)loop;
	(void)events;
	feedback_sweep(agent->facts, clock_monotonic(), agent_on_expired, agent);
}

static void on_flush(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;
	struct decision_words words = words_now(agent);

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
	agent_reload(watcher->data);
}

static void on_drain(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent *agent = timer->data;

	(void)events;
	if (spop_server_counters(agent->server)->open == 0 ||
	    clock_monotonic() >= agent->drain_until)
		ev_break(loop, EVBREAK_ALL);
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
	journal_say(
	        &agent->journal, LOGGED_NOTICE,
	        "ending: no new connections, %u requests are open at HAProxy and go on without us",
	        inflight_count(agent->facts->inflight));
	spop_server_drain(agent->server);
	agent->drain_until = clock_monotonic() + drain_time;
	ev_timer_start(loop, &agent->drain);
}

/* ---- birth */

static uint64_t drawn_seed(const struct run_options *options)
{
	uint64_t seed = options->seed;

	if (seed == 0 && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = clock_wall();
	return seed;
}

/* False, and said, when there is no memory or a value does not fit. */
static bool make_journal(struct agent *agent)
{
	int level = journal_level_named(agent->options.log_level);

	if (level < 0) {
		(void)fprintf(stderr,
		              "inference-spoa run: --log-level: expected error, warning, notice, "
		              "info or debug, not %s\n",
		              agent->options.log_level);
		return false;
	}
	journal_init(&agent->journal, STDERR_FILENO, level,
	             strcmp(agent->options.log_format, "json") == 0, clock_monotonic);
	return true;
}

static bool make_deciders(struct agent *agent)
{
	const struct policy *policy = policy_file_policy(agent->policy_file);

	agent->facts = facts_new(policy, &fleet_limits);
	if (!agent->facts)
		return false;
	agent->decider = decider_new(agent->facts, drawn_seed(&agent->options));
	agent->decisions = decision_log_new(DECISION_LOG_DEFAULT);
	if (!agent->decider || !agent->decisions)
		return false;
	agent->messages = (struct message_context){
		.facts = agent->facts,
		.decider = agent->decider,
		.observe = agent->options.observe,
		.now = clock_monotonic,
		.on_decision = agent_on_decision,
		.on_first_byte = agent_on_first_byte,
		.data = agent,
	};
	return true;
}

static bool make_observers(struct agent *agent, struct error *error)
{
	struct observe observe = {
		.loop = agent->loop,
		.facts = agent->facts,
		.now = clock_monotonic,
		.log = { .say = journal_text, .data = &agent->journal },
	};
	struct discovery_options discovery = {
		.sources = agent->options.haproxy.at,
		.source_count = agent->options.haproxy.count,
		.skip = agent->options.skip.at,
		.skip_count = agent->options.skip.count,
	};
	struct discovery_events events = agent_discovery_events(agent);
	struct scraper_options scraping = { .seed = drawn_seed(&agent->options) };
	struct models_options asking = { .seed = drawn_seed(&agent->options) };

	agent->fetch = fetch_new(agent->loop, FETCHES_AT_ONCE);
	agent->receiver = log_receiver_new(&observe, agent_on_line, agent);
	if (!agent->fetch || !agent->receiver)
		return error_set(error, "out of memory");
	agent->models = models_new(&observe, agent->fetch, &asking);
	agent->scraper = scraper_new(&observe, agent->fetch, &scraping);
	if (!agent->models || !agent->scraper)
		return error_set(error, "out of memory");
	agent->discovery = discovery_new(&observe, &discovery, &events, error);
	return agent->discovery != NULL;
}

static bool listen_for_logs(struct agent *agent, struct error *error)
{
	for (uint32_t i = 0; i < agent->options.log_listen.count; i++) {
		if (!log_receiver_listen(agent->receiver, agent->options.log_listen.at[i], error))
			return false;
	}
	return true;
}

static bool listen_for_haproxy(struct agent *agent, struct error *error)
{
	struct spop_server_options options = spop_server_options_default();

	options.log = (struct notice_sink){ journal_text, &agent->journal };
	agent->server = spop_server_new(agent->loop, &options, &agent->messages);
	if (!agent->server)
		return error_set(error, "out of memory");
	for (uint32_t i = 0; i < agent->options.spop.count; i++) {
		/* Address number i belongs to HAProxy number i, where there are as many. */
		struct spop_listen_options listen = {
			.source = i < agent->options.haproxy.count ? i : 0,
		};

		if (!spop_server_listen(agent->server, agent->options.spop.at[i], &listen, error))
			return false;
	}
	return true;
}

static bool listen_for_people(struct agent *agent, struct error *error)
{
	struct admin_options options = {
		.addresses = agent->options.admin.at,
		.address_count = agent->options.admin.count,
	};

	agent->admin_context = (struct admin_context){
		.facts = agent->facts,
		.decisions = agent->decisions,
		.fill = agent_fill_counters,
		.data = agent,
		.now = clock_monotonic,
		.wall_ms = wall_ms,
		.stages = { pipeline_stage, stage_name },
	};
	if (options.address_count == 0)
		return true;
	agent->admin = admin_new(agent->loop, &options, &agent->admin_context, error);
	return agent->admin != NULL;
}

static bool stream_decisions(struct agent *agent, struct error *error)
{
	const char *text = agent->options.log_decisions;
	char *end = NULL;
	unsigned long every;

	if (strcmp(text, "off") == 0)
		return true;
	every = strcmp(text, "all") == 0 ? 1 : strtoul(text, &end, 10);
	if (every == 0 || every > 1000000 || (end && *end))
		return error_set(error, "--log-decisions: expected off, all or a number, not %s",
		                 text);
	if (fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK) < 0)
		return error_set(error, "--log-decisions: cannot write to stdout without waiting");
	decision_log_stream(agent->decisions, STDOUT_FILENO, (uint32_t)every);
	ev_timer_start(agent->loop, &agent->flush);
	return true;
}

static bool tell_ready(const struct agent *agent, struct error *error)
{
	FILE *file;

	if (!agent->options.ready_file)
		return true;
	file = fopen(agent->options.ready_file, "w");
	if (!file)
		return error_set(error, "--ready-file: cannot write %s", agent->options.ready_file);
	(void)fprintf(file, "%ld\n", (long)getpid());
	return fclose(file) == 0 ||
	       error_set(error, "--ready-file: cannot write %s", agent->options.ready_file);
}

static void start_watchers(struct agent *agent)
{
	ev_signal_init(&agent->on_hup, on_hup, SIGHUP);
	ev_signal_init(&agent->on_term, on_end, SIGTERM);
	ev_signal_init(&agent->on_int, on_end, SIGINT);
	ev_timer_init(&agent->sweep, on_sweep, sweep_seconds, sweep_seconds);
	ev_timer_init(&agent->flush, on_flush, flush_seconds, flush_seconds);
	ev_timer_init(&agent->pulse, on_pulse, pulse_seconds, pulse_seconds);
	ev_timer_init(&agent->drain, on_drain, 0.01, 0.01);
	agent->on_hup.data = agent->on_term.data = agent->on_int.data = agent;
	agent->sweep.data = agent->flush.data = agent->pulse.data = agent->drain.data = agent;
	agent->pulse_due = clock_monotonic() + (usec_t)(pulse_seconds * 1e6);
	ev_signal_start(agent->loop, &agent->on_hup);
	ev_signal_start(agent->loop, &agent->on_term);
	ev_signal_start(agent->loop, &agent->on_int);
	ev_timer_start(agent->loop, &agent->sweep);
	ev_timer_start(agent->loop, &agent->pulse);
}

static bool make_all(struct agent *agent, struct error *error)
{
	agent->loop = ev_loop_new(EVFLAG_AUTO);
	if (!agent->loop || !make_deciders(agent))
		return error_set(error, "out of memory");
	start_watchers(agent);
	return make_observers(agent, error) && listen_for_logs(agent, error) &&
	       listen_for_haproxy(agent, error) && listen_for_people(agent, error) &&
	       stream_decisions(agent, error) && tell_ready(agent, error);
}

struct agent *agent_new(const struct run_options *options)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	struct error error = { "" };

	if (!agent)
		return NULL;
	agent->options = *options;
	agent->started_ms = agent->reloaded_ms = wall_ms();
	if (!make_journal(agent)) {
		agent_free(agent);
		return NULL;
	}
	agent->policy_file = agent_load_policy(agent);
	if (!agent->policy_file) {
		agent_free(agent);
		return NULL;
	}
	if (!make_all(agent, &error)) {
		journal_say(&agent->journal, LOGGED_ERROR, "cannot start: %s", error.text);
		agent_free(agent);
		return NULL;
	}
	return agent;
}

int agent_run(struct agent *agent)
{
	discovery_start(agent->discovery);
	models_start(agent->models);
	if (!agent->options.no_scrape)
		scraper_start(agent->scraper);
	journal_say(&agent->journal, LOGGED_NOTICE,
	            "inference-spoa " INFERENCE_SPOA_VERSION
	            " is ready: policy %s, %u HAProxy sockets, decisions at %s",
	            policy_file_name(agent->policy_file), agent->options.haproxy.count,
	            agent->options.spop.count ? agent->options.spop.at[0] : "-");
	if (agent->options.haproxy.count == 0)
		journal_say(&agent->journal, LOGGED_WARNING,
		            "no --haproxy socket was given: no server is known, HAProxy balances "
		            "alone");
	ev_run(agent->loop, 0);
	return EXIT_OK;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	if (agent->decisions && agent->facts) {
		struct decision_words words = words_now(agent);

		decision_log_flush(agent->decisions, &words);
	}
	admin_free(agent->admin);
	spop_server_free(agent->server);
	log_receiver_free(agent->receiver);
	discovery_free(agent->discovery);
	scraper_free(agent->scraper);
	models_free(agent->models);
	fetch_free(agent->fetch);
	decision_log_free(agent->decisions);
	decider_free(agent->decider);
	facts_free(agent->facts);
	policy_file_free(agent->policy_file);
	if (agent->loop)
		ev_loop_destroy(agent->loop);
	free(agent);
}
