/* strategy.h - a named recipe: which signals count, how much, and who picks. */
#pragma once

#include <stdbool.h>

struct signal; /* policies/signals/signal.h */
struct picker; /* policies/pickers/picker.h */

enum { WEIGHINGS_MAX = 8 };

struct weighing {
	const struct signal *signal; /* NULL after the last */
	double weight;               /* > 0 */
	double min_spread;           /* negative: the signal's own */
};

/* What a prompt prefix held by somebody means for a strategy. */
enum prefix_mode {
	PREFIX_OFF,   /* nothing, beyond the signals that read it */
	PREFIX_SCORE, /* counts through the signal `prefix` */
	PREFIX_SOLE,  /* the holders are the only candidates, within the spill gate */
};

struct strategy {
	const char *name;
	const char *help;
	struct weighing weighings[WEIGHINGS_MAX];
	const struct picker *picker;
	enum prefix_mode prefix;
	bool gate;    /* the imbalance gate runs before */
	bool sigma;   /* the sigma filter runs before */
	bool serving; /* level 1: prefer targets below prefer-serving-below */
	bool pair;    /* level 2: a prefill and a decode replica, by the entry's phases */
	/* Used when the first signal is unknown for all; its picker has no settings. NULL: none. */
	const struct strategy *falls_to;
};
