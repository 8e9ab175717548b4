/* scraper.h - reads the engines' metric pages into the facts.
 *
 * Once a second per replica, each with its own deadline. A page replaces all that
 * the last one said. Counters that went back mean that the engine restarted: its
 * cache is empty then. */
#pragma once

#include "spoa/observe/rounds.h"

struct scraper;

/* How asking went; the first five add up to all answers. */
struct scraper_counts {
	uint64_t good;
	uint64_t refused; /* no connection, or no whole answer */
	uint64_t late;    /* the deadline passed */
	uint64_t status;  /* of HTTP, neither 200 nor 404 */
	uint64_t no_page; /* 404, or nothing on it that we know */

	uint64_t incomplete; /* good, but running or waiting was not on it */
	uint64_t restarts;   /* engines whose counters went back */
};

struct scraper_options {
	usec_t interval;    /* 0: 1 s */
	usec_t deadline;    /* 0: 800 ms */
	usec_t backoff_max; /* 0: 30 s */
	uint64_t seed;      /* of the jitter */
};

MUST_CHECK struct scraper *scraper_new(const struct observe *observe, struct fetch *fetch,
                                       const struct scraper_options *options);
void scraper_free(struct scraper *scraper);
void scraper_start(struct scraper *scraper);
void scraper_stop(struct scraper *scraper);

struct scraper_counts scraper_counts(const struct scraper *scraper);
/* What the target's page looks like: "vllm", ...; NULL when not known. */
const char *scraper_engine(const struct scraper *scraper, uint32_t target);
