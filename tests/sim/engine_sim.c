/* engine_sim.c - a test tool: simulated LLM inference engines over HTTP, any number in one loop. */
#include <ev.h>
#include <signal.h>
#include <stdio.h>

#include "tests/sim/engine.h"
#include "tests/sim/sim_options.h"

static void on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static void write_addresses(FILE *out, const struct sim_options *options, struct engine **engines)
{
	for (int i = 0; i < options->engine_count && engines[i]; i++)
		(void)fprintf(out, "%s:%d\n", options->listen[i].host, engines[i]->port);
	(void)fflush(out);
}

/* The file appears whole: who waits for it need not wait for its text. */
static bool tells_ready(const struct sim_options *options, struct engine **engines)
{
	char draft[4096];
	FILE *file;

	write_addresses(stdout, options, engines);
	if (!options->ready_file)
		return true;
	(void)snprintf(draft, sizeof(draft), "%s.draft", options->ready_file);
	file = fopen(draft, "w");
	if (!file)
		return false;
	write_addresses(file, options, engines);
	(void)fclose(file);
	return rename(draft, options->ready_file) == 0;
}

static bool starts(const struct sim_options *options, struct engine **engines, struct ev_loop *loop)
{
	char where[SIM_HOST_MAX + 32];

	for (int i = 0; i < options->engine_count; i++) {
		engines[i] = engine_new(options, i, loop);
		if (!engines[i]) {
			(void)snprintf(where, sizeof(where), "engine_sim: %s:%d",
			               options->listen[i].host, options->listen[i].port);
			perror(where);
			return false;
		}
	}
	if (!tells_ready(options, engines)) {
		perror("engine_sim: --ready-file");
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct engine *engines[SIM_ENGINES_MAX] = { 0 };
	struct sim_options options;
	struct ev_signal interrupt;
	struct ev_signal terminate;
	struct ev_loop *loop;
	int status = sim_options_read(argc, argv, &options);

	if (status >= 0)
		return status;
	loop = ev_default_loop(EVFLAG_AUTO);
	ev_signal_init(&interrupt, on_signal, SIGINT);
	ev_signal_init(&terminate, on_signal, SIGTERM);
	ev_signal_start(loop, &interrupt);
	ev_signal_start(loop, &terminate);
	if (starts(&options, engines, loop)) {
		ev_run(loop, 0);
		status = 0;
	} else {
		status = 1;
	}
	for (int i = 0; i < options.engine_count; i++)
		engine_free(engines[i]);
	return status;
}
