/* cmd_replay.c - `inference-spoa replay`: how strategies would have served recorded
 * requests, on simulated engines and a virtual clock. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/blend.h"
#include "policies/strategies.h"
#include "spoa/command.h"
#include "spoa/config/policy.h"
#include "spoa/progress.h"
#include "spoa/replay/play_agents.h"
#include "spoa/replay/report.h"
#include "spoa/replay/sample.h"

enum { NAMES_MAX = 64 };

static const char usage[] =
        "usage: inference-spoa replay [FILE] [options]\n\n"
        "Plays recorded requests through engines that are simulated, once for each strategy, and\n"
        "compares: prompt tokens found in the cache, times to the first token and to the end,\n"
        "evenness. FILE is a public trace (JSON lines with timestamp, input_length,\n"
        "output_length, hash_ids), what `run --log-decisions all` printed, or HAProxy's\n"
        "end-of-stream lines (no prompts: nothing is cached). Without FILE conversations are\n"
        "made up. Same options, same numbers.\n\n"
        "which:\n"
        "  --strategy A,B,C     repeatable, as the header routing-strategy asks for it; with a\n"
        "                       coefficient in it one of several parts: A:2,B [all rows]\n"
        "  -c, --policy FILE    its defaults, recipes and knobs; rules and instances are not\n"
        "                       used. Its own default is the row `policy`\n"
        "  --requests N         no more than the first N; of made up ones: so many [3000]\n"
        "  --speed X            they come X times as fast [1]\n"
        "  --spread S           equal times are spread over S seconds: for coarse clocks [0]\n"
        "  --seed N             of every draw [42]\n"
        "engines, all alike:\n"
        "  --replicas N         1..1024 [8]\n"
        "  --prefill-tps N      prompt tokens per second [10000]\n"
        "  --decode-us N        a step takes so much longer for each sequence it decodes [150]\n"
        "  --step-us N          a step takes at least [8000]\n"
        "  --step-tokens N      at most so many tokens a step [8192]\n"
        "  --max-running N      sequences in a batch [64]\n"
        "  --kv-blocks N        of 512 tokens [3000]\n"
        "  --agents N           so many agents that share nothing, in turn: 1..64 [1]\n"
        "  --no-scrape          engines have no metric page\n"
        "output:\n"
        "  --csv, --json, --markdown   instead of a table for people\n"
        "  --progress=plain     lines instead of a bar\n";

struct asked {
	const char *file, *policy;
	const char *strategies[NAMES_MAX];
	size_t strategy_count;
	double requests, spread, seed, agents;
	struct play_settings play;
	bool no_scrape, plain, help;
	enum report_form form;
};

/* NUMBER(option, least, most, where it goes) */
#define NUMBERS(NUMBER)                                                                            \
	NUMBER("requests", 1, 1e8, asked->requests = value)                                        \
	NUMBER("speed", 1e-3, 1e3, asked->play.speed = value)                                      \
	NUMBER("spread", 0, 3600, asked->spread = value)                                           \
	NUMBER("seed", 0, 1e15, asked->seed = value)                                               \
	NUMBER("replicas", 1, PLAY_REPLICAS_MAX, asked->play.replicas = (uint32_t)value)           \
	NUMBER("prefill-tps", 1, 1e9, asked->play.engine.prefill_rate = (uint32_t)value)           \
	NUMBER("decode-us", 0, 1e6, asked->play.engine.decode_us = (uint32_t)value)                \
	NUMBER("step-us", 1, 1e7, asked->play.engine.step_us = (uint32_t)value)                    \
	NUMBER("step-tokens", 1, 1e8, asked->play.engine.step_tokens = (uint32_t)value)            \
	NUMBER("max-running", 1, 1e5, asked->play.engine.max_running = (uint32_t)value)            \
	NUMBER("kv-blocks", 1, 1e8, asked->play.engine.kv_blocks = (uint32_t)value)                \
	NUMBER("agents", 1, PLAY_AGENTS_MAX, asked->agents = value)

enum { NUMBER_FLAG = 1000 };

static const struct bound {
	const char *name;
	double least, most;
} bounds[] = {
#define AS_BOUND(name, least, most, put) { name, least, most },
	NUMBERS(AS_BOUND)
#undef AS_BOUND
};
enum { BOUND_COUNT = sizeof(bounds) / sizeof(bounds[0]) };

static void put_number(struct asked *asked, const char *option, double value)
{
#define AS_PUT(name, least, most, put)                                                             \
	if (strcmp(option, name) == 0)                                                             \
		put;
	NUMBERS(AS_PUT)
#undef AS_PUT
}

static bool read_number(struct asked *asked, const struct bound *bound, const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= bound->least && value <= bound->most)) {
		(void)fprintf(stderr,
		              "inference-spoa: --%s: expected a number from %g to %g, not %s\n",
		              bound->name, bound->least, bound->most, text);
		return false;
	}
	put_number(asked, bound->name, value);
	return true;
}

/* With a coefficient in it the commas are the strategy's own. */
static bool add_strategies(struct asked *asked, char *list)
{
	const char *between = strchr(list, ':') ? "" : ",";
	char *rest = NULL;

	for (char *name = strtok_r(list, between, &rest); name;
	     name = strtok_r(NULL, between, &rest)) {
		if (asked->strategy_count == NAMES_MAX) {
			(void)fprintf(stderr, "inference-spoa: more than %d strategies\n",
			              NAMES_MAX);
			return false;
		}
		asked->strategies[asked->strategy_count++] = name;
	}
	return true;
}

static bool read_flag(struct asked *asked, int flag, char *value)
{
	if (flag >= NUMBER_FLAG)
		return read_number(asked, &bounds[flag - NUMBER_FLAG], value);
	switch (flag) {
	case 's':
		return add_strategies(asked, value);
	case 'c':
		asked->policy = value;
		return true;
	case 'n':
		return asked->no_scrape = true;
	case 'p':
		return asked->plain = strcmp(value, "plain") == 0;
	case REPORT_CSV:
	case REPORT_JSON:
	case REPORT_MARKDOWN:
		asked->form = (enum report_form)flag;
		return true;
	case 'h':
		return asked->help = true;
	default:
		return false;
	}
}

static bool read_options(int argc, char **argv, struct asked *asked)
{
	struct option options[BOUND_COUNT + 9] = {
		{ "strategy", required_argument, NULL, 's' },
		{ "policy", required_argument, NULL, 'c' },
		{ "no-scrape", no_argument, NULL, 'n' },
		{ "progress", required_argument, NULL, 'p' },
		{ "csv", no_argument, NULL, REPORT_CSV },
		{ "json", no_argument, NULL, REPORT_JSON },
		{ "markdown", no_argument, NULL, REPORT_MARKDOWN },
		{ "help", no_argument, NULL, 'h' },
	};
	int flag;

	for (int i = 0; i < BOUND_COUNT; i++)
		options[8 + i] =
		        (struct option){ bounds[i].name, required_argument, NULL, NUMBER_FLAG + i };
	optind = 0; /* begins anew, whoever read options before */
	// NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
	while ((flag = getopt_long(argc, argv, "c:h", options, NULL)) != -1)
		if (!read_flag(asked, flag, optarg))
			return false;
	if (optind < argc)
		asked->file = argv[optind++];
	return optind == argc;
}

static struct trace *load(const struct asked *asked, const struct ladder *ladder)
{
	struct error error = { "" };
	struct trace *trace = asked->file
	                              ? trace_load(asked->file, ladder, &error)
	                              : sample_trace(ladder,
	                                             asked->requests > 0 ? (size_t)asked->requests
	                                                                 : SAMPLE_REQUESTS,
	                                             (uint64_t)asked->seed);

	if (!trace) {
		(void)fprintf(stderr, "inference-spoa: %s\n",
		              asked->file ? error.text : "out of memory");
		return NULL;
	}
	if (trace->bad > 0)
		(void)fprintf(stderr, "%zu lines were passed over, the first: %s\n", trace->bad,
		              trace->first_bad);
	if (!trace->has_prompts)
		(void)fprintf(stderr,
		              "no hashes of prompts in it: nothing will be found in a cache\n");
	if (asked->requests > 0)
		trace_keep(trace, (size_t)asked->requests);
	if (asked->spread > 0)
		trace_spread(trace, (usec_t)(asked->spread * 1e6), (uint64_t)asked->seed);
	return trace;
}

static bool play_one(const struct asked *asked, const struct trace *trace,
                     const struct policy *policy, const char *strategy)
{
	struct play_agents_settings settings = { .policy = policy,
		                                 .strategy = strategy,
		                                 .replicas = asked->play.replicas,
		                                 .agents = (uint32_t)asked->agents,
		                                 .scraped = !asked->no_scrape,
		                                 .seed = (uint64_t)asked->seed };
	struct play_agents *agents = play_agents_new(&settings);
	struct progress progress = progress_new(asked->plain);
	struct report_row row = { .name = strategy ? strategy : "policy",
		                  .requests = trace->count };
	struct chooser chooser;
	bool good = false;

	progress_begin(&progress, row.name);
	if (agents) {
		chooser = play_agents_chooser(agents);
		good = play(trace, &asked->play, &chooser, progress_show, &progress, &row.result);
		row.counts = play_agents_counts(agents);
	}
	progress_end(&progress);
	play_agents_free(agents);
	if (!good) {
		(void)fprintf(stderr, "inference-spoa: out of memory\n");
		return false;
	}
	report_row(stdout, asked->form, &row);
	return fflush(stdout) == 0;
}

static bool play_named(const struct asked *asked, const struct trace *trace,
                       const struct policy *policy)
{
	for (size_t i = 0; i < asked->strategy_count; i++)
		if (!play_one(asked, trace, policy, asked->strategies[i]))
			return false;
	return true;
}

static bool play_all(const struct asked *asked, const struct trace *trace,
                     const struct policy *policy)
{
	const struct strategy *strategy;

	for (size_t i = 0; (strategy = strategy_at(i)); i++)
		if (!play_one(asked, trace, policy, strategy->name))
			return false;
	return true;
}

static bool all_named(const struct asked *asked, const struct policy *policy)
{
	for (size_t i = 0; i < asked->strategy_count; i++) {
		struct span text = { asked->strategies[i], strlen(asked->strategies[i]) };
		struct blend_problem problem;
		struct blend room;

		if (blend_strategy(policy, text, &room, &problem))
			continue;
		(void)fprintf(stderr, "inference-spoa: --strategy %s: %.*s: %s\n",
		              asked->strategies[i], (int)problem.part.len, problem.part.at,
		              blend_fault_text(problem.fault));
		return false;
	}
	return true;
}

static int replay(const struct asked *asked, const struct policy *policy)
{
	struct trace *trace;
	bool good;

	if (!all_named(asked, policy))
		return EXIT_USAGE;
	trace = load(asked, &policy->ladder);
	if (!trace)
		return EXIT_FAILED;
	report_head(stdout, asked->form);
	good = !asked->policy || play_one(asked, trace, policy, NULL);
	if (good)
		good = asked->strategy_count > 0 ? play_named(asked, trace, policy)
		                                 : play_all(asked, trace, policy);
	trace_free(trace);
	return good ? EXIT_OK : EXIT_FAILED;
}

int cmd_replay(int argc, char **argv)
{
	struct asked asked = { .seed = 42, .agents = 1, .play = play_settings_default() };
	bool read = read_options(argc, argv, &asked);
	struct policy_file *file;
	struct problems *problems;
	int code = EXIT_USAGE;

	if (!read || asked.help) {
		(void)fputs(usage, read ? stdout : stderr);
		return read ? EXIT_OK : EXIT_USAGE;
	}
	problems = problems_new();
	if (!problems)
		return EXIT_FAILED;
	file = policy_load(asked.policy, problems);
	if (file)
		code = replay(&asked, policy_file_policy(file));
	else
		problems_print(problems, stderr);
	policy_file_free(file);
	problems_free(problems);
	return code;
}
