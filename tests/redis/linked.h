/* linked.h - a link under test, and what it has told. */
#pragma once

#include "tests/redis/fake_store.h"

enum { TOLD_MAX = 512 };

struct linked {
	struct ev_loop *loop;
	struct fake_store store;
	struct redis_options options;
	struct redis_link *link;
	unsigned ups, downs;
	enum redis_fault fault; /* the last */
	char text[TOLD_MAX], address[TOLD_MAX];
	usec_t retry_in;
	unsigned replies;
	enum redis_result result; /* the last */
	char reply[TOLD_MAX];     /* the last one's text */
	unsigned again;           /* commands to send from inside a callback */
	unsigned results[REDIS_RESULT_COUNT];
};

static inline void linked_on_up(void *data, const char *address)
{
	struct linked *linked = data;

	linked->ups++;
	(void)snprintf(linked->address, sizeof(linked->address), "%s", address);
}

static inline void linked_on_down(void *data, const struct redis_down *down)
{
	struct linked *linked = data;

	linked->downs++;
	linked->fault = down->fault;
	linked->retry_in = down->retry_in;
	(void)snprintf(linked->text, sizeof(linked->text), "%s", down->text);
}

static inline bool linked_send(struct linked *linked, const char *word, usec_t deadline);

static inline void linked_on_reply(void *data, enum redis_result result,
                                   const struct redis_reply *reply)
{
	struct linked *linked = data;

	linked->replies++;
	linked->result = result;
	linked->results[result]++;
	(void)snprintf(linked->reply, sizeof(linked->reply), "%.*s",
	               reply && reply->text.len < TOLD_MAX ? (int)reply->text.len : 0,
	               reply && reply->text.at ? reply->text.at : "");
	if (linked->again > 0) {
		linked->again--;
		(void)linked_send(linked, "AGAIN", SECOND);
	}
}

static inline bool linked_send(struct linked *linked, const char *word, usec_t deadline)
{
	struct span words[] = { { word, strlen(word) } };
	struct redis_command command = {
		.words = words,
		.count = 1,
		.deadline = deadline,
		.on_reply = linked_on_reply,
		.data = linked,
	};

	return redis_link_send(linked->link, &command);
}

static inline struct linked *linked_open(void)
{
	struct linked *linked = calloc(1, sizeof(*linked));

	must(linked != NULL);
	linked->loop = ev_loop_new(EVFLAG_AUTO);
	fake_open(&linked->store, linked->loop);
	linked->options = (struct redis_options){
		.connect_deadline = 300 * MSEC,
		.retry_first = 10 * MSEC,
		.retry_max = 50 * MSEC,
		.reply_max = 64 * 1024,
		.output_max = 16 * 1024,
		.pending_max = 16,
		.seed = 1,
		.now = test_now,
	};
	(void)snprintf(linked->options.client_name, sizeof(linked->options.client_name), "test");
	return linked;
}

static inline void linked_start_at(struct linked *linked, const char *url)
{
	struct redis_events events = { .data = linked,
		                       .on_up = linked_on_up,
		                       .on_down = linked_on_down };
	struct error error = { "" };

	if (!redis_url_read(url, &linked->options.url, &error)) {
		(void)fprintf(stderr, "%s\n", error.text);
		abort();
	}
	linked->link = redis_link_new(linked->loop, &linked->options, &events, &error);
	if (!linked->link) {
		(void)fprintf(stderr, "%s\n", error.text);
		abort();
	}
}

static inline void linked_start(struct linked *linked)
{
	char url[64];

	(void)snprintf(url, sizeof(url), "redis://127.0.0.1:%u", (unsigned)linked->store.port);
	linked_start_at(linked, url);
}

static inline void linked_close(struct linked *linked)
{
	redis_link_free(linked->link);
	fake_close(&linked->store);
	ev_loop_destroy(linked->loop);
	free(linked);
}

static inline void linked_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

/* Turns the loop until the count is reached; false after five seconds without it. */
static inline bool reaches(struct linked *linked, const unsigned *count, unsigned wanted)
{
	usec_t started = test_now();
	ev_timer wake;

	ev_timer_init(&wake, linked_wake, 0.005, 0.005);
	ev_timer_start(linked->loop, &wake);
	while (*count < wanted && test_now() - started < 5 * SECOND)
		ev_run(linked->loop, EVRUN_ONCE);
	ev_timer_stop(linked->loop, &wake);
	return *count >= wanted;
}
