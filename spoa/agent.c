/* agent.c - makes every part, runs the loop, and takes all apart again.
 *
 * Order of birth: policy, facts, decider; then who observes; then who listens, so
 * that the first question finds everything in place. Death goes the other way. */
#include "spoa/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"
#include "spoa/command.h"

enum { FETCHES_AT_ONCE = 128 };

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

struct decision_words agent_words(const struct agent *agent)
{
	return (struct decision_words){
		.now = clock_monotonic(),
		.wall_ms = wall_ms(),
		.stages = { pipeline_stage, stage_name },
		.ladder = &agent->facts->policy->ladder,
	};
}

static uint64_t drawn_seed(const struct run_options *options)
{
	uint64_t seed = options->seed;

	if (seed == 0 && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = clock_wall();
	return seed;
}

static void make_journal(struct agent *agent)
{
	journal_init(&agent->journal, STDERR_FILENO, journal_level_named(agent->options.log_level),
	             strcmp(agent->options.log_format, "json") == 0, clock_monotonic);
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
		.credential = &agent->credential,
	};
	struct discovery_options discovery = {
		.sources = agent->options.haproxy.at,
		.source_count = agent->options.haproxy.count,
		.skip = agent->options.skip.at,
		.skip_count = agent->options.skip.count,
		.keep = agent->options.keep.at,
		.keep_count = agent->options.keep.count,
	};
	struct discovery_events events = agent_discovery_events(agent);
	struct scraper_options scraping = { .seed = drawn_seed(&agent->options) };
	struct models_options asking = { .seed = drawn_seed(&agent->options) };

	agent_read_credential(agent);
	agent->fetch = fetch_new(agent->loop, FETCHES_AT_ONCE);
	agent->receiver = log_receiver_new(&observe, agent_on_line, agent);
	if (!agent->fetch || !agent->receiver)
		return error_set(error, "out of memory");
	agent->scraper = scraper_new(&observe, agent->fetch, agent->profiles, &scraping);
	if (agent->scraper)
		agent->models = models_new(&observe, agent->fetch, agent->scraper, &asking);
	if (agent->scraper)
		agent->probe = probe_new(&observe, agent->fetch, agent->scraper,
		                         drawn_seed(&agent->options));
	agent->health_said =
	        calloc(fleet_targets_max(agent->facts->fleet), sizeof(*agent->health_said));
	if (!agent->models || !agent->scraper || !agent->probe || !agent->health_said)
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

/* The server keeps its own back, each kind for itself. */
static void on_notice(void *data, int level, const char *text)
{
	struct agent *agent = data;

	journal_line(&agent->journal, level, text);
}

static bool listen_for_haproxy(struct agent *agent, struct error *error)
{
	struct spop_server_options options = spop_server_options_default();

	options.log = (struct notice_sink){ on_notice, agent };
	agent->server = spop_server_new(agent->loop, &options, &agent->messages);
	if (!agent->server)
		return error_set(error, "out of memory");
	for (uint32_t i = 0; i < agent->options.spop.count; i++) {
		/* Address number i belongs to HAProxy number i, where there are as many. */
		struct spop_listen_options listen = {
			.source = i < agent->options.haproxy.count ? i : 0,
			.mode = agent->options.socket_mode,
			.user = agent->options.socket_user,
			.group = agent->options.socket_group,
		};

		if (!spop_server_listen(agent->server, agent->options.spop.at[i], &listen, error))
			return false;
	}
	return true;
}

static bool reload(void *data)
{
	return agent_reload(data);
}

static bool listen_for_checks(struct agent *agent, struct error *error)
{
	const struct addresses *addresses = &agent->options.agent_check;
	struct observe observe = {
		.loop = agent->loop,
		.facts = agent->facts,
		.now = clock_monotonic,
		.log = { .say = journal_text, .data = &agent->journal },
	};

	if (addresses->count == 0)
		return true;
	agent->agent_check = agent_check_new(&observe);
	if (!agent->agent_check)
		return error_set(error, "out of memory");
	for (uint32_t i = 0; i < addresses->count; i++)
		if (!agent_check_listen(agent->agent_check, addresses->at[i], error))
			return false;
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
		.decider = agent->decider,
		.store = agent->store,
		.fill = agent_fill_counters,
		.reload = reload,
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
	uint32_t every = strcmp(text, "all") == 0 ? 1 : (uint32_t)strtoul(text, NULL, 10);

	if (every == 0) /* "off" */
		return true;
	if (fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK) < 0)
		return error_set(error, "--log-decisions: cannot write to stdout without waiting");
	decision_log_stream(agent->decisions, STDOUT_FILENO, every);
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

static bool make_all(struct agent *agent, struct error *error)
{
	agent->loop = ev_loop_new(EVFLAG_AUTO);
	if (!agent->loop || !make_deciders(agent))
		return error_set(error, "out of memory");
	agent_watch(agent);
	return make_observers(agent, error) && agent_store_start(agent, error) &&
	       listen_for_logs(agent, error) && listen_for_haproxy(agent, error) &&
	       listen_for_checks(agent, error) && listen_for_people(agent, error) &&
	       stream_decisions(agent, error) && tell_ready(agent, error);
}

struct agent *agent_new(const struct run_options *options, int *ret_left)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	struct error error = { "" };

	*ret_left = EXIT_FAILED;
	if (!agent)
		return NULL;
	agent->options = *options;
	agent->started_ms = agent->reloaded_ms = wall_ms();
	make_journal(agent);
	notify_open(&agent->notify);
	if (options->policy)
		file_watch_init(&agent->policy_watch, options->policy);
	agent->policy_file = agent_load_policy(agent);
	agent->profiles = agent_load_profiles(agent);
	if (!agent->policy_file || !agent->profiles) {
		*ret_left = EXIT_USAGE;
	} else if (make_all(agent, &error)) {
		return agent;
	} else {
		journal_say(&agent->journal, LOGGED_ERROR, "cannot start: %s", error.text);
	}
	agent_free(agent);
	return NULL;
}

int agent_run(struct agent *agent)
{
	discovery_start(agent->discovery);
	models_start(agent->models);
	probe_start(agent->probe);
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
	notify_tell(&agent->notify, "READY=1\nSTATUS=policy %s, decisions at %s",
	            policy_file_name(agent->policy_file),
	            agent->options.spop.count ? agent->options.spop.at[0] : "-");
	ev_run(agent->loop, 0);
	return EXIT_OK;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	if (agent->decisions && agent->facts) {
		struct decision_words words = agent_words(agent);

		decision_log_flush(agent->decisions, &words);
	}
	admin_free(agent->admin);
	spop_server_free(agent->server);
	agent_check_free(agent->agent_check);
	log_receiver_free(agent->receiver);
	discovery_free(agent->discovery);
	probe_free(agent->probe);
	free(agent->health_said);
	models_free(agent->models);
	scraper_free(agent->scraper);
	engine_profiles_free(agent->profiles);
	fetch_free(agent->fetch);
	decision_log_free(agent->decisions);
	store_free(agent->store);
	decider_free(agent->decider);
	facts_free(agent->facts);
	policy_file_free(agent->policy_file);
	if (agent->loop) {
		agent_unwatch(agent);
		ev_loop_destroy(agent->loop);
	}
	notify_close(&agent->notify);
	free(agent);
}
