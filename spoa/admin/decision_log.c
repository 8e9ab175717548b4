/* decision_log.c - a ring of records, and an index of them by unique-id.
 *
 * The index is buckets of chains. It has the latest of an id only, so that an id
 * that is always the same (an odd unique-id-format) makes no long chain; a record
 * leaves it when the ring comes round.
 * Ends are remembered by number in a ring of their own, for the stream. */
#include "spoa/admin/decision_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spoa/admin/decision_record.h"
#include "spoa/admin/page.h"

#define NO_RECORD UINT32_MAX /* beyond what an enum may hold */

enum {
	CAPACITY_MAX = 1 << 20,
	LINES_AT_ONCE = 64,    /* of a flush: a bound on how long it takes */
	WAITING_MAX = 1 << 20, /* bytes that the reader has not taken yet */
};

/* Of the record in the same place, apart from it: records are large, and seldom in a cache. */
struct entry {
	struct flight_id key;
	uint32_t next; /* in the same bucket; NO_RECORD at its end */
	bool indexed;
};

struct decision_log {
	struct decision_record *records;
	struct entry *entries;
	uint32_t *buckets;
	uint64_t *ends; /* numbers of records that ended, a ring */
	uint32_t capacity, mask;
	struct decision_log_counts counts;
	int fd;
	uint32_t every;
	uint64_t told, told_ends; /* how far the stream has come */
	struct page waiting;
};

struct decision_log *decision_log_new(uint32_t capacity)
{
	struct decision_log *log = calloc(1, sizeof(*log));
	uint32_t buckets = 1;

	if (!log)
		return NULL;
	capacity = capacity < 1 ? 1 : capacity;
	log->capacity = capacity > CAPACITY_MAX ? CAPACITY_MAX : capacity;
	while (buckets < log->capacity)
		buckets *= 2;
	log->mask = buckets - 1;
	log->fd = -1;
	log->counts.capacity = log->capacity;
	log->records = calloc(log->capacity, sizeof(*log->records));
	log->entries = calloc(log->capacity, sizeof(*log->entries));
	log->ends = calloc(log->capacity, sizeof(*log->ends));
	log->buckets = calloc(buckets, sizeof(*log->buckets));
	if (!log->records || !log->entries || !log->ends || !log->buckets) {
		decision_log_free(log);
		return NULL;
	}
	memset(log->buckets, 0xff, buckets * sizeof(*log->buckets));
	return log;
}

void decision_log_free(struct decision_log *log)
{
	if (!log)
		return;
	page_done(&log->waiting);
	free(log->records);
	free(log->entries);
	free(log->buckets);
	free(log->ends);
	free(log);
}

static uint32_t *bucket_of(struct decision_log *log, struct flight_id key)
{
	return &log->buckets[key.low & log->mask];
}

static void take_out(struct decision_log *log, uint32_t slot)
{
	uint32_t *link = bucket_of(log, log->entries[slot].key);

	if (!log->entries[slot].indexed)
		return;
	log->entries[slot].indexed = false;
	while (*link != slot)
		link = &log->entries[*link].next;
	*link = log->entries[slot].next;
}

static void put_in(struct decision_log *log, uint32_t slot, struct flight_id key)
{
	uint32_t *bucket = bucket_of(log, key);

	log->entries[slot] = (struct entry){ .key = key, .next = *bucket, .indexed = true };
	*bucket = slot;
}

/* NO_RECORD when there is none. */
static uint32_t slot_of(const struct decision_log *log, struct flight_id key)
{
	uint32_t slot = log->buckets[key.low & log->mask];

	while (slot != NO_RECORD &&
	       (log->entries[slot].key.high != key.high || log->entries[slot].key.low != key.low))
		slot = log->entries[slot].next;
	return slot;
}

static struct decision_record *find(const struct decision_log *log, struct flight_id key)
{
	uint32_t slot = slot_of(log, key);

	return slot == NO_RECORD ? NULL : &log->records[slot];
}

static struct decision_record *numbered(const struct decision_log *log, uint64_t number)
{
	struct decision_record *record = &log->records[number % log->capacity];

	return record->number == number ? record : NULL;
}

void decision_log_decided(struct decision_log *log, const struct request *request,
                          const struct decision *decision, usec_t now, usec_t cost)
{
	struct flight_id key = flight_id_of(request->id);
	uint64_t number = ++log->counts.decided;
	uint32_t slot = (uint32_t)(number % log->capacity);
	struct decision_record *record = &log->records[slot];
	uint32_t older;

	take_out(log, slot);
	older = slot_of(log, key);
	if (older != NO_RECORD)
		take_out(log, older);
	put_in(log, slot, key);
	decision_record_fill(record, request, decision, now);
	record->number = number;
	record->cost = cost;
}

void decision_log_first_byte(struct decision_log *log, const struct first_byte *event,
                             const struct feedback *feedback, usec_t now)
{
	struct decision_record *record = find(log, flight_id_of(event->id));

	if (record && !feedback->duplicate && record->first_byte_at == 0)
		record->first_byte_at = now;
}

static void keep_text(char *ret_text, size_t room, struct span text)
{
	size_t len = text.len < room ? text.len : room - 1;

	if (len > 0)
		memcpy(ret_text, text.at, len);
	ret_text[len] = '\0';
}

static void keep_end(struct kept_end *kept, const struct stream_end *end,
                     const struct feedback *feedback, usec_t now)
{
	*kept = (struct kept_end){ .at = now,
		                   .status = end->status,
		                   .retries = end->retries,
		                   .moved = feedback->moved,
		                   .expired = feedback->expired,
		                   .known = feedback->known,
		                   .ttft_ms = feedback->ttft_ms,
		                   .e2e_ms = feedback->e2e_ms,
		                   .queue_ms = end->queue_ms,
		                   .bytes_in = end->bytes_in,
		                   .bytes_out = end->bytes_out };
	keep_text(kept->backend, sizeof(kept->backend), end->by.backend);
	keep_text(kept->server, sizeof(kept->server), end->by.server);
	keep_text(kept->address, sizeof(kept->address), end->by.address);
	memcpy(kept->termination, end->termination, sizeof(end->termination));
}

void decision_log_ended(struct decision_log *log, const struct stream_end *end,
                        const struct feedback *feedback, usec_t now)
{
	struct decision_record *record;

	if (feedback->duplicate)
		return;
	record = find(log, flight_id_of(end->id));
	if (!record || record->end.at != 0) {
		log->counts.ended_unknown++;
		return;
	}
	keep_end(&record->end, end, feedback, now);
	log->ends[log->counts.ended++ % log->capacity] = record->number;
}

json_t *decision_log_find(const struct decision_log *log, struct span id,
                          const struct decision_words *words)
{
	const struct decision_record *record = find(log, flight_id_of(id));

	return record ? decision_record_json(record, true, words) : NULL;
}

bool decision_log_request(const struct decision_log *log, struct span id,
                          struct request *ret_request)
{
	const struct decision_record *record = find(log, flight_id_of(id));

	if (!record)
		return false;
	*ret_request = (struct request){ .id = { record->id, strlen(record->id) },
		                         .model = { record->model, strlen(record->model) },
		                         .has_prompt = record->has_prompt,
		                         .prompt_bytes = record->prompt_bytes,
		                         .body_bytes = record->body_total,
		                         .body_total = record->body_total,
		                         .hash_count = record->hash_count };
	memcpy(ret_request->hashes, record->hashes, record->hash_count * sizeof(record->hashes[0]));
	return true;
}

json_t *decision_log_last(const struct decision_log *log, uint32_t most, bool candidates,
                          const struct decision_words *words)
{
	json_t *list = json_array();
	uint64_t number = log->counts.decided;

	for (uint32_t i = 0; i < most && i < log->capacity && number > 0; i++, number--)
		(void)json_array_append_new(
		        list, decision_record_json(numbered(log, number), candidates, words));
	return list;
}

struct decision_log_counts decision_log_counts(const struct decision_log *log)
{
	struct decision_log_counts counts = log->counts;

	counts.records = counts.decided < log->capacity ? (uint32_t)counts.decided : log->capacity;
	return counts;
}

void decision_log_stream(struct decision_log *log, int fd, uint32_t every)
{
	log->fd = fd;
	log->every = every;
	log->told = log->counts.decided;
	log->told_ends = log->counts.ended;
	page_done(&log->waiting);
}

/* Takes the object. */
static void say_line(struct decision_log *log, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	if (text) {
		page_text(&log->waiting, text);
		page_text(&log->waiting, "\n");
		log->counts.lines++;
	} else {
		log->counts.dropped++;
	}
	free(text);
}

static bool streamed(const struct decision_log *log, uint64_t number)
{
	return number % log->every == 0;
}

/* From `told` on, less those that the ring has lost. */
static void skip_lost(struct decision_log *log, uint64_t *told, uint64_t count)
{
	if (count - *told <= log->capacity)
		return;
	log->counts.dropped += (count - log->capacity - *told) / log->every;
	*told = count - log->capacity;
}

static void say_new(struct decision_log *log, const struct decision_words *words)
{
	int left = LINES_AT_ONCE;

	skip_lost(log, &log->told, log->counts.decided);
	while (log->told < log->counts.decided && left > 0 && log->waiting.len < WAITING_MAX) {
		uint64_t number = ++log->told;

		if (!streamed(log, number))
			continue;
		say_line(log, decision_record_json(numbered(log, number), true, words));
		left--;
	}
	/* Comes to it only when all decisions are told: an end is never before its own. */
	skip_lost(log, &log->told_ends, log->counts.ended);
	while (log->told_ends < log->counts.ended && left > 0 && log->waiting.len < WAITING_MAX) {
		uint64_t number = log->ends[log->told_ends % log->capacity];
		const struct decision_record *record = numbered(log, number);

		log->told_ends++;
		if (!streamed(log, number))
			continue;
		left--;
		if (record)
			say_line(log, decision_record_end_json(record, words));
		else
			log->counts.dropped++;
	}
}

/* A reader that is gone takes nothing of what waits: half a line must not be
 * followed by another. */
static void write_waiting(struct decision_log *log)
{
	struct page *waiting = &log->waiting;
	ssize_t n;

	if (waiting->failed) {
		page_done(waiting);
		return;
	}
	while (waiting->len > 0) {
		n = write(log->fd, waiting->at, waiting->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			waiting->len = 0;
			return;
		}
		memmove(waiting->at, waiting->at + n, waiting->len - (size_t)n);
		waiting->len -= (size_t)n;
	}
}

void decision_log_flush(struct decision_log *log, const struct decision_words *words)
{
	if (log->fd < 0 || log->every == 0)
		return;
	say_new(log, words);
	write_waiting(log);
}
