/* sentinel.c - SENTINEL get-master-addr-by-name, each second. */
#include "redis/sentinel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/link_parts.h"
#include "redis/redirect.h"

enum { PROBLEM_MAX = 160 };

static const double calm_s = 1, hurried_s = 0.25;

struct redis_sentinel {
	struct ev_loop *loop;
	struct redis_sentinel_events events;
	struct redis_link *link;
	char name[REDIS_PRIMARY_MAX];
	usec_t deadline;
	ev_timer timer;
	bool asking, known, hurried;
	struct redis_host primary;
	char problem[PROBLEM_MAX];
};

static void learn(struct redis_sentinel *sentinel, const struct redis_host *primary)
{
	bool same = sentinel->known && strcmp(sentinel->primary.name, primary->name) == 0 &&
	            sentinel->primary.port == primary->port;

	sentinel->known = true;
	sentinel->primary = *primary;
	if (!same)
		sentinel->events.on_primary(sentinel->events.data);
}

static void on_answer(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct redis_sentinel *sentinel = data;
	struct redis_host primary;

	sentinel->asking = false;
	if (!reply)
		return; /* on_down tells why */
	if (result == REDIS_RESULT_OK &&
	    redis_place_read(redis_reply_text(redis_reply_at(reply, 0)),
	                     redis_reply_text(redis_reply_at(reply, 1)), &primary)) {
		learn(sentinel, &primary);
		return;
	}
	redis_link_leave(sentinel->link, REDIS_FAULT_REFUSES,
	                 reply->kind == REDIS_ERROR ? reply->text.at
	                 : reply->kind == REDIS_NIL ? "it does not know this primary"
	                                            : "what it names is no place");
}

static void ask(struct redis_sentinel *sentinel)
{
	struct span spans[] = {
		REDIS_WORD("SENTINEL"),
		REDIS_WORD("get-master-addr-by-name"),
		{ sentinel->name, strlen(sentinel->name) },
	};
	struct redis_command command = {
		.words = spans,
		.count = 3,
		.deadline = sentinel->deadline,
		.on_reply = on_answer,
		.data = sentinel,
	};

	if (!sentinel->asking)
		sentinel->asking = redis_link_send(sentinel->link, &command);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	ask(timer->data);
}

static void on_up(void *data, const char *address)
{
	(void)address;
	ask(data);
}

static void on_down(void *data, const struct redis_down *down)
{
	struct redis_sentinel *sentinel = data;

	(void)snprintf(sentinel->problem, sizeof(sentinel->problem), "%s", down->text);
}

/* The sentinels have passwords of their own, no databases, and small answers. */
static struct redis_options for_sentinels(const struct redis_options *options)
{
	struct redis_options own = *options;

	own.url.place = REDIS_AT_HOST;
	own.url.primary[0] = '\0';
	own.url.user[0] = '\0';
	explicit_bzero(own.url.password, sizeof(own.url.password));
	own.url.db = 0;
	memcpy(own.password_file, options->sentinel_password_file, sizeof(own.password_file));
	own.retry_max = own.retry_max && own.retry_max < SECOND ? own.retry_max : SECOND;
	own.output_max = 4 * 1024;
	own.reply_max = 16 * 1024;
	own.pending_max = 8;
	return own;
}

struct redis_sentinel *redis_sentinel_new(struct ev_loop *loop, const struct redis_options *options,
                                          const struct redis_sentinel_events *events,
                                          struct error *error)
{
	struct redis_sentinel *sentinel = calloc(1, sizeof(*sentinel));
	struct redis_options own = for_sentinels(options);

	if (!sentinel) {
		(void)error_set(error, "out of memory");
		return NULL;
	}
	sentinel->loop = loop;
	sentinel->events = *events;
	memcpy(sentinel->name, options->url.primary, sizeof(sentinel->name));
	sentinel->deadline = own.connect_deadline ? own.connect_deadline : SECOND;
	(void)snprintf(sentinel->problem, sizeof(sentinel->problem), "not asked yet");
	sentinel->hurried = true;
	ev_timer_init(&sentinel->timer, on_timer, hurried_s, hurried_s);
	sentinel->timer.data = sentinel;
	sentinel->link = redis_link_new(
	        loop, &own,
	        &(struct redis_events){ .data = sentinel, .on_up = on_up, .on_down = on_down },
	        error);
	if (!sentinel->link) {
		free(sentinel);
		return NULL;
	}
	ev_timer_start(loop, &sentinel->timer);
	return sentinel;
}

void redis_sentinel_free(struct redis_sentinel *sentinel)
{
	if (!sentinel)
		return;
	ev_timer_stop(sentinel->loop, &sentinel->timer);
	redis_link_free(sentinel->link);
	free(sentinel);
}

const struct redis_host *redis_sentinel_primary(const struct redis_sentinel *sentinel)
{
	return sentinel->known ? &sentinel->primary : NULL;
}

void redis_sentinel_hurry(struct redis_sentinel *sentinel, bool hurry)
{
	double pause = hurry ? hurried_s : calm_s;

	if (hurry == sentinel->hurried)
		return; /* each start anew would put the next question off */
	sentinel->hurried = hurry;
	sentinel->timer.repeat = pause;
	ev_timer_again(sentinel->loop, &sentinel->timer);
}

void redis_sentinel_doubt(struct redis_sentinel *sentinel)
{
	if (redis_link_is_up(sentinel->link))
		redis_link_leave(sentinel->link, REDIS_FAULT_SENTINEL,
		                 "the primary that it named is none");
}

const char *redis_sentinel_problem(const struct redis_sentinel *sentinel)
{
	return sentinel->problem;
}
