/* rounds.h - asks every replica of the fleet the same thing, again and again.
 *
 * Each replica has its own due time, jitter, deadline and back-off, and never
 * more than one question open, so that one that hangs holds up nobody. New
 * replicas are asked at once; one that HAProxy sees come up is asked again at
 * once. What is asked and what the answer means is the visitor's. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/observe/observe.h"
#include "spoa/web/fetch.h"

struct rounds;

enum rounds_verdict {
	ROUNDS_GOOD,     /* again after the interval */
	ROUNDS_FAILED,   /* later and later, up to backoff_max */
	ROUNDS_NOT_HERE, /* it has no such page: again after backoff_max */
};

struct rounds_options {
	usec_t interval;
	double jitter; /* 0..1 of the interval, either way */
	usec_t deadline;
	usec_t backoff_max;
	size_t answer_max; /* bytes */
	uint64_t seed;
};

enum { ROUNDS_HEADERS_MAX = PROBE_HEADERS_MAX + 3 }; /* a credential, a type, a rank */

struct rounds_request {
	const char *body; /* NULL: none */
	size_t body_bytes;
	uint32_t deadline_ms;
	const char *headers[ROUNDS_HEADERS_MAX + 1];
	uint32_t header_count;
};

struct rounds_visitor {
	/* Path of the URL for this target, e.g. "/metrics". */
	const char *(*path)(void *data, uint32_t target);
	/* The request is a GET of that path with the round's deadline and headers[0..count)
	 * that end in NULL; what the visitor adds to it is good until the next call. NULL:
	 * nothing is added. */
	void (*refine)(void *data, uint32_t target, struct rounds_request *request);
	enum rounds_verdict (*on_answer)(void *data, const struct target *target,
	                                 const struct fetch_result *result, usec_t now);
	/* A piece of the answer, which is then not kept; the visitor may look at nothing but
	 * what it keeps of the target. NULL: on_answer is given the whole. */
	void (*on_piece)(void *data, uint32_t target, struct span piece);
	/* Whether it is to be asked at all; who begins to be is asked an interval later.
	 * NULL: everybody is. */
	bool (*wanted)(void *data, uint32_t target, usec_t now);
	/* The id is somebody new: what was kept under it is void. */
	void (*on_new)(void *data, uint32_t target);
	void *data;
};

/* fetch and the facts must outlive it. NULL when out of memory. */
MUST_CHECK struct rounds *rounds_new(const struct observe *observe, struct fetch *fetch,
                                     const struct rounds_options *options,
                                     const struct rounds_visitor *visitor);
/* Gives up open questions. */
void rounds_free(struct rounds *rounds);
void rounds_start(struct rounds *rounds);
void rounds_stop(struct rounds *rounds);
/* This one is asked now, whenever it is due, or a second after it was asked last. */
void rounds_hurry(struct rounds *rounds, uint32_t target);
/* From the next question on. */
void rounds_set_pace(struct rounds *rounds, usec_t interval, usec_t deadline);
/* Questions open now. */
uint32_t rounds_open(const struct rounds *rounds);
