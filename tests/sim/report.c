/* report.c - counts as outcomes come, prints at the end. */
#include "tests/sim/report.h"

#include <inttypes.h>
#include <string.h>

#include "tests/sim/clock.h"

static void write_line(const struct report *report, const struct report_tag *tag,
                       const struct client_outcome *outcome, const struct reply *reply)
{
	(void)fprintf(report->lines, "{\"request\":%" PRIu64, tag->request);
	if (tag->conversation >= 0)
		(void)fprintf(report->lines, ",\"conversation\":%" PRId64 ",\"turn\":%" PRId64,
		              tag->conversation, tag->turn);
	(void)fprintf(report->lines,
	              ",\"plan\":\"%s\",\"status\":%d,\"error\":\"%s\",\"served\":\"%s\","
	              "\"ttft_us\":%" PRId64 ",\"total_us\":%" PRId64 ",\"bytes\":%" PRIu64,
	              tag->plan, outcome->status, client_error_name(outcome->error),
	              outcome->served, outcome->ttft_us, outcome->total_us, outcome->body_bytes);
	if (reply && reply->prompt_tokens >= 0)
		(void)fprintf(report->lines,
		              ",\"prompt_tokens\":%" PRId64 ",\"cached_tokens\":%" PRId64
		              ",\"output_tokens\":%" PRId64,
		              reply->prompt_tokens, reply->cached_tokens, reply->output_tokens);
	(void)fprintf(report->lines, "}\n");
}

static void count_engine(struct report *report, const char *name)
{
	int i = 0;

	while (i < report->engine_count && strcmp(report->engines[i].name, name) != 0)
		i++;
	if (i == REPORT_ENGINES_MAX)
		return;
	if (i == report->engine_count) {
		memcpy(report->engines[i].name, name, strlen(name) + 1);
		report->engine_count++;
	}
	report->engines[i].count++;
}

void report_add(struct report *report, const struct report_tag *tag,
                const struct client_outcome *outcome, const struct reply *reply)
{
	bool good =
	        outcome->error == CLIENT_NONE && outcome->status == 200 && (!reply || reply->whole);

	report->requests++;
	report->answers += outcome->status > 0;
	report->resent += outcome->resent;
	report->failures += tag->must_succeed && !good;
	report->errors[outcome->error]++;
	if (outcome->status > 0 && outcome->status < REPORT_STATUS_MAX)
		report->statuses[outcome->status]++;
	if (outcome->served[0])
		count_engine(report, outcome->served);
	if (good) {
		quantiles_add(&report->total, (uint64_t)outcome->total_us);
		if (outcome->ttft_us >= 0)
			quantiles_add(&report->ttft, (uint64_t)outcome->ttft_us);
	}
	if (reply && reply->prompt_tokens > 0)
		report->prompt_tokens += (uint64_t)reply->prompt_tokens;
	if (reply && reply->cached_tokens > 0)
		report->cached_tokens += (uint64_t)reply->cached_tokens;
	if (report->lines)
		write_line(report, tag, outcome, reply);
}

void report_turn(struct report *report, bool loyal)
{
	report->later_turns++;
	report->loyal_turns += loyal;
}

static void write_quantiles(const struct quantiles *quantiles, const char *name, FILE *out)
{
	if (quantiles->count == 0)
		return;
	(void)fprintf(out,
	              "%s_us mean=%" PRIu64 " p50=%" PRIu64 " p90=%" PRIu64 " p99=%" PRIu64
	              " max=%" PRIu64 "\n",
	              name, quantiles->sum / quantiles->count, quantiles_at(quantiles, .5),
	              quantiles_at(quantiles, .9), quantiles_at(quantiles, .99), quantiles->max);
}

void report_summary(const struct report *report, FILE *out)
{
	double seconds = (double)(clock_us() - report->begun_us) / 1e6;

	(void)fprintf(out,
	              "requests=%" PRIu64 " seconds=%.3f rps=%.1f failures=%" PRIu64
	              " resent=%" PRIu64 "\n",
	              report->requests, seconds, (double)report->requests / seconds,
	              report->failures, report->resent);
	write_quantiles(&report->total, "total", out);
	write_quantiles(&report->ttft, "ttft", out);
	(void)fprintf(out, "status");
	for (int i = 0; i < REPORT_STATUS_MAX; i++) {
		if (report->statuses[i] > 0)
			(void)fprintf(out, " %d=%" PRIu64, i, report->statuses[i]);
	}
	(void)fprintf(out, "\nerrors");
	for (int i = 0; i < REPORT_ERRORS_MAX; i++) {
		if (report->errors[i] > 0)
			(void)fprintf(out, " %s=%" PRIu64, client_error_name((enum client_error)i),
			              report->errors[i]);
	}
	(void)fprintf(out, "\nengines");
	for (int i = 0; i < report->engine_count; i++)
		(void)fprintf(out, " %s=%" PRIu64, report->engines[i].name,
		              report->engines[i].count);
	if (report->prompt_tokens > 0)
		(void)fprintf(out, "\ncached share=%.3f of %" PRIu64 " prompt tokens",
		              (double)report->cached_tokens / (double)report->prompt_tokens,
		              report->prompt_tokens);
	if (report->later_turns > 0)
		(void)fprintf(out, "\nloyal share=%.3f of %" PRIu64 " later turns",
		              (double)report->loyal_turns / (double)report->later_turns,
		              report->later_turns);
	(void)fprintf(out, "\n");
}
