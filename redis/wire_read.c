/* wire_read.c - batches, unpacked: whatever anybody may have put into the store.
 *
 * msgpack-c sees only bytes that bounds.h has walked. What comes out is a tree whose texts lie
 * in the bytes themselves; each value's type is looked at before it is taken. */
#include "redis/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "redis/bounds.h"

enum { DEPTH = 5 /* the batch, its entries, an entry, and one more of a later version */ };

#define AS_LABEL(id, label) label,
const char *const wire_result_labels[WIRE_RESULT_COUNT] = { WIRE_RESULTS(AS_LABEL) };
#undef AS_LABEL

struct wire_reader {
	msgpack_zone zone;
	bool open;
	uint64_t agent, sequence;
	const msgpack_object_array *names, *entries;
	uint32_t at; /* of the entries */
	uint64_t unknown, malformed;
};

struct wire_reader *wire_reader_new(void)
{
	return calloc(1, sizeof(struct wire_reader));
}

void wire_reader_free(struct wire_reader *reader)
{
	if (!reader)
		return;
	wire_close(reader);
	free(reader);
}

void wire_close(struct wire_reader *reader)
{
	if (reader->open)
		msgpack_zone_destroy(&reader->zone);
	reader->open = false;
}

static bool take_number(const msgpack_object *object, uint64_t *ret_number)
{
	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return false;
	*ret_number = object->via.u64;
	return true;
}

static bool are_names(const msgpack_object_array *names)
{
	for (uint32_t i = 0; i < names->size; i++) {
		if (names->ptr[i].type != MSGPACK_OBJECT_STR ||
		    names->ptr[i].via.str.size >= WIRE_NAME_MAX)
			return false;
	}
	return names->size <= WIRE_NAMES_MAX;
}

static enum wire_result read_head(struct wire_reader *reader, const msgpack_object *object)
{
	const msgpack_object *values = object->via.array.ptr;
	uint64_t schema;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size == 0 ||
	    !take_number(&values[0], &schema))
		return WIRE_RESULT_NO_BATCH;
	if (schema != WIRE_SCHEMA)
		return WIRE_RESULT_OTHER_SCHEMA;
	if (object->via.array.size < 5 || !take_number(&values[1], &reader->agent) ||
	    reader->agent == 0 || !take_number(&values[2], &reader->sequence) ||
	    values[3].type != MSGPACK_OBJECT_ARRAY || values[4].type != MSGPACK_OBJECT_ARRAY ||
	    !are_names(&values[3].via.array))
		return WIRE_RESULT_NO_BATCH;
	reader->names = &values[3].via.array;
	reader->entries = &values[4].via.array;
	reader->at = 0;
	return WIRE_RESULT_OK;
}

enum wire_result wire_open(struct wire_reader *reader, struct span bytes)
{
	msgpack_object object;
	size_t end = 0;
	enum wire_result result;

	wire_close(reader);
	if (bytes.len > WIRE_ACCEPT_MAX)
		return WIRE_RESULT_TOO_LONG;
	if (!bounds_hold(bytes.at, bytes.len, DEPTH) ||
	    !msgpack_zone_init(&reader->zone, MSGPACK_ZONE_CHUNK_SIZE))
		return WIRE_RESULT_NOT_MSGPACK;
	reader->open = true;
	if (msgpack_unpack(bytes.at, bytes.len, &end, &reader->zone, &object) !=
	            MSGPACK_UNPACK_SUCCESS ||
	    end != bytes.len)
		result = WIRE_RESULT_NOT_MSGPACK;
	else
		result = read_head(reader, &object);
	if (result != WIRE_RESULT_OK)
		wire_close(reader);
	return result;
}

uint64_t wire_agent(const struct wire_reader *reader)
{
	return reader->agent;
}

uint64_t wire_sequence(const struct wire_reader *reader)
{
	return reader->sequence;
}

uint32_t wire_names(const struct wire_reader *reader)
{
	return reader->names->size;
}

/* What an entry holds behind its kind; each take_ moves on, and fails at its end. */
struct values {
	const struct wire_reader *reader;
	const msgpack_object *at, *end;
};

static bool next_number(struct values *values, uint64_t most, uint64_t *ret_number)
{
	if (values->at == values->end || !take_number(values->at, ret_number))
		return false;
	if (*ret_number > most)
		*ret_number = most;
	values->at++;
	return true;
}

static bool next_count(struct values *values, uint32_t *ret_count)
{
	uint64_t number;

	if (!next_number(values, UINT32_MAX, &number))
		return false;
	*ret_count = (uint32_t)number;
	return true;
}

static bool next_name(struct values *values, uint32_t *ret_place, struct span *ret_name)
{
	const msgpack_object *name;
	uint64_t place;

	if (!next_number(values, UINT32_MAX, &place) || place >= values->reader->names->size)
		return false;
	name = &values->reader->names->ptr[place];
	*ret_place = (uint32_t)place;
	*ret_name = (struct span){ name->via.str.ptr, name->via.str.size };
	return true;
}

static bool next_load(struct values *values, struct peer_load *load)
{
	return next_count(values, &load->work.running) &&
	       next_count(values, &load->work.awaiting) &&
	       next_number(values, INT64_MAX, &load->work.prefill_tokens) &&
	       next_number(values, INT64_MAX, &load->work.resident_tokens) &&
	       next_number(values, UINT64_MAX, &load->acquired);
}

static bool next_milliseconds(struct values *values, double *ret_milliseconds)
{
	uint64_t usec;

	if (!next_number(values, UINT64_MAX, &usec))
		return false;
	*ret_milliseconds = (double)usec / 1e3;
	return true;
}

static bool next_length(struct values *values, usec_t *ret_length)
{
	uint64_t milliseconds;

	if (!next_number(values, UINT64_MAX / MSEC, &milliseconds))
		return false;
	*ret_length = milliseconds * MSEC;
	return true;
}

static bool next_age(struct values *values, usec_t *ret_age)
{
	uint32_t milliseconds; /* 49 days are longer than anything lives */

	if (!next_count(values, &milliseconds))
		return false;
	*ret_age = milliseconds * MSEC;
	return true;
}

static bool next_hashes(struct values *values, struct wire_chain *chain)
{
	const msgpack_object *object = values->at;
	uint32_t size;

	if (object == values->end || object->type != MSGPACK_OBJECT_BIN)
		return false;
	size = object->via.bin.size;
	if (size == 0 || size % 8 != 0 || size > 8 * LADDER_BLOCKS_MAX)
		return false;
	chain->blocks = size / 8;
	memset(chain->hashes, 0, size);
	for (uint32_t i = 0; i < size; i++)
		chain->hashes[i / 8] |= (uint64_t)(unsigned char)object->via.bin.ptr[i]
		                        << (8 * (i % 8));
	values->at++;
	return true;
}

static bool next_chain(struct values *values, struct wire_chain *chain)
{
	uint32_t place;

	return next_name(values, &place, &chain->ladder) && next_hashes(values, chain);
}

static bool next_pin(struct values *values, struct wire_pin *pin)
{
	uint32_t place;

	if (!next_number(values, UINT64_MAX, &pin->key.hash) ||
	    !next_count(values, &pin->key.check) || values->at == values->end)
		return false;
	pin->from = (struct span){ NULL, 0 };
	if (values->at->type != MSGPACK_OBJECT_NIL)
		return next_name(values, &place, &pin->from);
	values->at++;
	return true;
}

/* Into a buffer of NAME_MAX_BYTES; a NUL in it ends it. */
static bool next_text(struct values *values, char *ret_text)
{
	const msgpack_object *object = values->at;

	if (object == values->end || object->type != MSGPACK_OBJECT_STR ||
	    object->via.str.size >= NAME_MAX_BYTES)
		return false;
	(void)snprintf(ret_text, NAME_MAX_BYTES, "%.*s", (int)object->via.str.size,
	               object->via.str.ptr);
	values->at++;
	return true;
}

/* A fraction, or a whole number as others may write it. */
static bool next_double(struct values *values, double *ret_number)
{
	const msgpack_object *object = values->at;
	double number;

	if (object == values->end)
		return false;
	if (object->type == MSGPACK_OBJECT_FLOAT64 || object->type == MSGPACK_OBJECT_FLOAT32)
		number = object->via.f64;
	else if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		number = (double)object->via.u64;
	else if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
		number = (double)object->via.i64;
	else
		return false;
	if (!isfinite(number))
		return false;
	*ret_number = number;
	values->at++;
	return true;
}

static bool next_limit(struct values *values, struct wire_entry *entry)
{
	struct limit_use *use = &entry->limit;
	uint32_t of;

	use->tenant = entry->texts[0];
	use->model = entry->texts[1];
	if (!next_count(values, &of) || of >= LIMIT_SUBJECTS)
		return false;
	use->of = (enum limit_of)of;
	return next_number(values, UINT64_MAX, &use->key) && next_text(values, entry->texts[0]) &&
	       next_text(values, entry->texts[1]) &&
	       next_double(values, &use->used[LIMIT_REQUESTS]) &&
	       next_double(values, &use->used[LIMIT_TOKENS]) && next_length(values, &use->over) &&
	       next_count(values, &use->inflight);
}

static bool next_tenant(struct values *values, struct wire_entry *entry)
{
	entry->tenant.name = entry->texts[0];
	return next_number(values, UINT64_MAX, &entry->tenant.key) &&
	       next_text(values, entry->texts[0]) && next_double(values, &entry->tenant.tokens);
}

static bool take_values(struct values *values, struct wire_entry *entry)
{
	if (wire_has_target(entry->kind) && !next_name(values, &entry->place, &entry->name))
		return false;
	switch (entry->kind) {
	case WIRE_LOAD:
		return next_load(values, &entry->load);
	case WIRE_AVERAGES:
		return next_milliseconds(values, &entry->ttft_ms) &&
		       next_milliseconds(values, &entry->e2e_ms);
	case WIRE_EJECTED:
		return next_length(values, &entry->length);
	case WIRE_BOUND:
	case WIRE_EVICTED:
		return next_chain(values, &entry->chain);
	case WIRE_PINNED:
		return next_pin(values, &entry->pin);
	case WIRE_LIMIT:
		return next_limit(values, entry);
	case WIRE_TENANT:
		return next_tenant(values, entry);
	case WIRE_RECOVERED:
	case WIRE_FORGOTTEN:
	case WIRE_BYE:
	case WIRE_KIND_COUNT:
		break;
	}
	return true;
}

static bool take_entry(struct values *values, struct wire_entry *entry)
{
	entry->age = 0;
	return take_values(values, entry) &&
	       (!wire_has_age(entry->kind) || values->at == values->end ||
	        next_age(values, &entry->age));
}

static bool is_known(uint64_t kind)
{
	return kind < WIRE_KIND_COUNT && wire_kind_names[kind];
}

bool wire_next(struct wire_reader *reader, struct wire_entry *ret_entry)
{
	while (reader->at < reader->entries->size) {
		const msgpack_object *object = &reader->entries->ptr[reader->at++];
		struct values values = { .reader = reader };
		uint64_t kind;

		if (object->type != MSGPACK_OBJECT_ARRAY) {
			reader->malformed++;
			continue;
		}
		values.at = object->via.array.ptr;
		values.end = values.at + object->via.array.size;
		if (!next_number(&values, UINT64_MAX, &kind)) {
			reader->malformed++;
		} else if (!is_known(kind)) {
			reader->unknown++;
		} else {
			ret_entry->kind = (enum wire_kind)kind;
			if (take_entry(&values, ret_entry))
				return true;
			reader->malformed++;
		}
	}
	return false;
}

uint64_t wire_unknown(const struct wire_reader *reader)
{
	return reader->unknown;
}

uint64_t wire_malformed(const struct wire_reader *reader)
{
	return reader->malformed;
}
