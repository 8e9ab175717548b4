/* sim_options.c - one table says which options there are, how they are read and what they mean. */
#include "tests/sim/sim_options.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { COUNT, REAL, FLAG, TEXT, LISTEN, MODEL, PORT_BASE, ENGINES, HELP };

struct sim_option {
	const char *name, *argument, *help;
	enum option_kind kind;
	size_t offset;
	double min, max;
};

#define AT(field) offsetof(struct sim_options, field)

static const struct sim_option options[] = {
	{ "listen", "HOST:PORT", "an engine here; repeatable; port 0: any", LISTEN, 0, 0, 0 },
	{ "port-base", "P", "engines on 127.0.0.1, ports P, P+1, ...", PORT_BASE, 0, 1, 65535 },
	{ "engines", "N", "how many of them, 1", ENGINES, 0, 1, SIM_ENGINES_MAX },
	{ "model", "NAME", "a model served; repeatable; without one any is", MODEL, 0, 0, 0 },
	{ "speed", "X", "time runs X times as fast; 0: answer at once, no cost model", REAL,
	  AT(speed), 0, 1e6 },
	{ "output-tokens", "N", "tokens of an answer, 64", COUNT, AT(output_tokens), 1, 1e6 },
	{ "step-us", "N", "base of a step, 8000", COUNT, AT(engine.step_us), 1, 1e7 },
	{ "decode-us", "N", "a step longer per decoding sequence, 150", COUNT, AT(engine.decode_us),
	  0, 1e7 },
	{ "prefill-rate", "N", "prompt tokens per second, 10000", COUNT, AT(engine.prefill_rate), 1,
	  1e9 },
	{ "step-tokens", "N", "tokens a step at most, 8192", COUNT, AT(engine.step_tokens), 1,
	  1e9 },
	{ "kv-blocks", "N", "3000", COUNT, AT(engine.kv_blocks), 1, 1e8 },
	{ "block-tokens", "N", "tokens of a block, 512", COUNT, AT(engine.block_tokens), 16, 512 },
	{ "max-running", "N", "sequences in the batch, 64", COUNT, AT(engine.max_running), 1,
	  65536 },
	{ "max-waiting", "N", "then 503, 1024", COUNT, AT(engine.max_waiting), 0, 1e6 },
	{ "headers-late", NULL, "a stream's headers come with its first token", FLAG,
	  AT(headers_late), 0, 0 },
	{ "keep-alive", "S", "close a connection that is idle so long; 0: never", REAL,
	  AT(keep_alive_s), 0, 1e6 },
	{ "bare", NULL, "keep nothing for /sim/last: costs less", FLAG, AT(bare), 0, 0 },
	{ "ready-file", "PATH", "written when all engines listen: HOST:PORT a line", TEXT,
	  AT(ready_file), 0, 0 },
	{ "help", NULL, "this", HELP, 0, 0, 0 },
};

enum { OPTIONS = sizeof(options) / sizeof(*options) };

static const char about[] =
        "engine_sim - a test tool: simulates LLM inference engines over HTTP. There is no model "
        "in\n"
        "it; answers are letters, their timing follows a cost model.\n\n"
        "  POST /v1/chat/completions /v1/completions /v1/embeddings   stream and not\n"
        "  GET  /v1/models /health /metrics                           as vLLM names them\n"
        "  GET  /sim/state /sim/last    counts; the last request as it came\n"
        "  POST /sim/fault              {\"fault\":\"500\",\"count\":3,\"path\":\"/health\"}\n"
        "  POST /sim/reset              counts, faults and cache as at the start\n"
        "A request's header x-sim-fault, or /sim/fault for all: a status (500, 503:7 with\n"
        "Retry-After: 7), reset, reset-mid, hang, hang-mid, slow:MS, close, none.\n"
        "Every answer carries x-sim-engine, the port it listens on.\n\n";

static void tell(void)
{
	(void)fputs(about, stdout);
	for (int i = 0; i < OPTIONS; i++)
		(void)printf("  --%-14s %-10s %s\n", options[i].name,
		             options[i].argument ? options[i].argument : "", options[i].help);
}

/* Host and port of "127.0.0.1:8000"; the text is cut at the colon. */
static bool adds_listen(struct sim_options *out, char *text)
{
	char *colon = strrchr(text, ':'), *end;
	long port;

	if (!colon || out->engine_count == SIM_ENGINES_MAX)
		return false;
	port = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || port < 0 || port > 65535)
		return false;
	*colon = '\0';
	out->listen[out->engine_count].host = text;
	out->listen[out->engine_count++].port = (int)port;
	return true;
}

struct range {
	int base, count;
};

static bool takes_number(const struct sim_option *option, struct sim_options *out,
                         struct range *range, const char *text)
{
	char *field = (char *)out + option->offset, *end;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= option->min && number <= option->max))
		return false;
	if (option->kind != REAL && floor(number) < number)
		return false;
	if (option->kind == REAL)
		memcpy(field, &number, sizeof(number));
	else if (option->kind == COUNT)
		*(uint32_t *)(void *)field = (uint32_t)number;
	else if (option->kind == PORT_BASE)
		range->base = (int)number;
	else
		range->count = (int)number;
	return true;
}

static bool takes(const struct sim_option *option, struct sim_options *out, struct range *range,
                  char *text)
{
	char *field = (char *)out + option->offset;

	switch (option->kind) {
	case FLAG:
		*(bool *)field = true;
		return true;
	case TEXT:
		memcpy(field, &text, sizeof(text));
		return true;
	case LISTEN:
		return adds_listen(out, text);
	case MODEL:
		if (out->model_count == SIM_MODELS_MAX)
			return false;
		out->models[out->model_count++] = text;
		return true;
	case COUNT:
	case REAL:
	case PORT_BASE:
	case ENGINES:
		return takes_number(option, out, range, text);
	case HELP:
		break;
	}
	return false;
}

static bool adds_range(struct sim_options *out, struct range range)
{
	for (int i = 0; range.base > 0 && i < range.count; i++) {
		if (out->engine_count == SIM_ENGINES_MAX || range.base + i > 65535)
			return false;
		out->listen[out->engine_count].host = "127.0.0.1";
		out->listen[out->engine_count++].port = range.base + i;
	}
	return out->engine_count > 0;
}

bool sim_options_read(int argc, char **argv, struct sim_options *ret_options, int *ret_status)
{
	struct option longs[OPTIONS + 1] = { 0 };
	struct range range = { 0, 1 };
	int index = 0, got;

	*ret_options = (struct sim_options){ .engine = engine_settings_default(),
		                             .speed = 1,
		                             .output_tokens = 64 };
	*ret_status = 2;
	for (int i = 0; i < OPTIONS; i++)
		longs[i] = (struct option){ options[i].name,
			                    options[i].argument ? required_argument : no_argument,
			                    NULL, 0 };
	while ((got = getopt_long(argc, argv, "", longs, &index)) == 0) {
		if (options[index].kind == HELP) {
			tell();
			*ret_status = 0;
			return false;
		}
		if (!takes(&options[index], ret_options, &range, optarg)) {
			(void)fprintf(stderr, "engine_sim: --%s: not \"%s\"\n", options[index].name,
			              optarg);
			return false;
		}
	}
	if (got != -1 || optind < argc || !adds_range(ret_options, range)) {
		(void)fprintf(stderr, "engine_sim: expected --listen or --port-base, see --help\n");
		return false;
	}
	return true;
}
