/* agent_events.c - what the parts tell us, passed on to who must know. */
#include <stdio.h>

#include "policies/feedback.h"
#include "spoa/agent_parts.h"
#include "spoa/clock.h"

void agent_on_decision(void *data, const struct request *request, const struct decision *decision,
                       usec_t took)
{
	struct agent *agent = data;
	usec_t now = clock_monotonic();

	line_watch_decided(&agent->line_watch, now);
	histogram_add(&agent->facts->counters->decision_seconds, &bounds_decision,
	              (double)took / 1e6);
	decision_log_decided(agent->decisions, request, decision, now, took);
}

void agent_on_first_byte(void *data, const struct first_byte *event,
                         const struct feedback *feedback)
{
	struct agent *agent = data;

	decision_log_first_byte(agent->decisions, event, feedback, clock_monotonic());
}

static void ask_for_models(struct agent *agent, uint32_t target)
{
	models_hurry(agent->models, target);
	journal_say(&agent->journal, LOGGED_NOTICE,
	            "%s: answered 404 for a model that it should serve, and is asked for its list",
	            fleet_target(agent->facts->fleet, target)->label);
}

void agent_on_line(void *data, struct span line)
{
	struct agent *agent = data;
	struct log_line read;
	enum log_line_result result = log_line_read(line, &read);
	usec_t now = clock_monotonic();
	struct feedback feedback;

	agent->lines[result]++;
	if (result == LOG_LINE_EARLY)
		journal_say(&agent->journal, LOGGED_ERROR,
		            "HAProxy logs before a stream ends, slots cannot be released: its "
		            "log-format "
		            "must be ours, without option logasap");
	if (result != LOG_LINE_OK)
		return;
	line_watch_line(&agent->line_watch);
	if (!discovery_source_of(agent->discovery, read.process, &read.end.by.source))
		read.end.by.source = 0;
	feedback = feedback_end(agent->facts, &read.end, now);
	if (feedback.missed)
		ask_for_models(agent, feedback.target);
	if (!feedback.duplicate)
		decision_log_ended(agent->decisions, &read.end, &feedback, now);
}

void agent_on_expired(void *data, uint32_t target, uint32_t slots)
{
	struct agent *agent = data;
	const struct target *who = fleet_target(agent->facts->fleet, target);

	char line[NAME_MAX_BYTES + 128];

	(void)snprintf(line, sizeof(line),
	               "%s: %u slots expired, their end lines never came; its count is corrected",
	               who ? who->label : "a target that is gone", slots);
	journal_line(&agent->journal, LOGGED_WARNING, line); /* one a target, none is kept back */
}

static void on_change(void *data, uint32_t source, const struct fleet_change *change)
{
	struct agent *agent = data;

	(void)source;
	agent_look(agent); /* who is new shall not get everything until the next look */
	if (change->instances_added || change->instances_gone || change->replicas_added ||
	    change->replicas_gone || change->replicas_moved)
		journal_say(
		        &agent->journal, LOGGED_NOTICE,
		        "fleet: %zu instances (+%u -%u), replicas +%u -%u, %u at another address",
		        fleet_instance_count(agent->facts->fleet), change->instances_added,
		        change->instances_gone, change->replicas_added, change->replicas_gone,
		        change->replicas_moved);
	if (change->refused)
		journal_say(&agent->journal, LOGGED_WARNING,
		            "fleet: %u servers are beyond the limits and left out",
		            change->refused);
}

static void on_up(void *data, uint32_t source, const struct discovery_source *state)
{
	struct agent *agent = data;

	(void)source;
	journal_say(&agent->journal, LOGGED_NOTICE, "HAProxy %s answers: version %s, pid %u",
	            state->address, state->version, state->pid);
}

static void on_down(void *data, uint32_t source, const struct discovery_source *state)
{
	struct agent *agent = data;

	(void)source;
	journal_say(&agent->journal, LOGGED_WARNING,
	            "HAProxy %s does not answer (%s): servers stay as last seen", state->address,
	            state->error);
}

static void on_reload(void *data, uint32_t source, const struct discovery_source *state)
{
	struct agent *agent = data;

	(void)source;
	journal_say(&agent->journal, LOGGED_NOTICE, "HAProxy %s was reloaded: pid %u",
	            state->address, state->pid);
}

static void on_gone(void *data, uint32_t source, uint32_t released)
{
	struct agent *agent = data;

	(void)source;
	journal_say(&agent->journal, LOGGED_WARNING,
	            "HAProxy number %u is gone: %u slots of its streams are released", source,
	            released);
}

struct discovery_events agent_discovery_events(struct agent *agent)
{
	return (struct discovery_events){
		.on_change = on_change,
		.on_up = on_up,
		.on_down = on_down,
		.on_reload = on_reload,
		.on_gone = on_gone,
		.data = agent,
	};
}
