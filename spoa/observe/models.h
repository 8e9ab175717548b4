/* models.h - asks each engine which models it serves (GET /v1/models, or where its kind has
 * the list).
 *
 * What cannot be asked stays unknown, and an unknown replica may serve anything;
 * a list once known is kept until another comes. */
#pragma once

#include "spoa/observe/scraper.h"

struct models;

struct models_counts {
	uint64_t good, failed, malformed, no_page;
	uint64_t changed; /* answers that changed what the fleet knew */
};

struct models_options {
	usec_t interval;    /* 0: 30 s */
	usec_t deadline;    /* 0: 2 s */
	usec_t backoff_max; /* 0: 60 s */
	uint64_t seed;
};

/* scraper: knows what kind each engine is, and is told who owns its models. */
MUST_CHECK struct models *models_new(const struct observe *observe, struct fetch *fetch,
                                     struct scraper *scraper, const struct models_options *options);
void models_free(struct models *models);
void models_start(struct models *models);
void models_stop(struct models *models);
/* Something speaks against what this one said: it is asked again at once. */
void models_hurry(struct models *models, uint32_t target);
struct models_counts models_counts(const struct models *models);

/* Names in a /v1/models answer, at most room, and of an adapter the model it changes, which
 * vLLM and SGLang call its parent (ret_bases; empty: it is none; NULL: not asked for). Spans
 * borrow *ret_tree, which the caller gives to json_decref(). False when it is no such answer;
 * then nothing is to be freed. Public for tests. */
struct json_t;
MUST_CHECK bool models_read(struct span body, size_t room, struct span *ret_names,
                            struct span *ret_bases, size_t *ret_count, struct json_t **ret_tree);
