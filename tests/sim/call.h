/* call.h - one request for tokens, from its body to the last byte of its answer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"
#include "spoa/replay/engine_model.h"
#include "tests/sim/fault.h"

struct connection;
struct request;

enum call_kind { CALL_CHAT, CALL_TEXT, CALL_EMBEDDING };

enum { CALL_MODEL_MAX = 128 };

struct call {
	enum call_kind kind;
	bool stream, include_usage;
	bool in_model; /* the ticket is good */
	int adapter;   /* LORA_NONE: none */
	bool waits;    /* for it */
	bool head_sent;
	bool limited; /* max_tokens ended it */
	uint32_t ticket, rank;
	uint32_t prompt_tokens, cached_tokens, output_tokens, sent_tokens;
	uint32_t cut_after; /* tokens after which a fault cuts the answer; 0: none does */
	enum fault_kind cut;
	uint64_t id; /* names the answer and makes its text */
	int64_t begun_us, token_us;
	char model[CALL_MODEL_MAX]; /* as JSON text */
	uint64_t *blocks;           /* owned */
	uint32_t blocks_capacity;
};

/* Begins to answer; may be over when it returns. */
void call_begin(struct connection *connection, const struct request *request, enum call_kind kind);

/* The model's event; the job's user is the connection. */
void call_hears(void *user, const struct engine_event *event);

/* The client is gone: the sequence is freed. */
void call_abort(struct connection *connection);
