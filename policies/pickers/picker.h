/* picker.h - takes one of the candidates standing. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/route.h"

/* A picker brings its own settings: a struct that only its file knows, filled
 * by the loader from the option table, handed back at every pick. At most
 * PICKER_SETTINGS_MAX bytes. */
struct picker {
	const char *name;
	const char *help;
	/* An index below walk->standing. Never called with nobody standing. */
	size_t (*pick)(struct walk *walk, const void *settings);
	size_t settings_size;
	const struct option *options; /* NULL if there are none */
};
