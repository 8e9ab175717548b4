/* metrics_agent.c - the agent, its wire, its HAProxy processes, its pages. */
#include <inttypes.h>
#include <stdio.h>

#include "spoa/admin/metrics.h"
#include "spoa/admin/sources.h"

static const double loop_lag[] = { 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1 };
const struct bounds bounds_loop_lag = { loop_lag, sizeof(loop_lag) / sizeof(loop_lag[0]) };

#define AS_NAME(id, name) name,
static const char *const frame_names[] = { AGENT_FRAMES(AS_NAME) };
static const char *const scrape_names[] = { AGENT_SCRAPES(AS_NAME) };
static const char *const check_names[] = { AGENT_CHECKS(AS_NAME) };
static const char *const alarm_names[] = { AGENT_ALARMS(AS_NAME) };
#undef AS_NAME

#define AS_PATH(id, path, who, help) path,
static const char *const route_paths[ROUTE_COUNT] = { ROUTES(AS_PATH) "other" };
#undef AS_PATH

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static void one(struct page *page, const char *label, double value)
{
	page_sample(page, &label, value);
}

static void plain(struct page *page, double value)
{
	page_sample(page, NULL, value);
}

void metric_build_info(struct page *page, const struct sources *sources)
{
	const char *values[] = { text_or_empty(sources->agent.version),
		                 text_or_empty(sources->agent.commit),
		                 text_or_empty(sources->agent.libraries) };

	page_sample(page, values, 1);
}

void metric_config_info(struct page *page, const struct sources *sources)
{
	char hash[20] = "default";

	if (sources->agent.policy_hash != 0)
		(void)snprintf(hash, sizeof(hash), "%016" PRIx64, sources->agent.policy_hash);
	one(page, hash, 1);
}

void metric_process_cpu(struct page *page, const struct sources *sources)
{
	plain(page, sources->process.cpu_seconds);
}

void metric_process_memory(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->process.resident_bytes);
}

void metric_process_virtual(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->process.virtual_bytes);
}

void metric_process_fds(struct page *page, const struct sources *sources)
{
	plain(page, sources->process.open_fds);
}

void metric_process_max_fds(struct page *page, const struct sources *sources)
{
	plain(page, sources->process.max_fds);
}

void metric_process_start(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.started_ms / 1000.0);
}

void metric_loop_lag(struct page *page, const struct sources *sources)
{
	page_histogram(page, NULL, &sources->agent.loop_lag, &bounds_loop_lag);
}

void metric_loop_stalls(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.loop_stalls);
}

void metric_reloads(struct page *page, const struct sources *sources)
{
	one(page, "ok", (double)sources->agent.reloads_ok);
	one(page, "refused", (double)sources->agent.reloads_refused);
}

void metric_reloaded(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.reloaded_ms / 1000.0);
}

void metric_alarms(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < AGENT_ALARM_COUNT; i++)
		one(page, alarm_names[i], sources->agent.alarms[i]);
}

void metric_spop_connections(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.spop_connections);
}

void metric_spop_handshakes(struct page *page, const struct sources *sources)
{
	one(page, "accepted", (double)sources->agent.spop_accepted);
	one(page, "check", (double)sources->agent.spop_checks);
	one(page, "refused", (double)sources->agent.spop_refused);
}

void metric_spop_frames(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < AGENT_FRAME_COUNT; i++)
		one(page, frame_names[i], (double)sources->agent.spop_frames[i]);
}

/* Few of the hundred codes are ever seen: the others have no line. */
void metric_spop_errors(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < AGENT_SPOP_CODES; i++) {
		char code[4];

		if (sources->agent.spop_errors[i] == 0)
			continue;
		(void)snprintf(code, sizeof(code), "%zu", i);
		one(page, code, (double)sources->agent.spop_errors[i]);
	}
}

void metric_spop_bad_arguments(struct page *page, const struct sources *sources)
{
	plain(page, (double)sources->agent.spop_bad_arguments);
}

void metric_haproxy_up(struct page *page, const struct sources *sources)
{
	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++)
		one(page, text_or_empty(sources->agent.haproxy[i].name),
		    sources->agent.haproxy[i].up);
}

void metric_haproxy_info(struct page *page, const struct sources *sources)
{
	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++) {
		const struct agent_haproxy *haproxy = &sources->agent.haproxy[i];
		const char *values[] = { text_or_empty(haproxy->name),
			                 text_or_empty(haproxy->version) };

		page_sample(page, values, 1);
	}
}

void metric_haproxy_age(struct page *page, const struct sources *sources)
{
	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++) {
		const struct agent_haproxy *haproxy = &sources->agent.haproxy[i];

		if (haproxy->age_ms >= 0)
			one(page, text_or_empty(haproxy->name), (double)haproxy->age_ms / 1000.0);
	}
}

void metric_haproxy_reloads(struct page *page, const struct sources *sources)
{
	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++)
		one(page, text_or_empty(sources->agent.haproxy[i].name),
		    (double)sources->agent.haproxy[i].reloads);
}

void metric_haproxy_dropped_logs(struct page *page, const struct sources *sources)
{
	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++)
		one(page, text_or_empty(sources->agent.haproxy[i].name),
		    (double)sources->agent.haproxy[i].dropped_logs);
}

void metric_scrapes(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < AGENT_SCRAPE_COUNT; i++)
		one(page, scrape_names[i], (double)sources->agent.scrapes[i]);
}

void metric_agent_checks(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < AGENT_CHECK_COUNT; i++)
		one(page, check_names[i], (double)sources->agent.checks[i]);
}

void metric_admin_requests(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; sources->routes && i < ROUTE_COUNT; i++) {
		for (size_t class = 2; class < 6; class ++) {
			char code[] = { (char)('0' + class), 'x', 'x', '\0' };
			const char *values[] = { route_paths[i], code };

			if (sources->routes->answers[i][class] > 0)
				page_sample(page, values,
				            (double)sources->routes->answers[i][class]);
		}
	}
}

void metric_decision_lines(struct page *page, const struct sources *sources)
{
	struct decision_log_counts counts;

	if (!sources->decisions)
		return;
	counts = decision_log_counts(sources->decisions);
	one(page, "written", (double)counts.lines);
	one(page, "dropped", (double)counts.dropped);
}
