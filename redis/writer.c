/* writer.c - batches, and the commands that carry them.
 *
 * Replies come in the order of the commands, so the kept stream's are counted off a list of the
 * positions that each batch reached. The first failure rewinds to what arrived; what was
 * sent behind it and arrives all the same is told twice, which does no harm. What arrived and is
 * lost there later is told again, too (writer_look.c). */
#include "redis/writer_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const usec_t expire_each = 60 * SECOND;
static const usec_t time_each = 10 * SECOND;
static const double mean_weight = 0.05; /* of one entry's size */

enum {
	ENTRY_BYTES = 100, /* what the store adds to an entry, about */
	KEPT_LENGTH_MIN = 100,
	KEPT_LENGTH_MAX = 1000000,
	MEAN_FIRST = 1000, /* bytes of an entry, before any was seen */
};

struct writer *writer_new(struct pulse *pulse, struct outbox *outbox,
                          const struct writer_options *options)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->pulse = pulse;
	writer->outbox = outbox;
	writer->options = *options;
	writer->counts.kept_mean = MEAN_FIRST;
	writer->wire = wire_writer_new(options->agent);
	if (writer->wire)
		return writer;
	free(writer);
	return NULL;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	wire_writer_free(writer->wire);
	free(writer);
}

void writer_start(struct writer *writer, struct redis_link *link)
{
	writer->link = link;
}

void writer_set(struct writer *writer, double kept_bytes, usec_t expiry)
{
	writer->options.kept_bytes = kept_bytes;
	writer->options.expiry = expiry;
}

void writer_saw_kept(struct writer *writer, size_t bytes)
{
	writer->counts.kept_mean += ((double)bytes - writer->counts.kept_mean) * mean_weight;
}

void writer_note(struct writer *writer, enum op op, enum redis_result result, usec_t sent,
                 const struct redis_reply *reply)
{
	ops_note(writer->options.ops, op, result, writer->options.now() - sent);
	if (result != REDIS_RESULT_OK && result != REDIS_RESULT_LOST)
		writer->options.on_failed(writer->options.data, op, result,
		                          reply ? reply->text : (struct span){ "", 0 });
}

bool writer_send(struct writer *writer, const struct span *words, size_t count,
                 void (*on_reply)(void *, enum redis_result, const struct redis_reply *))
{
	const struct redis_command command = {
		.words = words,
		.count = count,
		.deadline = WRITER_DEADLINE,
		.on_reply = on_reply,
		.data = writer,
	};

	return redis_link_send(writer->link, &command);
}

static void on_expired(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct writer *writer = data;

	writer_note(writer, OP_EXPIRE, result, writer->expire_asked, reply);
}

static void expire(struct writer *writer, enum keys_stream stream, usec_t now)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%" PRIu64, writer->options.expiry / MSEC);
	const struct span words[] = { REDIS_WORD("PEXPIRE"),
		                      keys_of(&writer->options.keys, stream),
		                      { text, (size_t)length } };

	if (now < writer->streams[stream].expire_at || !writer_send(writer, words, 3, on_expired))
		return;
	writer->streams[stream].expire_at = now + expire_each;
	writer->expire_asked = now;
}

static void on_time(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct writer *writer = data;

	writer_note(writer, OP_TIME, result, writer->time_asked, reply);
	if (result == REDIS_RESULT_OK && reply)
		(void)!store_clock_read(writer->options.clock, reply, writer->time_asked,
		                        writer->options.now());
}

static void ask_time(struct writer *writer, usec_t now)
{
	const struct span words[] = { REDIS_WORD("TIME") };

	if (now < writer->time_at || !writer_send(writer, words, 1, on_time))
		return;
	writer->time_asked = now;
	writer->time_at = now + time_each;
}

/* --- what becomes of a batch */

void writer_rewind(struct writer *writer, enum keys_stream stream)
{
	struct under_way *way = &writer->streams[stream];

	for (uint32_t i = 0; i < way->count; i++)
		way->lost[(way->first + i) % WRITER_UNDER_WAY] = true;
	way->sent = 0;
}

static void on_added(struct writer *writer, enum keys_stream stream, enum redis_result result,
                     const struct redis_reply *reply)
{
	struct under_way *way = &writer->streams[stream];
	uint32_t first = way->first;
	struct entry_id id;

	writer_note(writer, stream == KEYS_LIVE ? OP_ADD_LIVE : OP_ADD_KEPT, result,
	            way->sent_at[first], reply);
	way->first = (first + 1) % WRITER_UNDER_WAY;
	way->count--;
	if (result != REDIS_RESULT_OK) {
		writer_rewind(writer, stream);
		way->pause_to = writer->options.now() + WRITER_PAUSE;
		return;
	}
	if (!way->lost[first])
		outbox_done(writer->outbox, stream, way->ends[first]);
	if (!reply || !entry_id_read(redis_reply_text(reply), &id))
		return;
	way->last = id;
	writer->options.on_added(writer->options.data, stream, id);
}

static void on_added_live(void *data, enum redis_result result, const struct redis_reply *reply)
{
	on_added(data, KEYS_LIVE, result, reply);
}

static void on_added_kept(void *data, enum redis_result result, const struct redis_reply *reply)
{
	on_added(data, KEYS_KEPT, result, reply);
}

static unsigned length_of(const struct writer *writer, enum keys_stream stream)
{
	double length = writer->options.kept_bytes / (writer->counts.kept_mean + ENTRY_BYTES);

	if (stream == KEYS_LIVE)
		return WRITER_LIVE_LENGTH;
	if (length < KEPT_LENGTH_MIN)
		return KEPT_LENGTH_MIN;
	return length < KEPT_LENGTH_MAX ? (unsigned)length : KEPT_LENGTH_MAX;
}

/* False: the link takes no more. */
static bool add(struct writer *writer, enum keys_stream stream, uint64_t end)
{
	struct under_way *way = &writer->streams[stream];
	struct span batch = wire_end(writer->wire, way->sequence + 1);
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", length_of(writer, stream));
	const struct span words[] = {
		REDIS_WORD("XADD"),       keys_of(&writer->options.keys, stream),
		REDIS_WORD("MAXLEN"),     REDIS_WORD("~"),
		{ text, (size_t)length }, REDIS_WORD("*"),
		REDIS_WORD(KEYS_FIELD),   batch
	};
	uint32_t place = (way->first + way->count) % WRITER_UNDER_WAY;

	if (!writer_send(writer, words, sizeof(words) / sizeof(words[0]),
	                 stream == KEYS_LIVE ? on_added_live : on_added_kept))
		return false;
	way->sequence++;
	way->ends[place] = way->sent = end;
	way->lost[place] = false;
	way->sent_at[place] = writer->options.now();
	way->count++;
	writer->counts.bytes += batch.len;
	if (stream == KEYS_KEPT)
		writer_saw_kept(writer, batch.len);
	return true;
}

/* --- a tick */

static bool may_tell(const struct writer *writer, enum keys_stream stream, usec_t now)
{
	const struct under_way *way = &writer->streams[stream];

	return now >= way->pause_to && way->count + WRITER_BATCHES <= WRITER_UNDER_WAY;
}

static void tell_live(struct writer *writer, bool all, usec_t now)
{
	bool more = true;

	pulse_begin(writer->pulse, all, now);
	for (int i = 0; more && i < WRITER_BATCHES; i++) {
		uint64_t end;

		wire_begin(writer->wire);
		end = outbox_fill(writer->outbox, KEYS_LIVE, writer->streams[KEYS_LIVE].sent,
		                  writer->wire);
		more = pulse_fill(writer->pulse, writer->wire, now);
		if (wire_count(writer->wire) == 0 && (i > 0 || !pulse_is_whole(writer->pulse)))
			return;
		if (!add(writer, KEYS_LIVE, end)) {
			pulse_anew(writer->pulse);
			return;
		}
	}
}

/* Without loads: nothing of us counts from here on. */
static void tell_bye(struct writer *writer)
{
	const struct wire_entry bye = { .kind = WIRE_BYE };
	uint64_t end;

	wire_begin(writer->wire);
	if (!wire_put(writer->wire, &bye))
		return;
	end = outbox_fill(writer->outbox, KEYS_LIVE, writer->streams[KEYS_LIVE].sent, writer->wire);
	writer->over = add(writer, KEYS_LIVE, end);
}

static void tell_kept(struct writer *writer)
{
	struct under_way *way = &writer->streams[KEYS_KEPT];

	for (int i = 0; i < WRITER_BATCHES; i++) {
		uint64_t end;

		wire_begin(writer->wire);
		end = outbox_fill(writer->outbox, KEYS_KEPT, way->sent, writer->wire);
		if (wire_count(writer->wire) > 0) {
			if (!add(writer, KEYS_KEPT, end))
				return;
			continue;
		}
		/* All of that is gone, or holds no more. */
		if (way->count == 0)
			outbox_done(writer->outbox, KEYS_KEPT, end);
		if (end == way->sent)
			return;
		way->sent = end;
	}
}

void writer_up(struct writer *writer)
{
	for (int i = 0; i < KEYS_STREAMS; i++) {
		writer->streams[i].pause_to = 0;
		writer->streams[i].expire_at = 0;
	}
	writer->time_at = 0;
	pulse_anew(writer->pulse);
	writer_look(writer);
}

void writer_tick(struct writer *writer, bool all)
{
	usec_t now = writer->options.now();

	outbox_tick(writer->outbox, now);
	if (!redis_link_is_up(writer->link))
		return;
	if (!may_tell(writer, KEYS_LIVE, now))
		writer->counts.put_off++;
	else if (!writer->over)
		tell_live(writer, all, now);
	if (!all)
		return;
	if (may_tell(writer, KEYS_KEPT, now))
		tell_kept(writer);
	for (int i = 0; i < KEYS_STREAMS; i++) {
		if (writer->streams[i].sequence > 0)
			expire(writer, (enum keys_stream)i, now);
	}
	ask_time(writer, now);
}

void writer_bye(struct writer *writer)
{
	if (!redis_link_is_up(writer->link) || writer->over)
		return;
	tell_bye(writer);
	writer_tick(writer, true);
}

bool writer_is_done(const struct writer *writer)
{
	return writer->streams[KEYS_LIVE].count == 0 && writer->streams[KEYS_KEPT].count == 0 &&
	       outbox_waiting(writer->outbox, KEYS_KEPT) == 0;
}

const struct writer_counts *writer_counts(const struct writer *writer)
{
	return &writer->counts;
}
