/* agent_load.c - loads a running agent as HAProxy would, without HAProxy: an SPOP peer.
 *
 * Each request is the whole of what the agent ever sees of one: infer-route with all its
 * arguments, infer-first, and the end line by UDP, so that each slot taken is given back.
 * Several connections, several requests under way on each; a closed loop, so that what is
 * measured is CPU and not a queue. Answers that are no decision for a replica are counted as
 * failures. Prints one line of name=value, times in microseconds; exit status 1 after a failure.
 *
 * With --first it waits for an agent that is just being started, asks until it is routed once,
 * and prints when that was, by the clock of the day. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "policies/core/error.h"
#include "policies/core/rng.h"
#include "spoa/spop/ack.h"
#include "spoa/spop/hello.h"
#include "tests/bench/load_socket.h"
#include "tests/bench/load_words.h"
#include "tests/sim/clock.h"
#include "tests/sim/command_line.h"
#include "tests/sim/quantiles.h"

enum { CONNECTIONS_MAX = 64, DEPTH_MAX = 64, FRAME_BYTES = 16380, BUFFER_BYTES = 256 * 1024 };

struct settings {
	const char *spop, *log, *ladder;
	uint32_t engine_port, engines, connections, depth, prompt_bytes, groups, requests;
	double seconds;
	bool first;
};

struct asked {
	struct load_request request;
	int64_t at;
	bool told_first; /* infer-first is out: its ACK ends the request */
};

struct peer {
	int fd;
	uint32_t in_length, out_length;
	uint8_t in[BUFFER_BYTES], out[BUFFER_BYTES];
	struct asked asked[DEPTH_MAX];
};

struct load {
	struct settings settings;
	struct ladder ladder;
	struct rng rng;
	int log_fd;
	bool over;
	uint64_t begun, done, failed;
	int64_t begun_at;
	struct quantiles answers;
	struct peer peers[CONNECTIONS_MAX];
};

#define AT(field) offsetof(struct settings, field)

static const struct command_option options[] = {
	{ "spop", "ADDRESS", "the agent: HOST:PORT or unix:PATH", COMMAND_TEXT, AT(spop), 0, 0 },
	{ "log", "HOST:PORT", "where it takes end lines, by UDP", COMMAND_TEXT, AT(log), 0, 0 },
	{ "engine-port", "P", "port of the replica that is called r0; r1 has the next",
	  COMMAND_COUNT, AT(engine_port), 1, 65535 },
	{ "ladder", "LADDER", "whose blocks are hashed, 4x1k,12x4k,8x8k,8x32k", COMMAND_TEXT,
	  AT(ladder), 0, 0 },
	{ "connections", "N", "to the agent, 4", COMMAND_COUNT, AT(connections), 1,
	  CONNECTIONS_MAX },
	{ "depth", "N", "requests under way on each, 8", COMMAND_COUNT, AT(depth), 1, DEPTH_MAX },
	{ "prompt-bytes", "N", "of a prompt, 32768", COMMAND_COUNT, AT(prompt_bytes), 1, 1e9 },
	{ "groups", "N", "of prompts that share 3/4 of their blocks, 64", COMMAND_COUNT, AT(groups),
	  1, 1e6 },
	{ "seconds", "S", "that it lasts, 5", COMMAND_REAL, AT(seconds), 0.01, 3600 },
	{ "requests", "N", "then it ends, too; 0: only the time does", COMMAND_COUNT, AT(requests),
	  0, 4e9 },
	{ "first", NULL, "only until the first request is routed, by an agent that starts now",
	  COMMAND_FLAG, AT(first), 0, 0 },
};

static const struct command_line line = {
	.program = "agent_load",
	.about = "agent_load --spop ADDRESS --log HOST:PORT --engine-port P - a test tool: loads a "
	         "running\nagent as HAProxy would, without HAProxy\n\n",
	.options = options,
	.count = sizeof(options) / sizeof(*options),
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "agent_load: %s: %s\n", what, errno ? strerror(errno) : "failed");
	exit(2);
}

/* ---- sockets */

static int connect_to(const char *address, int type)
{
	int fd = load_socket_connect(address, type);

	if (fd < 0)
		fail(address);
	return fd;
}

static void flush(struct peer *peer)
{
	uint32_t sent = 0;

	while (sent < peer->out_length) {
		ssize_t n = send(peer->fd, peer->out + sent, peer->out_length - sent, MSG_NOSIGNAL);

		if (n <= 0)
			fail("send");
		sent += (uint32_t)n;
	}
	peer->out_length = 0;
}

static struct spop_output room_of(struct peer *peer)
{
	return (struct spop_output){ peer->out + peer->out_length, peer->out + BUFFER_BYTES };
}

static void wrote(struct peer *peer, const struct spop_output *out, bool fitted)
{
	if (!fitted)
		fail("a frame has no room");
	peer->out_length = (uint32_t)(out->at - peer->out);
}

/* ---- one request after the other */

static void compose(struct load *load, struct load_request *request)
{
	static const char digits[] = "0123456789abcdef";
	struct rng group = { 77 + load->begun % load->settings.groups };
	uint32_t whole = ladder_usable(&load->ladder, load->settings.prompt_bytes);
	uint64_t random = 0;

	for (int i = 0; i < LOAD_ID_BYTES; i++, random >>= 4) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (i % 16 == 0)
			random = rng_next(&load->rng);
		request->id[i] = dash ? '-' : digits[random & 15];
	}
	request->prompt_bytes = load->settings.prompt_bytes;
	for (uint32_t i = 0; i < load->ladder.count; i++)
		request->hashes[i] = rng_next(4 * i < 3 * whole ? &group : &load->rng);
	load->begun++;
}

static void ask(struct load *load, struct peer *peer, uint32_t i)
{
	struct asked *asked = &peer->asked[i];
	struct spop_output out = room_of(peer);

	compose(load, &asked->request);
	asked->told_first = false;
	wrote(peer, &out, load_words_route(&out, i + 1, &load->ladder, &asked->request));
	asked->at = clock_us();
}

static void keep(char ret_text[LOAD_NAME_MAX], const struct spop_value *value)
{
	(void)snprintf(ret_text, LOAD_NAME_MAX, "%.*s", (int)value->text.length, value->text.at);
}

/* False when it chose no replica. */
static bool read_answer(struct load *load, struct spop_input payload, struct load_request *request)
{
	request->instance[0] = request->replica[0] = request->reason[0] = '\0';
	while (payload.at < payload.end) {
		struct ack_action action;

		if (ack_read(&payload, &action) != SPOP_NONE)
			fail("a broken ACK");
		if (action.set && text_is(action.name, "instance"))
			keep(request->instance, &action.value);
		else if (action.set && text_is(action.name, "replica"))
			keep(request->replica, &action.value);
		else if (action.set && text_is(action.name, "reason"))
			keep(request->reason, &action.value);
	}
	if (request->replica[0] != 'r')
		return false;
	request->port =
	        (uint16_t)(load->settings.engine_port + strtoul(request->replica + 1, NULL, 10));
	return true;
}

static void say_end(const struct load *load, const struct load_request *request)
{
	char text[LOAD_LINE_MAX];
	int length = load_words_end(text, request);

	if (send(load->log_fd, text, (size_t)length, MSG_NOSIGNAL) != length)
		fail("end line");
}

static bool is_over(struct load *load)
{
	const struct settings *settings = &load->settings;
	double elapsed = (double)(clock_us() - load->begun_at) / 1e6;

	load->over = load->over || elapsed >= settings->seconds ||
	             (settings->requests && load->begun >= settings->requests);
	return load->over;
}

static void on_ack(struct load *load, struct peer *peer, const struct frame *frame)
{
	uint32_t i = (uint32_t)frame->stream - 1;
	struct asked *asked = &peer->asked[i];
	struct spop_output out = room_of(peer);

	if (frame->type != FRAME_AGENT_ACK || i >= load->settings.depth)
		fail("no ACK of ours");
	if (!asked->told_first) {
		quantiles_add(&load->answers, (uint64_t)(clock_us() - asked->at));
		if (read_answer(load, frame->payload, &asked->request)) {
			asked->told_first = true;
			wrote(peer, &out, load_words_first(&out, i + 1, &asked->request));
			return;
		}
		load->failed++;
	} else {
		say_end(load, &asked->request);
	}
	load->done++;
	if (!is_over(load))
		ask(load, peer, i);
}

static void on_readable(struct load *load, struct peer *peer)
{
	ssize_t got = recv(peer->fd, peer->in + peer->in_length, BUFFER_BYTES - peer->in_length, 0);
	struct spop_input stream = { peer->in, peer->in };
	enum spop_error error = SPOP_NONE;
	struct frame frame;

	if (got <= 0)
		fail("the agent hung up");
	stream.end += peer->in_length + (size_t)got;
	while (frame_next(&stream, FRAME_BYTES, &frame, &error))
		on_ack(load, peer, &frame);
	if (error != SPOP_NONE)
		fail("a broken frame");
	peer->in_length = (uint32_t)(stream.end - stream.at);
	memmove(peer->in, stream.at, peer->in_length);
	flush(peer);
}

/* ---- the whole */

static void greet(struct peer *peer)
{
	struct spop_output out = { peer->out, peer->out + BUFFER_BYTES };
	struct spop_input in = { peer->in, peer->in };
	enum spop_error error = SPOP_NONE;
	struct hello_answer answer;
	struct frame frame;

	wrote(peer, &out, hello_write(&out, FRAME_BYTES, "pipelining", false, "load"));
	flush(peer);
	while (!frame_next(&in, FRAME_BYTES, &frame, &error)) {
		ssize_t got = recv(peer->fd, peer->in, BUFFER_BYTES, 0);

		if (error != SPOP_NONE || got <= 0)
			fail("no HELLO");
		in = (struct spop_input){ peer->in, peer->in + got };
	}
	if (frame.type != FRAME_AGENT_HELLO ||
	    hello_read_answer(frame.payload, &answer) != SPOP_NONE)
		fail("no HELLO");
}

static void run(struct load *load)
{
	struct pollfd watched[CONNECTIONS_MAX];
	uint32_t peers = load->settings.connections;

	for (uint32_t i = 0; i < peers; i++) {
		load->peers[i].fd = connect_to(load->settings.spop, SOCK_STREAM);
		greet(&load->peers[i]);
		watched[i] = (struct pollfd){ load->peers[i].fd, POLLIN, 0 };
	}
	load->begun_at = clock_us();
	for (uint32_t i = 0; i < peers; i++) {
		for (uint32_t j = 0; j < load->settings.depth; j++)
			ask(load, &load->peers[i], j);
		flush(&load->peers[i]);
	}
	while (load->done < load->begun) {
		if (poll(watched, peers, 5000) <= 0)
			fail("no answer for 5 s");
		for (uint32_t i = 0; i < peers; i++) {
			if (watched[i].revents)
				on_readable(load, &load->peers[i]);
		}
	}
}

/* One question at a time: the agent may not know its servers yet. */
static void run_until_routed(struct load *load)
{
	struct peer *peer = &load->peers[0];
	int64_t until = clock_us() + 10000000;
	struct timespec at;

	while ((peer->fd = load_socket_connect(load->settings.spop, SOCK_STREAM)) < 0) {
		if (clock_us() > until)
			fail("no agent for 10 s");
		(void)usleep(500);
	}
	greet(peer);
	load->over = true; /* ask once; what follows is up to us */
	while (!peer->asked[0].told_first) {
		if (clock_us() > until)
			fail("not routed for 10 s");
		if (load->begun > 0)
			(void)usleep(500);
		ask(load, peer, 0);
		flush(peer);
		on_readable(load, peer);
	}
	(void)clock_gettime(CLOCK_REALTIME, &at);
	(void)printf("first_at_us=%lld\n", (long long)at.tv_sec * 1000000 + at.tv_nsec / 1000);
	on_readable(load, peer);
}

static double own_cpu_us(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	static struct load load;
	struct settings *settings = &load.settings;
	struct error error = { 0 };
	double seconds;
	int status;

	*settings = (struct settings){ .ladder = "4x1k,12x4k,8x8k,8x32k",
		                       .connections = 4,
		                       .depth = 8,
		                       .prompt_bytes = 32768,
		                       .groups = 64,
		                       .seconds = 5 };
	status = command_line_read(&line, argc, argv, settings);
	if (status >= 0)
		return status;
	if (!settings->spop || !settings->log || !settings->engine_port) {
		(void)fprintf(stderr, "agent_load: see --help\n");
		return 2;
	}
	load.rng.state = (uint64_t)clock_us();
	if (!ladder_parse((struct span){ settings->ladder, strlen(settings->ladder) }, &load.ladder,
	                  &error))
		fail(settings->ladder);
	load.log_fd = connect_to(settings->log, SOCK_DGRAM);
	if (settings->first) {
		run_until_routed(&load);
		return 0;
	}
	run(&load);
	seconds = (double)(clock_us() - load.begun_at) / 1e6;
	(void)printf("requests=%llu failed=%llu seconds=%.3f rps=%.0f p50_us=%llu p99_us=%llu "
	             "own_cpu_us=%.2f\n",
	             (unsigned long long)load.done, (unsigned long long)load.failed, seconds,
	             (double)load.done / seconds,
	             (unsigned long long)quantiles_at(&load.answers, .5),
	             (unsigned long long)quantiles_at(&load.answers, .99),
	             own_cpu_us() / (double)load.done);
	return load.failed > 0;
}
