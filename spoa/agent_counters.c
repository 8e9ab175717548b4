/* agent_counters.c - the numbers that only the agent has, for the admin pages. */
#include <curl/curl.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"

static void fill_server(const struct agent *agent, struct agent_counters *ret)
{
	const struct spop_server_counters *from = spop_server_counters(agent->server);

	ret->spop_connections = from->open;
	ret->spop_accepted = from->accepted;
	ret->spop_checks = from->checks;
	ret->spop_refused = from->refused;
	ret->spop_frames[AGENT_FRAME_HELLO] =
	        from->frames[FRAME_HAPROXY_HELLO] + from->frames[FRAME_AGENT_HELLO];
	ret->spop_frames[AGENT_FRAME_NOTIFY] = from->frames[FRAME_HAPROXY_NOTIFY];
	ret->spop_frames[AGENT_FRAME_ACK] = from->frames[FRAME_AGENT_ACK];
	ret->spop_frames[AGENT_FRAME_DISCONNECT] =
	        from->frames[FRAME_HAPROXY_DISCONNECT] + from->frames[FRAME_AGENT_DISCONNECT];
	for (int i = 0; i < AGENT_SPOP_CODES; i++)
		ret->spop_errors[i] = from->errors[i] + from->peer_errors[i];
	for (int i = 0; i < ROUTE_ARGUMENT_COUNT; i++)
		ret->spop_bad_arguments += agent->messages.counters.bad_route_arguments[i];
	for (int i = 0; i < FIRST_ARGUMENT_COUNT; i++)
		ret->spop_bad_arguments += agent->messages.counters.bad_first_arguments[i];
}

static void fill_lines(const struct agent *agent, struct agent_counters *ret)
{
	struct log_receiver_counts counts = log_receiver_counts(agent->receiver);

	ret->log_ok = agent->lines[LOG_LINE_OK];
	ret->log_foreign = agent->lines[LOG_LINE_FOREIGN] + agent->lines[LOG_LINE_EVENT];
	ret->log_bad = agent->lines[LOG_LINE_FIELD] + agent->lines[LOG_LINE_VALUE] +
	               agent->lines[LOG_LINE_EARLY] + counts.too_long;
	ret->log_cut = counts.cut;
	ret->log_lost = counts.kernel_drops;
}

static void fill_haproxy(const struct agent *agent, struct agent_counters *ret)
{
	usec_t now = clock_monotonic();

	ret->haproxy_count = (uint32_t)discovery_source_count(agent->discovery);
	for (uint32_t i = 0; i < ret->haproxy_count; i++) {
		const struct discovery_source *from = discovery_source_at(agent->discovery, i);

		ret->haproxy[i] = (struct agent_haproxy){
			.name = from->address,
			.version = from->version,
			.up = from->up,
			.pid = from->pid,
			.reloads = from->reloads,
			.dropped_logs = from->dropped_logs,
			.age_ms = from->answered ? (int64_t)((now - from->answered) / MSEC) : -1,
		};
		if (!from->up)
			ret->alarms[AGENT_ALARM_HAPROXY] = true;
	}
}

static void fill_scrapes(const struct agent *agent, struct agent_counters *ret)
{
	struct scraper_counts counts = scraper_counts(agent->scraper);

	ret->scrapes[AGENT_SCRAPE_OK] = counts.good;
	ret->scrapes[AGENT_SCRAPE_TIMEOUT] = counts.late;
	ret->scrapes[AGENT_SCRAPE_REFUSED] = counts.refused;
	ret->scrapes[AGENT_SCRAPE_STATUS] = counts.status;
	ret->scrapes[AGENT_SCRAPE_BAD] = counts.no_page;
}

static uint32_t weight_said(const void *weights, uint32_t target)
{
	return server_weight_said(weights, target);
}

static void fill_checks(const struct agent *agent, struct agent_counters *ret)
{
	struct agent_check_counts counts;

	if (!agent->agent_check)
		return;
	counts = agent_check_counts(agent->agent_check);
	ret->checks[AGENT_CHECK_ANSWERED] = counts.answered;
	ret->checks[AGENT_CHECK_DRAINED] = counts.drained;
	ret->checks[AGENT_CHECK_UNKNOWN] = counts.unknown;
	ret->checks[AGENT_CHECK_DROPPED] = counts.dropped;
	ret->checks[AGENT_CHECK_REFUSED] = counts.refused;
	ret->check_weight = weight_said;
	ret->check_weights = agent_check_weights(agent->agent_check);
}

void agent_fill_counters(void *data, struct agent_counters *ret_counters)
{
	const struct agent *agent = data;

	ret_counters->version = INFERENCE_SPOA_VERSION;
	ret_counters->libraries = curl_version();
	ret_counters->policy_path = agent->options.policy ? agent->options.policy : "";
	ret_counters->started_ms = agent->started_ms;
	ret_counters->ready = !agent->draining;
	ret_counters->reloads_ok = agent->reloads_ok;
	ret_counters->reloads_refused = agent->reloads_refused;
	ret_counters->reloaded_ms = agent->reloaded_ms;
	ret_counters->alarms[AGENT_ALARM_POLICY] = agent->policy_refused;
	ret_counters->alarms[AGENT_ALARM_LOG] = agent->lines_missing;
	ret_counters->policy_hash = policy_file_hash(agent->policy_file);
	ret_counters->loop_lag = agent->loop_lag;
	ret_counters->loop_stalls = agent->loop_stalls;
	fill_server(agent, ret_counters);
	fill_lines(agent, ret_counters);
	fill_haproxy(agent, ret_counters);
	fill_scrapes(agent, ret_counters);
	fill_checks(agent, ret_counters);
}
