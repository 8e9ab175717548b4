/* wire.h - batches: what agents tell each other, in msgpack.
 *
 *     [schema, agent, sequence, [name, ...], [entry, ...]]      entry: [kind, ...]
 *
 * agent is a number drawn at the start of a process, sequence counts its batches of one
 * stream from 1 on. Names are said once a batch and meant by their place: "10.0.0.7:8000" is a
 * replica, "@chat" the instance (HAProxy's backend) of that name; a ladder's id is one, too.
 * Entries are in the order in which things happened. A reader leaves out what it does not
 * know: kinds, and values behind those it knows. A batch of another schema is left out whole.
 *
 * An entry of the kept kinds and of ejections may end with a number of ms: so long ago it was
 * so when it was written, for it had to wait, or is told again. Without, it was just so.
 *
 * A load and the use of a limit are numbers that replace or add to earlier ones as their
 * headers say (policies/state/peers.h, limits.h); every entry may be heard twice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/ladder.h"
#include "policies/core/span.h"
#include "policies/core/target.h"
#include "policies/state/limits.h"
#include "policies/state/peers.h"
#include "policies/state/pins.h"
#include "policies/state/tenants.h"

enum {
	WIRE_SCHEMA = 1,
	WIRE_BATCH_MAX = 16384,             /* bytes of those that we write */
	WIRE_ACCEPT_MAX = 32768,            /* of those that we read */
	WIRE_NAMES_MAX = 1024,              /* in a batch */
	WIRE_NAME_MAX = NAME_MAX_BYTES + 1, /* bytes of one, with a NUL and an @ */
};

/* WIRE_KIND(id, number, name): what an entry tells. Numbers are never used anew. */
#define WIRE_KINDS(WIRE_KIND)                                                                      \
	WIRE_KIND(LOAD, 1, "load")           /* target, running, awaiting, prefill tokens, */      \
	                                     /* resident tokens, slots taken since the start */    \
	WIRE_KIND(AVERAGES, 2, "averages")   /* target, ttft us, e2e us; 0: not known */           \
	WIRE_KIND(EJECTED, 3, "ejected")     /* target, ms */                                      \
	WIRE_KIND(RECOVERED, 4, "recovered") /* target */                                          \
	WIRE_KIND(BYE, 5, "bye")             /* the agent stops */                                 \
	WIRE_KIND(BOUND, 6, "bound")         /* holder, ladder, hashes: 8 bytes each, low first */ \
	WIRE_KIND(EVICTED, 7, "evicted")     /* the same */                                        \
	WIRE_KIND(FORGOTTEN, 8, "forgotten") /* target */                                          \
	WIRE_KIND(PINNED, 9, "pinned")       /* to, hash, check, from or nil */                    \
	WIRE_KIND(LIMIT, 10, "limit")        /* of, key, tenant, model: texts, used requests, */   \
	                                     /* used tokens, in how many ms, requests open */      \
	WIRE_KIND(TENANT, 11, "tenant")      /* key, name: a text, tokens */
#define AS_KIND(id, number, name) WIRE_##id = (number),
enum wire_kind { WIRE_KINDS(AS_KIND) WIRE_KIND_COUNT };
#undef AS_KIND
/* By number; NULL where there is none. */
extern const char *const wire_kind_names[WIRE_KIND_COUNT];

bool wire_has_target(enum wire_kind kind);
bool wire_has_age(enum wire_kind kind);
/* What a target is called in a batch; the span borrows the text. */
struct span wire_name_of(const struct target *target, char text[WIRE_NAME_MAX]);

struct wire_chain {
	struct span ladder;
	uint32_t blocks; /* 1..LADDER_BLOCKS_MAX */
	uint64_t hashes[LADDER_BLOCKS_MAX];
};

struct wire_pin {
	struct pin_key key;
	struct span from; /* at NULL: nowhere */
};

/* What is set beside kind and name is of the kind. Spans are borrowed. */
struct wire_entry {
	enum wire_kind kind;
	struct span name; /* of the target, but for BYE */
	uint32_t place;   /* read: of the name in the batch, below WIRE_NAMES_MAX */
	usec_t age;       /* when it was written, to the ms; 0 of kinds that have none */
	struct peer_load load;
	double ttft_ms, e2e_ms; /* 0: not known */
	usec_t length;          /* EJECTED */
	struct wire_chain chain;
	struct wire_pin pin;
	struct limit_use limit; /* texts read lie in `texts` */
	struct tenant_use tenant;
	char texts[2][NAME_MAX_BYTES];
};

/* --- writing */

struct wire_writer;

/* NULL when out of memory. The only allocation. */
MUST_CHECK struct wire_writer *wire_writer_new(uint64_t agent);
void wire_writer_free(struct wire_writer *writer);
/* A new batch, empty. */
void wire_begin(struct wire_writer *writer);
/* False: the batch is full, and as it was before. */
MUST_CHECK bool wire_put(struct wire_writer *writer, const struct wire_entry *entry);
uint32_t wire_count(const struct wire_writer *writer); /* entries */
/* The whole of it, until the next call. */
struct span wire_end(struct wire_writer *writer, uint64_t sequence);

/* --- reading */

/* WIRE_RESULT(id, label) */
#define WIRE_RESULTS(WIRE_RESULT)                                                                  \
	WIRE_RESULT(OK, "ok")                                                                      \
	WIRE_RESULT(TOO_LONG, "too-long")                                                          \
	WIRE_RESULT(NOT_MSGPACK, "not-msgpack") /* ... or one that promises more than it has */    \
	WIRE_RESULT(NO_BATCH, "no-batch")                                                          \
	WIRE_RESULT(OTHER_SCHEMA, "other-schema")
#define AS_RESULT(id, ...) WIRE_RESULT_##id,
enum wire_result { WIRE_RESULTS(AS_RESULT) WIRE_RESULT_COUNT };
#undef AS_RESULT
extern const char *const wire_result_labels[WIRE_RESULT_COUNT];

struct wire_reader;

/* NULL when out of memory. */
MUST_CHECK struct wire_reader *wire_reader_new(void);
void wire_reader_free(struct wire_reader *reader);
/* The bytes are borrowed until the next call. Takes at most 24 bytes of memory for each of
 * them, given back by wire_close(). */
enum wire_result wire_open(struct wire_reader *reader, struct span bytes);
/* Of the batch that is open. */
uint64_t wire_agent(const struct wire_reader *reader);
uint64_t wire_sequence(const struct wire_reader *reader);
uint32_t wire_names(const struct wire_reader *reader);
/* The next entry; false after the last. Unknown kinds are passed over, and so is what is no
 * entry of its kind; both are counted. */
bool wire_next(struct wire_reader *reader, struct wire_entry *ret_entry);
void wire_close(struct wire_reader *reader);
uint64_t wire_unknown(const struct wire_reader *reader); /* entries, since it was made */
uint64_t wire_malformed(const struct wire_reader *reader);
