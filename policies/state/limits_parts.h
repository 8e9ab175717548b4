/* limits_parts.h - what the files limits*.c share. Nobody else includes it. */
#pragma once

#include "policies/core/bug.h"
#include "policies/state/limits.h"

#define NOBODY UINT32_MAX

enum {
	LOOK_MOST = 64,
	LABEL_BYTES = 64,
	LIMIT_OTHERS = 16384, /* of keys and other agents that have something open */
};

struct record {
	uint64_t key;
	uint32_t next;
	uint32_t inflight, max_inflight;
	enum limit_of of;
	double arrival[LIMIT_UNITS];  /* TAT, in seconds of our clock */
	double interval[LIMIT_UNITS]; /* T, of the last charge; 0: not limited */
	double burst[LIMIT_UNITS];    /* likewise */
	uint32_t others_inflight;     /* of other agents */
	uint32_t told_inflight;
	usec_t told_at;
	usec_t untold_since;
	double untold[LIMIT_UNITS]; /* used since it was told of */
	bool is_untold;             /* it is in the list of those */
	uint32_t next_untold;
	char tenant[LABEL_BYTES], model[LABEL_BYTES];
};

/* What another agent has open of a key. */
struct other {
	uint64_t agent, key;
	uint32_t inflight; /* 0: a place that is free */
	usec_t at;
};

struct limit_table {
	uint32_t capacity, count;
	uint32_t mask, hand; /* where the next idle one is looked for */
	uint32_t *heads;
	struct record *records;
	uint64_t full;
	bool away;       /* what others use, and that must be known */
	usec_t heard_at; /* last limits_tell(); 0: never */
	uint32_t first_untold, last_untold;
	struct other *others;
	uint32_t others_count;
};

/* A rate, as the algorithm wants it. */
struct cell {
	double interval; /* seconds that one costs; 0: no limit */
	double burst;    /* that may come at once */
};

/* limits.c */
struct cell limits_cell(const struct quota *quota, enum limit_kind unit);
uint32_t limits_find(const struct limit_table *limits, uint64_t key);
/* The one of the key, made if need be; NULL when there is no place. */
struct record *limits_open(struct limit_table *limits, const struct limit_subject *subject,
                           double now);

/* limits_others.c: it is to be told, if somebody listens. */
void limits_changed(struct limit_table *limits, struct record *record, usec_t now);
