/* writer_parts.h - what the files writer*.c share. Nobody else includes it. */
#pragma once

#include "redis/writer.h"

/* Batches of a stream that are under way. */
struct under_way {
	uint64_t ends[WRITER_UNDER_WAY]; /* position in the outbox behind each */
	bool lost[WRITER_UNDER_WAY];     /* behind one that failed */
	usec_t sent_at[WRITER_UNDER_WAY];
	uint32_t first, count;
	uint64_t sent;   /* position: up to here it is under way */
	usec_t pause_to; /* after a failure */
	usec_t expire_at;
	uint64_t sequence;
	struct entry_id last; /* of ours that arrived; 0-0: none */
	usec_t looked_at;
};

struct writer {
	struct redis_link *link;
	struct pulse *pulse;
	struct outbox *outbox;
	struct writer_options options;
	struct wire_writer *wire;
	struct under_way streams[KEYS_STREAMS];
	usec_t time_at, time_asked, expire_asked;
	bool over; /* it was told that we stop */
	struct writer_counts counts;
};

void writer_note(struct writer *writer, enum op op, enum redis_result result, usec_t sent,
                 const struct redis_reply *reply);
MUST_CHECK bool writer_send(struct writer *writer, const struct span *words, size_t count,
                            void (*on_reply)(void *, enum redis_result,
                                             const struct redis_reply *));
/* What is under way counts as lost, even if it arrives: it is told again. */
void writer_rewind(struct writer *writer, enum keys_stream stream);

/* writer_look.c: the link came up. Does the store still have what we told it last? If not, all that
 * we remember is told again. */
void writer_look(struct writer *writer);
