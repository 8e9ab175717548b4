/* outbox_parts.h - what the files outbox*.c share. Nobody else includes it. */
#pragma once

#include "redis/outbox.h"
#include "redis/ring.h"

enum { LAST_TOLD = 8192 /* places; 16 bytes each */ };

/* What waits in a ring; behind it the hashes, and the ladder's id. */
struct waiting {
	usec_t at;
	enum wire_kind kind;
	uint32_t target, from; /* TARGET_NONE: nowhere */
	uint32_t blocks, ladder_len;
	usec_t since, from_since; /* tell a target from another of its id */
	usec_t length;
	struct pin_key key;
};

struct last_told {
	uint64_t key;
	usec_t at;
};

struct outbox {
	struct share share;
	struct facts *facts;
	struct ring *rings[KEYS_STREAMS];
	usec_t now;
	uint64_t spared, gone, told, again;
	uint32_t *epochs; /* by target: how often it was voided */
	struct last_told last[LAST_TOLD];
};

/* outbox.c: of a binding, in the table of what was told last. */
uint64_t outbox_key(const struct outbox *outbox, uint32_t holder, const uint64_t *chain,
                    uint32_t blocks);
