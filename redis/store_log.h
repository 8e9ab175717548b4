/* store_log.h - what of the store an operator hears, and how often.
 *
 * A store that is away is away for each try and each command; one line says so, another that
 * it lasts, each SAID_AGAIN. */
#pragma once

#include "redis/apply.h"
#include "redis/link.h"
#include "redis/ops.h"
#include "redis/outbox.h"
#include "redis/store.h"

#define SAID_AGAIN (60 * SECOND)

struct said {
	struct store_log log;
	usec_t (*now)(void);
	bool down; /* it was said that it is */
	enum redis_fault fault;
	usec_t fault_at;
	usec_t result_at[REDIS_RESULT_COUNT];
	usec_t batch_at, drop_at;
	uint64_t bad_batches, dropped; /* as of then */
	uint32_t peers;
	int warmed; /* tenths */
};

void said_text(struct said *said, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void said_up(struct said *said, const char *address);
void said_down(struct said *said, const struct redis_down *down);
void said_failed(struct said *said, enum op op, enum redis_result result, struct span text);
void said_restart(struct said *said, enum keys_stream stream);
void said_lost(struct said *said, enum keys_stream stream, uint32_t again);
/* About once a second: what went on meanwhile. */
void said_look(struct said *said, const struct store_view *view, uint32_t peers);
void said_warm(struct said *said, const struct store_view *view);
