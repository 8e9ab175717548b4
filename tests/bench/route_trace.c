/* route_trace.c - how well the library routes a recorded trace, beside how others would:
 * same engines, same requests, same clock, which is virtual. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/defaults.h"
#include "policies/strategies.h"
#include "spoa/replay/play_agents.h"
#include "tests/bench/peers.h"

static const double speeds[] = { 1, 1.5, 2 };
enum { SPEEDS = sizeof(speeds) / sizeof(speeds[0]) };

static double oracle[SPEEDS]; /* mean TTFT */

static void print(const char *name, size_t speed, const struct play_result *got)
{
	if (strcmp(name, "oracle") == 0)
		oracle[speed] = got->ttft_mean;
	(void)printf("%s %g %.3f %.3f %.3f %.3f %.3f %.3f\n", name, speeds[speed], got->ttft_mean,
	             got->ttft_p50, got->ttft_p99, got->hit_share, got->most_over_mean,
	             oracle[speed] > 0 ? got->ttft_mean / oracle[speed] : 0);
	(void)fflush(stdout);
}

static bool played(const struct trace *trace, size_t speed, const struct chooser *chooser,
                   const char *name)
{
	struct play_settings settings = play_settings_default();
	struct play_result got;

	settings.speed = speeds[speed];
	if (!play(trace, &settings, chooser, NULL, NULL, &got) || got.answered != trace->count)
		return false;
	print(name, speed, &got);
	return true;
}

static bool play_peer(const struct trace *trace, size_t speed, const char *name)
{
	struct peer_router *peer = peer_new(name, play_settings_default().replicas);
	struct chooser chooser;
	bool good = peer != NULL;

	if (good) {
		chooser = peer_chooser(peer);
		good = played(trace, speed, &chooser, name);
	}
	peer_free(peer);
	return good;
}

/* lag: what each of several agents learns the others hear so much later; 0: never. */
static bool play_ours(const struct trace *trace, size_t speed, const char *strategy, uint32_t count,
                      usec_t lag)
{
	struct policy policy;
	struct play_agents_settings settings = { .policy = &policy,
		                                 .strategy = strategy,
		                                 .replicas = play_settings_default().replicas,
		                                 .agents = count,
		                                 .scraped = true,
		                                 .seed = 42,
		                                 .shared = lag > 0,
		                                 .lag = lag };
	struct play_agents *agents;
	struct chooser chooser;
	char name[64];
	bool good;

	policy_default(&policy);
	agents = play_agents_new(&settings);
	good = agents != NULL;
	if (lag > 0)
		(void)snprintf(name, sizeof(name), "%s-by-%u-sharing-%ums", strategy, count,
		               (unsigned)(lag / MSEC));
	else if (count > 1)
		(void)snprintf(name, sizeof(name), "%s-by-%u", strategy, count);
	else
		(void)snprintf(name, sizeof(name), "%s", strategy);
	if (good) {
		chooser = play_agents_chooser(agents);
		good = played(trace, speed, &chooser, name);
	}
	play_agents_free(agents);
	return good;
}

static bool play_all(const struct trace *trace, size_t speed)
{
	const struct strategy *strategy;
	bool good = true;

	for (size_t i = 0; peer_name(i) && good; i++)
		good = play_peer(trace, speed, peer_name(i));
	for (size_t i = 0; (strategy = strategy_at(i)) && good; i++)
		good = play_ours(trace, speed, strategy->name, 1, 0);
	for (uint32_t count = 2; count <= 8 && good; count *= 2)
		good = play_ours(trace, speed, "least-work", count, 0) &&
		       play_ours(trace, speed, "least-work", count, 100 * MSEC) &&
		       play_ours(trace, speed, "least-work", count, SECOND);
	return good;
}

int main(int argc, char **argv)
{
	struct error error = { "" };
	struct policy policy;
	struct trace *trace;
	bool good;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: route_trace TRACE.jsonl\n");
		return 2;
	}
	policy_default(&policy);
	trace = trace_load(argv[1], &policy.ladder, &error);
	if (!trace) {
		(void)fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	/* The clock of the public one ticks every three seconds. */
	trace_spread(trace, 3 * SECOND, 1);
	good = true;
	(void)printf("strategy load ttft_mean_s ttft_p50_s ttft_p99_s hit_share most_over_mean "
	             "mean_over_oracle\n");
	for (size_t speed = 0; speed < SPEEDS && good; speed++)
		good = play_all(trace, speed);
	trace_free(trace);
	if (!good)
		(void)fprintf(stderr, "route_trace: not all were answered\n");
	return good ? 0 : 1;
}
