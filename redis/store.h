/* store.h - what an agent shares with others: all of it, behind a handful of calls.
 *
 * Owns two links (one tells, one follows), the outbox that facts->share leads to, and whatever
 * lies between. Once started it runs on the loop by itself and waits for nothing; nobody
 * who decides ever waits for it either. A store that is away changes nothing but that agents
 * do not hear of each other. */
#pragma once

#include <ev.h>

#include "policies/state/facts.h"
#include "redis/follower.h"
#include "redis/link.h"
#include "redis/outbox.h"
#include "redis/writer.h"

struct store;

struct store_options {
	struct redis_options link; /* of both links; client_name and now are set by us */
	char space[KEYS_SPACE_MAX];
	double kept_bytes; /* of the store's memory, about */
	bool loads;        /* what others have in flight counts */
	usec_t kept_life;  /* older bindings mean nothing */
	uint64_t agent;    /* our number; 0: drawn */
	usec_t (*now)(void);
};

/* What an operator should hear, one line each; a kind of line once in a while only. */
struct store_log {
	void (*say)(void *data, int level, const char *text); /* levels are syslog's */
	void *data;
};

/* NULL, with a reason: options that cannot be, or out of memory. */
MUST_CHECK struct store *store_new(struct ev_loop *loop, struct facts *facts,
                                   const struct store_options *options, const struct store_log *log,
                                   struct error *error);
/* facts->share is NULL after. */
void store_free(struct store *store);

/* Sets facts->share. Links are made; the rest follows. */
MUST_CHECK bool store_start(struct store *store, struct error *error);
/* A policy was read: what may change while we run. */
void store_set(struct store *store, double kept_bytes, bool loads, usec_t kept_life);

/* We go: what waits is told, and that we go. store_is_done() says when that arrived;
 * who does not want to wait for it any more may free the store. */
void store_stop(struct store *store);
bool store_is_done(const struct store *store);

struct store_link_view {
	bool up;
	const char *fault; /* why not: a label; "" when it is up, or not yet tried */
	const struct redis_counters *counters;
};

struct store_view {
	uint64_t agent;
	const char *space;
	const char *address; /* of the store; "" before it was found */
	struct store_link_view tells, follows;
	struct follower_view follower;
	const struct writer_counts *writer;
	const struct apply_counts *applied;
	const struct ops *ops;
	struct outbox_counts outbox;
	uint32_t waiting[KEYS_STREAMS]; /* in the outbox */
	uint64_t peers_lost;            /* forgotten for their silence */
	bool loads;
};
struct store_view store_view(const struct store *store);
