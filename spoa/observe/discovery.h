/* discovery.h - HAProxy's servers become the fleet, and its sessions correct the
 * ledger.
 *
 * Each HAProxy process we serve is a *source*; its runtime socket is asked four
 * times a second (a large fleet less often). What it says goes to fleet_apply(); sessions and
 * queues of a server, summed over all sources, go to ledger_reconcile() and engines_put_queue() as
 * soon as every source has answered anew. While a source is silent its sum is not
 * known, and nothing is reconciled. */
#pragma once

#include "spoa/observe/observe.h"

struct discovery;

struct discovery_options {
	const char *const *sources; /* addresses as in runtime.h; at most SOURCES_MAX */
	size_t source_count;
	const char *const *skip; /* names of backends that are no instances */
	/* Lists of names of backends, joined by commas, "x*" for all that begin so: no others
	 * are instances. None: all are. */
	const char *const *keep;
	size_t keep_count;
	size_t skip_count; /* CONTRACT_BACKEND and "infer-models" always are skipped */
	usec_t interval;   /* 0: 250 ms */
	usec_t deadline;   /* 0: 800 ms */
};

/* What is known of one source. Strings are ours. */
struct discovery_source {
	const char *address;
	bool up;          /* the last question was answered */
	usec_t answered;  /* when; 0 = never */
	uint32_t pid;     /* 0 = never answered */
	char version[64]; /* "" = not said */
	bool stopping;
	uint64_t dropped_logs; /* as HAProxy counts; starts anew with each process */
	uint64_t polls, failures, reloads;
	uint32_t servers, servers_down; /* of the last answer, skipped backends left out */
	char error[96];                 /* why it is not up; "" when it is */
};

/* Told after the facts have changed. Any may be NULL. */
struct discovery_events {
	void (*on_change)(void *data, uint32_t source, const struct fleet_change *change);
	void (*on_up)(void *data, uint32_t source, const struct discovery_source *state);
	void (*on_down)(void *data, uint32_t source, const struct discovery_source *state);
	void (*on_reload)(void *data, uint32_t source, const struct discovery_source *state);
	/* The process is gone for good; so many slots were released. */
	void (*on_gone)(void *data, uint32_t source, uint32_t released);
	void *data;
};

/* NULL with a reason: an address that cannot be, or out of memory. Options and
 * events are copied. */
MUST_CHECK struct discovery *discovery_new(const struct observe *observe,
                                           const struct discovery_options *options,
                                           const struct discovery_events *events,
                                           struct error *error);
void discovery_free(struct discovery *discovery);

/* The first questions are asked at once. */
void discovery_start(struct discovery *discovery);
void discovery_stop(struct discovery *discovery);

size_t discovery_source_count(const struct discovery *discovery);
const struct discovery_source *discovery_source_at(const struct discovery *discovery, size_t i);
/* Which source wrote "host/pid" into its log: also one that was reloaded since. */
bool discovery_source_of(const struct discovery *discovery, struct span process,
                         uint32_t *ret_source);
