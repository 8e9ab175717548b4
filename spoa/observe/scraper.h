/* scraper.h - reads the engines' metric pages into the facts.
 *
 * Once a second per replica, each with its own deadline. A page replaces all that
 * the last one said. It is read piece by piece as it comes in, so a long one holds up
 * nobody. Counters that went back mean that the engine restarted: its cache is empty
 * then. */
#pragma once

#include "spoa/engines/profiles.h"
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

/* The profiles must outlive it. NULL when out of memory. */
MUST_CHECK struct scraper *scraper_new(const struct observe *observe, struct fetch *fetch,
                                       const struct engine_profiles *profiles,
                                       const struct scraper_options *options);
void scraper_free(struct scraper *scraper);
void scraper_start(struct scraper *scraper);
void scraper_stop(struct scraper *scraper);

struct scraper_counts scraper_counts(const struct scraper *scraper);
/* Others from now on, which must outlive it, too; the old ones are not used any more. Who is of
 * a kind that is in both stays so, a page that is just coming in is dropped, and all are asked
 * again at once, since a page that meant nothing may mean something now. */
void scraper_set_profiles(struct scraper *scraper, const struct engine_profiles *profiles);

/* What kind of engine the target is, by its page or else by who owns its models; NULL when
 * not known. */
const struct engine_profile *scraper_engine(const struct scraper *scraper, uint32_t target);
/* The target's models are said to be this one's. */
void scraper_owned(struct scraper *scraper, uint32_t target, struct span owner);
