/* haproxy_cfg.h - a haproxy.cfg, or a SPOE file, as sections of lines of words.
 *
 * Only what HAProxy of the given version would read is kept: .if blocks are
 * decided, comments dropped. setenv and presetenv count from their line on.
 * Reading never fails: what is odd is for HAProxy's own check. Pure: a text in,
 * a tree in an arena out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "spoa/config/arena.h"
#include "spoa/config/haproxy_words.h"

struct haproxy_line {
	const char *const *words; /* count of them */
	const char *ignored;      /* rules the comments above silence, blanks between; or "" */
	uint32_t number;          /* from 1 */
	uint32_t count;           /* at least 1 */
	uint32_t bytes;           /* of the line as written */
};

struct haproxy_section {
	const char *type; /* "frontend"; the whole word for [scopes] of a SPOE file */
	const char *name; /* "" for none */
	const struct haproxy_line *head;
	const struct haproxy_line *lines; /* behind the head */
	uint32_t count;
};

struct haproxy_cfg {
	const struct haproxy_section *sections;
	uint32_t count;
	const char *ignored; /* rules silenced for the whole file; or "" */
};

/* NULL only when there is no memory. environment is asked for what the file does
 * not set; version as haproxy_condition_version() gives it. */
const struct haproxy_cfg *haproxy_cfg_read(struct span text, uint32_t version,
                                           const struct haproxy_environment *environment,
                                           struct arena *arena);
