/* engine.c - listens, and keeps the model's clock in step with ours.
 *
 * The model runs in its own time, options->speed times as fast. The timer may be late by a
 * millisecond; the model's steps follow one another in its own time all the same, so that nothing
 * drifts. */
#include "tests/sim/engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/sim/call.h"
#include "tests/sim/clock.h"
#include "tests/sim/connection.h"

enum { BACKLOG = 4096, ACCEPTS = 64 };

static int64_t model_now(const struct engine *engine)
{
	return (int64_t)((double)(clock_us() - engine->started_us) * engine->options->speed);
}

static void set_timer(struct engine *engine)
{
	int64_t next = INT64_MAX;
	double wait;

	for (uint32_t rank = 0; rank < engine->options->ranks; rank++) {
		int64_t at = engine_model_next(engine->models[rank]);

		next = at < next ? at : next;
	}
	if (next == INT64_MAX) {
		ev_timer_stop(engine->loop, &engine->step);
		return;
	}
	wait = (double)(next - model_now(engine)) / engine->options->speed / 1e6;
	ev_now_update(engine->loop);
	engine->step.repeat = wait > 1e-6 ? wait : 1e-6;
	ev_timer_again(engine->loop, &engine->step);
}

static void on_event(void *context, const struct engine_event *event)
{
	(void)context;
	call_hears(event->user, event);
}

void engine_catch_up(struct engine *engine)
{
	if (!engine->models[0])
		return;
	for (uint32_t rank = 0; rank < engine->options->ranks; rank++)
		engine_model_advance(engine->models[rank], model_now(engine), on_event, engine);
	set_timer(engine);
}

enum engine_answer engine_submit(struct engine *engine, uint32_t rank, const struct engine_job *job,
                                 uint32_t *ret_ticket)
{
	enum engine_answer answer =
	        engine_model_submit(engine->models[rank], job, model_now(engine), ret_ticket);

	set_timer(engine);
	return answer;
}

static void on_step(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	struct engine *engine = watcher->data;

	(void)loop;
	(void)events;
	engine_catch_up(engine);
	connection_flush_all(engine);
}

static void on_accept(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct engine *engine = watcher->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(watcher->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
		connection_new(engine, fd);
		engine->counts.connections++;
	}
}

/* The socket, and the port it got; -1 with errno. */
static int listen_on(const char *host, int port, int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	errno = EINVAL;
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&address, &len)) {
		int error = errno;

		(void)close(fd);
		errno = error;
		return -1;
	}
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static bool makes_models(struct engine *engine)
{
	for (uint32_t rank = 0; rank < engine->options->ranks; rank++) {
		engine->models[rank] = engine_model_new(&engine->options->engine);
		if (!engine->models[rank])
			return false;
	}
	return true;
}

static void free_models(struct engine *engine)
{
	for (uint32_t rank = 0; rank < SIM_RANKS_MAX; rank++)
		engine_model_free(engine->models[rank]);
}

struct engine *engine_new(const struct sim_options *options, int index, struct ev_loop *loop)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	bool has_models = true;
	int fd;

	if (!engine)
		return NULL;
	engine->options = options;
	engine->loop = loop;
	fd = listen_on(options->listen[index].host, options->listen[index].port, &engine->port);
	if (fd >= 0 && options->speed > 0)
		has_models = makes_models(engine);
	if (fd < 0 || !has_models) {
		free_models(engine);
		free(engine);
		return NULL;
	}
	engine->started_us = clock_us();
	engine_clear_counts(engine);
	ev_io_init(&engine->listener, on_accept, fd, EV_READ);
	engine->listener.data = engine;
	ev_io_start(loop, &engine->listener);
	ev_init(&engine->step, on_step);
	engine->step.data = engine;
	return engine;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	ev_io_stop(engine->loop, &engine->listener);
	ev_timer_stop(engine->loop, &engine->step);
	(void)close(engine->listener.fd);
	free_models(engine);
	bytes_done(&engine->last);
	bytes_done(&engine->scratch);
	free(engine);
}

struct fault engine_fault(struct engine *engine, struct span path, bool asks_for_tokens)
{
	for (int i = 0; i < FAULT_RULES_MAX; i++) {
		struct fault_rule *rule = &engine->rules[i];
		size_t len = strlen(rule->path);
		struct fault fault = rule->fault;

		if (fault.kind == FAULT_NONE)
			continue;
		if (len > 0 ? path.len < len || memcmp(path.at, rule->path, len) != 0
		            : !asks_for_tokens)
			continue;
		if (rule->count > 0 && --rule->count == 0)
			rule->fault.kind = FAULT_NONE;
		return fault;
	}
	return (struct fault){ 0 };
}

struct engine_load engine_load_of(const struct engine *engine, uint32_t rank)
{
	if (engine->models[0])
		return engine_model_load(engine->models[rank]);
	return (struct engine_load){
		.blocks_total = engine->options->engine.kv_blocks,
		.prompt_tokens = engine->counts.prompt_tokens,
		.generated_tokens = engine->counts.generated_tokens,
	};
}

struct engine_load engine_load_now(const struct engine *engine)
{
	struct engine_load sum = engine_load_of(engine, 0);

	for (uint32_t rank = 1; engine->models[0] && rank < engine->options->ranks; rank++) {
		struct engine_load load = engine_load_of(engine, rank);

		sum.running += load.running;
		sum.waiting += load.waiting;
		sum.prefill_tokens += load.prefill_tokens;
		sum.blocks_used += load.blocks_used;
		sum.blocks_total += load.blocks_total;
		sum.blocks_cached += load.blocks_cached;
		sum.running_max += load.running_max;
		sum.prompt_tokens += load.prompt_tokens;
		sum.cached_tokens += load.cached_tokens;
		sum.generated_tokens += load.generated_tokens;
	}
	return sum;
}

uint32_t engine_idlest(const struct engine *engine)
{
	uint32_t best = 0, least = UINT32_MAX;

	for (uint32_t rank = 0; engine->models[0] && rank < engine->options->ranks; rank++) {
		struct engine_load load = engine_load_of(engine, rank);

		if (load.running + load.waiting >= least)
			continue;
		least = load.running + load.waiting;
		best = rank;
	}
	return best;
}

void engine_clear_counts(struct engine *engine)
{
	uint64_t connections = engine->counts.connections;

	engine->counts = (struct engine_counts){ .connections = connections };
	engine->ttft = (struct buckets){ .bounds = buckets_ttft_bounds };
	engine->itl = (struct buckets){ .bounds = buckets_itl_bounds };
	engine->e2e = (struct buckets){ .bounds = buckets_e2e_bounds };
	memset(engine->rules, 0, sizeof(engine->rules));
	loras_clear(&engine->loras);
	bytes_clear(&engine->last);
}
