/* limit.h - the words of limits: what is counted, whose, and what is left of it. */
#pragma once

#include <stdbool.h>

/* LIMIT(id, name, code, help): the code is what a refused client is told. */
#define LIMITS(LIMIT)                                                                              \
	LIMIT(REQUESTS, "requests", "requests_exceeded", "requests in a time")                     \
	LIMIT(TOKENS, "tokens", "tokens_exceeded", "tokens of prompts and answers in a time")      \
	LIMIT(INFLIGHT, "inflight", "inflight_exceeded", "requests at a time")                     \
	LIMIT(STORE, "store", "limits_unavailable", "what agents share of limits, when it is away")

#define AS_ENUM(id, ...) LIMIT_##id,
enum limit_kind {
	LIMITS(AS_ENUM) LIMIT_KINDS,
	LIMIT_NONE = LIMIT_KINDS,
	LIMIT_UNITS = LIMIT_INFLIGHT, /* those before it have a rate */
};
#undef AS_ENUM

/* Whose use is limited. */
enum limit_of {
	LIMIT_OF_TENANT, /* over all models */
	LIMIT_OF_MODEL,  /* over all tenants */
	LIMIT_OF_BOTH,   /* a tenant's, of a model */
	LIMIT_SUBJECTS
};

extern const char *const limit_kind_names[LIMIT_KINDS];  /* requests tokens inflight */
extern const char *const limit_kind_codes[LIMIT_KINDS];  /* requests_exceeded ... */
extern const char *const limit_of_names[LIMIT_SUBJECTS]; /* tenant model tenant-model */

/* What a client may be told of a limit with a rate, after its request was counted. */
struct limit_left {
	bool limited;   /* false: the rest means nothing */
	double limit;   /* at once, when nothing was used */
	double left;    /* of it, now; 0..limit */
	double reset_s; /* until all of it is there again */
};
