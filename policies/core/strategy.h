/* strategy.h - a named recipe: which signals count, how much, and who picks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct signal; /* policies/signals/signal.h */
struct picker; /* policies/pickers/picker.h */
struct option; /* policies/core/option.h */

enum {
	WEIGHINGS_MAX = 16,
	RECIPE_SIGNALS_MAX = 8,   /* in a recipe of the operator */
	STRATEGY_ROWS_MAX = 48,   /* in the table of policies/strategies.c */
	PICKER_SETTINGS_MAX = 32, /* bytes of a picker's own settings */
};

enum weighing_scale {
	WEIGHING_OWN, /* the signal's own */
	WEIGHING_MINMAX,
	WEIGHING_NATURAL,
};

struct weighing {
	const struct signal *signal; /* NULL after the last */
	double weight;               /* > 0 */
	double min_spread;           /* negative: the signal's own */
	enum weighing_scale scale;
	double full; /* natural: the value that counts as a whole one; 0: the signal's own */
	bool told;   /* of a string: when this is unknown of all, the strategy is degraded */
};

/* What a prompt prefix held by somebody means for a strategy. */
enum prefix_mode {
	PREFIX_OFF,   /* nothing, beyond the signals that read it */
	PREFIX_SCORE, /* counts through the signal `prefix` */
	PREFIX_SOLE,  /* the holders are the only candidates, within the spill gate */
};

/* What is added to a strategy that is named alone (policies/blend.h). */
enum blending {
	BLEND_NOTHING,
	BLEND_LOAD, /* load-balance, and least-request unless it counts requests by itself */
	BLEND_OWN,  /* prefix-cache: load-balance only, in its own proportion */
};

/* What a strategy is as a part of a string like "a:2,b". */
enum mixing {
	MIX_SIGNALS,   /* gives its signals */
	MIX_EXCLUSIVE, /* is used alone, whatever stands beside it */
	MIX_ALONE,     /* beside others it is a mistake */
};

/* What orders requests of a class that wait in HAProxy, beside their arrival. */
enum queue_order {
	ORDER_ARRIVAL,  /* nothing */
	ORDER_DEADLINE, /* earliest deadline first (policies/deadline.h) */
	ORDER_FAIR,     /* who had much lately, later (policies/state/tenants.h) */
};

/* What the session of a request means. */
enum session_mode {
	SESSION_AUTO, /* of an entry: as its strategy has it */
	SESSION_OFF,
	SESSION_SOFT, /* one more signal: to have the session is worth as much as all others
	                 together */
	SESSION_HARD, /* the session's target is the only candidate, within the spill gate */
};

struct strategy {
	const char *name;
	const char *help;
	struct weighing weighings[WEIGHINGS_MAX];
	const struct picker *picker;
	enum prefix_mode prefix;
	enum session_mode session; /* SESSION_AUTO: off */
	bool gate;                 /* the imbalance gate runs before */
	bool sigma;                /* the sigma filter runs before */
	bool serving;              /* level 1: prefer targets below prefer-serving-below */
	bool pulls;                /* level 2: who is sure to be late for all waits unpinned */
	enum queue_order order;    /* offset in HAProxy's queue */
	bool pair; /* level 2: a prefill and a decode replica, by the entry's phases */
	/* > 0: where somebody holds more than this share of the prompt, only those who hold
	 * most of it stand (stage deepest). */
	double deepest;
	enum blending blending;
	enum mixing mixing;
	uint8_t part_weighings; /* in a string only the first so many count; 0: all */
	bool counts_requests;   /* least-request adds nothing to it */
	/* Used when the first signal is unknown for all; its picker has no settings. NULL: none. */
	const struct strategy *falls_to;
	/* Of the row itself, beside its picker's: one choice among signals, for the first
	 * weighing. NULL: none. */
	const struct option *options;

	/* Of one that was made of a row or a string: */
	const struct strategy *row; /* NULL: it is a row itself, or made of several */
	bool blended;               /* something was added */
	bool has_settings;          /* the picker's are these, not its defaults */
	_Alignas(8) unsigned char picker_settings[PICKER_SETTINGS_MAX];
};
