/* sim_options.c - one table says which options there are, how they are read and what they mean. */
#include "tests/sim/sim_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/loras.h"

#define AT(field) offsetof(struct sim_options, field)

static const struct command_option options[] = {
	{ "listen", "HOST:PORT", "an engine here; repeatable; port 0: any", COMMAND_LIST,
	  AT(listens), 0, 0 },
	{ "port-base", "P", "engines on 127.0.0.1, ports P, P+1, ...", COMMAND_COUNT, AT(port_base),
	  1, 65535 },
	{ "engines", "N", "how many of them, 1", COMMAND_COUNT, AT(range), 1, SIM_ENGINES_MAX },
	{ "model", "NAME", "a model served; repeatable; without one any is", COMMAND_LIST,
	  AT(models), 0, 0 },
	{ "adapter", "NAME", "a LoRA adapter of the first model; repeatable", COMMAND_LIST,
	  AT(adapters), 0, 0 },
	{ "lora-slots", "N", "adapters that may be loaded at a time, 4", COMMAND_COUNT,
	  AT(lora_slots), 1, LORA_SLOTS_MAX },
	{ "lora-load", "MS", "how long loading one takes, 200", COMMAND_REAL, AT(lora_load_ms), 0,
	  1e6 },
	{ "speed", "X", "time runs X times as fast, 1; 0: answers at once, no cost model",
	  COMMAND_REAL, AT(speed), 0, 1e6 },
	{ "output-tokens", "N", "tokens of an answer, 64; max_tokens limits, min_tokens raises it",
	  COMMAND_COUNT, AT(output_tokens), 1, 1e6 },
	{ "step-us", "N", "base of a step, 8000", COMMAND_COUNT, AT(engine.step_us), 1, 1e7 },
	{ "decode-us", "N", "a step longer per decoding sequence, 150", COMMAND_COUNT,
	  AT(engine.decode_us), 0, 1e7 },
	{ "prefill-rate", "N", "prompt tokens per second, 10000", COMMAND_COUNT,
	  AT(engine.prefill_rate), 1, 1e9 },
	{ "step-tokens", "N", "tokens a step at most, 8192", COMMAND_COUNT, AT(engine.step_tokens),
	  1, 1e9 },
	{ "kv-blocks", "N", "blocks of the KV cache, 3000", COMMAND_COUNT, AT(engine.kv_blocks), 1,
	  1e8 },
	{ "block-tokens", "N", "tokens of a block, 512", COMMAND_COUNT, AT(engine.block_tokens), 16,
	  512 },
	{ "max-running", "N", "sequences in the batch, 64", COMMAND_COUNT, AT(engine.max_running),
	  1, 65536 },
	{ "max-waiting", "N", "then 503, 1024", COMMAND_COUNT, AT(engine.max_waiting), 0, 1e6 },
	{ "headers-late", NULL, "a stream's headers come with its first token", COMMAND_FLAG,
	  AT(headers_late), 0, 0 },
	{ "stamp", NULL, "\"sim_us\" in each token's chunk: the monotonic clock", COMMAND_FLAG,
	  AT(stamp), 0, 0 },
	{ "keep-alive", "S", "close a connection that is idle so long, 0: never", COMMAND_REAL,
	  AT(keep_alive_s), 0, 1e6 },
	{ "bare", NULL, "keep nothing for /sim/last: costs less", COMMAND_FLAG, AT(bare), 0, 0 },
	{ "page", "NAME", "whose names /metrics has: vllm, sglang or generic; none: 404",
	  COMMAND_TEXT, AT(page), 0, 0 },
	{ "ranks", "N", "data-parallel ranks of each engine, 1; x-data-parallel-rank says which",
	  COMMAND_COUNT, AT(ranks), 1, SIM_RANKS_MAX },
	{ "sidecar", NULL, "ask who x-prefiller-host-port names for the prompt first", COMMAND_FLAG,
	  AT(sidecar), 0, 0 },
	{ "sidecar-strict", NULL, "503 when that fails; else the prompt is computed here",
	  COMMAND_FLAG, AT(sidecar_strict), 0, 0 },
	{ "sidecar-timeout", "S", "which is when nothing comes for so long, 5", COMMAND_REAL,
	  AT(sidecar_timeout_s), 0.001, 1e6 },
	{ "ready-file", "PATH", "written when all engines listen: HOST:PORT a line", COMMAND_TEXT,
	  AT(ready_file), 0, 0 },
};

static const struct command_line line = {
	.program = "engine_sim",
	.about =
	        "engine_sim - a test tool: simulates LLM inference engines over HTTP. There is no "
	        "model\nin it; answers are letters, their timing follows a cost model.\n\n"
	        "  POST /v1/chat/completions /v1/completions /v1/embeddings   stream and not\n"
	        "  GET  /v1/models /health /metrics                           as vLLM or SGLang "
	        "name them\n"
	        "  GET  /sim/state /sim/last    counts; the last request as it came\n"
	        "  POST /sim/fault   {\"fault\":\"500\",\"count\":3,\"path\":\"/health\"}\n"
	        "                    count: none is for all; path: none is for the POSTs above\n"
	        "  POST /sim/reset   counts, faults and cache as at the start\n"
	        "A request's header x-sim-fault, or /sim/fault for all: a status (500, 503:7 with\n"
	        "Retry-After: 7), reset, reset-mid, hang, hang-mid, slow:MS, close, none.\n"
	        "Every answer carries x-sim-engine, the port it listens on; of several ranks "
	        "x-sim-rank,\n"
	        "the one that served.\n\n",
	.options = options,
	.count = sizeof(options) / sizeof(*options),
};

/* One more of "127.0.0.1:8000". */
static bool adds(struct sim_options *out, const char *text)
{
	const char *colon = strrchr(text, ':');
	char *end;
	long port;

	if (!colon || colon - text >= SIM_HOST_MAX || out->engine_count == SIM_ENGINES_MAX)
		return false;
	port = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || port < 0 || port > 65535)
		return false;
	memcpy(out->listen[out->engine_count].host, text, (size_t)(colon - text));
	out->listen[out->engine_count++].port = (int)port;
	return true;
}

int sim_options_read(int argc, char **argv, struct sim_options *ret_options)
{
	int status;
	char text[32];

	memset(ret_options, 0, sizeof(*ret_options));
	ret_options->engine = engine_settings_default();
	ret_options->speed = ret_options->range = 1;
	ret_options->output_tokens = 64;
	ret_options->lora_slots = 4;
	ret_options->lora_load_ms = 200;
	ret_options->sidecar_timeout_s = 5;
	ret_options->ranks = 1;
	status = command_line_read(&line, argc, argv, ret_options);
	if (status >= 0)
		return status;
	if (!ret_options->page)
		ret_options->page = "vllm";
	if (strcmp(ret_options->page, "vllm") != 0 && strcmp(ret_options->page, "sglang") != 0 &&
	    strcmp(ret_options->page, "generic") != 0 && strcmp(ret_options->page, "none") != 0) {
		(void)fprintf(stderr,
		              "engine_sim: --page: expected vllm, sglang, generic or none\n");
		return 2;
	}
	for (int i = 0; i < ret_options->listens.count; i++) {
		if (!adds(ret_options, ret_options->listens.texts[i])) {
			(void)fprintf(stderr, "engine_sim: --listen: \"%s\" is not HOST:PORT\n",
			              ret_options->listens.texts[i]);
			return 2;
		}
	}
	for (uint32_t i = 0; ret_options->port_base > 0 && i < ret_options->range; i++) {
		(void)snprintf(text, sizeof(text), "127.0.0.1:%u", ret_options->port_base + i);
		if (!adds(ret_options, text))
			return 2;
	}
	if (ret_options->engine_count == 0) {
		(void)fprintf(stderr, "engine_sim: expected --listen or --port-base, see --help\n");
		return 2;
	}
	return -1;
}
