/* link_new.c - a link made and freed, asked, and sent through. */
#include <stdlib.h>
#include <string.h>

#include "redis/link_parts.h"

static void set_defaults(struct redis_options *options)
{
	if (options->connect_deadline == 0)
		options->connect_deadline = 2 * SECOND;
	if (options->retry_first == 0)
		options->retry_first = 100 * MSEC;
	if (options->retry_max == 0)
		options->retry_max = 10 * SECOND;
	if (options->retry_max < options->retry_first)
		options->retry_max = options->retry_first;
	if (options->output_max == 0)
		options->output_max = 256 * 1024;
	if (options->reply_max == 0)
		options->reply_max = 1024 * 1024;
	if (options->pending_max == 0)
		options->pending_max = 256;
}

static bool make_parts(struct redis_link *link, struct error *error)
{
	const struct redis_options *options = &link->options;

	if (options->url.tls) {
		link->tls = redis_tls_new(&options->tls, error);
		if (!link->tls)
			return false;
	}
	link->resolve = redis_resolve_new(link->loop);
	link->connection = redis_connection_new(
	        &(struct redis_connection_options){
	                .loop = link->loop,
	                .now = options->now,
	                .output_max = options->output_max,
	                .reply_max = options->reply_max,
	                .pending_max = options->pending_max,
	                .tls = link->tls,
	                .counters = &link->counters,
	        },
	        &(struct redis_connection_events){
	                .data = link,
	                .on_open = redis_link_on_open,
	                .on_error = redis_link_on_error,
	                .on_broken = redis_link_on_broken,
	        });
	if (!link->resolve || !link->connection)
		return error_set(error, "out of memory");
	if (options->url.place == REDIS_BY_SENTINEL) {
		struct redis_sentinel_events events = { .data = link,
			                                .on_primary = redis_link_on_primary };

		link->sentinel = redis_sentinel_new(link->loop, options, &events, error);
		return link->sentinel != NULL;
	}
	return true;
}

struct redis_link *redis_link_new(struct ev_loop *loop, const struct redis_options *options,
                                  const struct redis_events *events, struct error *error)
{
	struct redis_link *link = calloc(1, sizeof(*link));

	if (!link) {
		(void)error_set(error, "out of memory");
		return NULL;
	}
	link->loop = loop;
	link->options = *options;
	link->events = *events;
	set_defaults(&link->options);
	link->backoff = (struct redis_backoff){ .first = link->options.retry_first,
		                                .max = link->options.retry_max,
		                                .rng = { options->seed } };
	ev_init(&link->timer, redis_link_on_timer);
	link->timer.data = link;
	if (!make_parts(link, error)) {
		redis_link_free(link);
		return NULL;
	}
	link->greeting = (struct redis_greeting){
		.connection = link->connection,
		.options = &link->options,
		.primary = link->sentinel != NULL,
		.data = link,
		.on_greeted = redis_link_on_greeted,
		.on_refused = redis_link_on_refused,
	};
	redis_link_try_after(link, 0);
	return link;
}

void redis_link_free(struct redis_link *link)
{
	if (!link)
		return;
	ev_timer_stop(link->loop, &link->timer);
	redis_sentinel_free(link->sentinel);
	redis_connection_free(link->connection);
	redis_resolve_free(link->resolve);
	redis_tls_free(link->tls);
	explicit_bzero(link->options.url.password, sizeof(link->options.url.password));
	free(link);
}

bool redis_link_send(struct redis_link *link, const struct redis_command *command)
{
	if (link->state != LINK_UP || !redis_connection_send(link->connection, command)) {
		link->counters.refused++;
		return false;
	}
	link->counters.sent++;
	return true;
}

bool redis_link_is_up(const struct redis_link *link)
{
	return link->state == LINK_UP;
}

size_t redis_link_unsent(const struct redis_link *link)
{
	return redis_connection_unsent(link->connection);
}

unsigned redis_link_pending(const struct redis_link *link)
{
	return redis_connection_pending(link->connection);
}

const char *redis_link_address(const struct redis_link *link)
{
	return link->address;
}

const struct redis_counters *redis_link_counters(const struct redis_link *link)
{
	return &link->counters;
}

bool redis_link_has_tls(void)
{
	return redis_tls_built_in();
}
