/* wire_write.c - batches, packed into memory of a fixed size.
 *
 * Entries are packed as they come, names beside them; the head, whose arrays say how many
 * there are, is packed last and in front. */
#include "redis/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "policies/core/bug.h"

enum {
	HEAD_MAX = 64, /* array, schema, agent, sequence, array of names */
	ARRAY_MAX = 5, /* header of an array */
	NAME_SLOTS = 2 * WIRE_NAMES_MAX,
};

#define AS_NAME(id, number, name) [number] = name,
const char *const wire_kind_names[WIRE_KIND_COUNT] = { WIRE_KINDS(AS_NAME) };
#undef AS_NAME

struct packed {
	size_t size, room;
	bool full;
	char at[WIRE_BATCH_MAX];
};

struct wire_writer {
	uint64_t agent;
	struct packed entries, names, whole;
	uint32_t count;
	uint32_t name_count;
	struct said {
		uint32_t at, len;
	} said[WIRE_NAMES_MAX];          /* the text of each, among the names */
	uint16_t name_slots[NAME_SLOTS]; /* place + 1, by hash */
};

bool wire_has_target(enum wire_kind kind)
{
	return kind != WIRE_BYE && kind != WIRE_LIMIT && kind != WIRE_TENANT;
}

bool wire_has_age(enum wire_kind kind)
{
	return wire_has_target(kind) && kind != WIRE_LOAD && kind != WIRE_AVERAGES;
}

struct span wire_name_of(const struct target *target, char text[WIRE_NAME_MAX])
{
	int length = snprintf(text, WIRE_NAME_MAX, "%s%s",
	                      target->kind == TARGET_INSTANCE ? "@" : "", target->label);

	return (struct span){ text, (size_t)length };
}

static int append(void *data, const char *bytes, size_t size)
{
	struct packed *packed = data;

	if (packed->full || size > packed->room - packed->size) {
		packed->full = true;
		return -1;
	}
	memcpy(packed->at + packed->size, bytes, size);
	packed->size += size;
	return 0;
}

struct wire_writer *wire_writer_new(uint64_t agent)
{
	struct wire_writer *writer = calloc(1, sizeof(*writer));

	if (writer)
		writer->agent = agent;
	return writer;
}

void wire_writer_free(struct wire_writer *writer)
{
	free(writer);
}

void wire_begin(struct wire_writer *writer)
{
	writer->count = writer->name_count = 0;
	writer->entries.size = writer->names.size = 0;
	writer->entries.room = writer->names.room = writer->whole.room = WIRE_BATCH_MAX;
	writer->entries.full = writer->names.full = false;
	memset(writer->name_slots, 0, sizeof(writer->name_slots));
}

uint32_t wire_count(const struct wire_writer *writer)
{
	return writer->count;
}

static uint32_t slot_of(struct span name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < name.len; i++)
		hash = (hash ^ (unsigned char)name.at[i]) * 16777619u;
	return hash % NAME_SLOTS;
}

static bool is_named(const struct wire_writer *writer, uint32_t place, struct span name)
{
	const struct said *said = &writer->said[place];

	return said->len == name.len && memcmp(writer->names.at + said->at, name.at, name.len) == 0;
}

/* The place of a name, which is said now if it was not yet. */
static bool place_of(struct wire_writer *writer, struct span name, uint32_t *ret_place)
{
	msgpack_packer packer = { &writer->names, append };
	uint32_t slot = slot_of(name);

	for (; writer->name_slots[slot]; slot = (slot + 1) % NAME_SLOTS) {
		uint32_t place = writer->name_slots[slot] - 1u;

		if (is_named(writer, place, name)) {
			*ret_place = place;
			return true;
		}
	}
	if (writer->name_count == WIRE_NAMES_MAX)
		return false;
	(void)msgpack_pack_str_with_body(&packer, name.at, name.len);
	if (writer->names.full)
		return false;
	writer->said[writer->name_count] =
	        (struct said){ (uint32_t)(writer->names.size - name.len), (uint32_t)name.len };
	writer->name_slots[slot] = (uint16_t)(writer->name_count + 1);
	*ret_place = writer->name_count++;
	return true;
}

static bool has_age(const struct wire_entry *entry)
{
	return wire_has_age(entry->kind) && entry->age >= MSEC;
}

/* values: behind the place, without the age. */
static void pack_kind(msgpack_packer *packer, const struct wire_entry *entry, unsigned values,
                      uint32_t place)
{
	(void)msgpack_pack_array(packer, 2 + values + has_age(entry));
	(void)msgpack_pack_uint32(packer, entry->kind);
	(void)msgpack_pack_uint32(packer, place);
}

static void pack_load(msgpack_packer *packer, const struct peer_load *load)
{
	(void)msgpack_pack_uint32(packer, load->work.running);
	(void)msgpack_pack_uint32(packer, load->work.awaiting);
	(void)msgpack_pack_uint64(packer, load->work.prefill_tokens);
	(void)msgpack_pack_uint64(packer, load->work.resident_tokens);
	(void)msgpack_pack_uint64(packer, load->acquired);
}

static void pack_hashes(msgpack_packer *packer, const struct wire_chain *chain)
{
	unsigned char bytes[8 * LADDER_BLOCKS_MAX];

	for (uint32_t i = 0; i < chain->blocks; i++) {
		for (uint32_t j = 0; j < 8; j++)
			bytes[8 * i + j] = (unsigned char)(chain->hashes[i] >> (8 * j));
	}
	(void)msgpack_pack_bin_with_body(packer, bytes, 8 * chain->blocks);
}

static uint64_t usec_of(double milliseconds)
{
	return milliseconds > 0 && milliseconds < 1e12 ? (uint64_t)(milliseconds * 1e3) : 0;
}

static bool pack_chain(struct wire_writer *writer, msgpack_packer *packer,
                       const struct wire_entry *entry, uint32_t place)
{
	uint32_t ladder;

	BUG_ON(entry->chain.blocks == 0 || entry->chain.blocks > LADDER_BLOCKS_MAX);
	if (!place_of(writer, entry->chain.ladder, &ladder))
		return false;
	pack_kind(packer, entry, 2, place);
	(void)msgpack_pack_uint32(packer, ladder);
	pack_hashes(packer, &entry->chain);
	return true;
}

static bool pack_pin(struct wire_writer *writer, msgpack_packer *packer,
                     const struct wire_entry *entry, uint32_t place)
{
	const struct wire_pin *pin = &entry->pin;
	uint32_t from = 0;

	if (pin->from.at && !place_of(writer, pin->from, &from))
		return false;
	pack_kind(packer, entry, 3, place);
	(void)msgpack_pack_uint64(packer, pin->key.hash);
	(void)msgpack_pack_uint32(packer, pin->key.check);
	if (pin->from.at)
		(void)msgpack_pack_uint32(packer, from);
	else
		(void)msgpack_pack_nil(packer);
	return true;
}

static void pack_text(msgpack_packer *packer, const char *text)
{
	size_t length = strnlen(text, NAME_MAX_BYTES - 1);

	(void)msgpack_pack_str_with_body(packer, text, length);
}

static void pack_limit(msgpack_packer *packer, const struct limit_use *use)
{
	(void)msgpack_pack_array(packer, 9);
	(void)msgpack_pack_uint32(packer, WIRE_LIMIT);
	(void)msgpack_pack_uint32(packer, use->of);
	(void)msgpack_pack_uint64(packer, use->key);
	pack_text(packer, use->tenant);
	pack_text(packer, use->model);
	(void)msgpack_pack_double(packer, use->used[LIMIT_REQUESTS]);
	(void)msgpack_pack_double(packer, use->used[LIMIT_TOKENS]);
	(void)msgpack_pack_uint64(packer, use->over / MSEC);
	(void)msgpack_pack_uint32(packer, use->inflight);
}

static void pack_tenant(msgpack_packer *packer, const struct tenant_use *use)
{
	(void)msgpack_pack_array(packer, 4);
	(void)msgpack_pack_uint32(packer, WIRE_TENANT);
	(void)msgpack_pack_uint64(packer, use->key);
	pack_text(packer, use->name);
	(void)msgpack_pack_double(packer, use->tokens);
}

static bool pack_values(struct wire_writer *writer, msgpack_packer *packer,
                        const struct wire_entry *entry)
{
	uint32_t place = 0;

	if (wire_has_target(entry->kind) && !place_of(writer, entry->name, &place))
		return false;
	switch (entry->kind) {
	case WIRE_LOAD:
		pack_kind(packer, entry, 5, place);
		pack_load(packer, &entry->load);
		return true;
	case WIRE_AVERAGES:
		pack_kind(packer, entry, 2, place);
		(void)msgpack_pack_uint64(packer, usec_of(entry->ttft_ms));
		(void)msgpack_pack_uint64(packer, usec_of(entry->e2e_ms));
		return true;
	case WIRE_EJECTED:
		pack_kind(packer, entry, 1, place);
		(void)msgpack_pack_uint64(packer, entry->length / MSEC);
		return true;
	case WIRE_RECOVERED:
	case WIRE_FORGOTTEN:
		pack_kind(packer, entry, 0, place);
		return true;
	case WIRE_BYE:
		(void)msgpack_pack_array(packer, 1);
		(void)msgpack_pack_uint32(packer, WIRE_BYE);
		return true;
	case WIRE_BOUND:
	case WIRE_EVICTED:
		return pack_chain(writer, packer, entry, place);
	case WIRE_PINNED:
		return pack_pin(writer, packer, entry, place);
	case WIRE_LIMIT:
		pack_limit(packer, &entry->limit);
		return true;
	case WIRE_TENANT:
		pack_tenant(packer, &entry->tenant);
		return true;
	case WIRE_KIND_COUNT:
		break;
	}
	BUG_ON(true);
	return false;
}

static bool pack(struct wire_writer *writer, msgpack_packer *packer, const struct wire_entry *entry)
{
	if (!pack_values(writer, packer, entry))
		return false;
	if (has_age(entry))
		(void)msgpack_pack_uint64(packer, entry->age / MSEC);
	return true;
}

static size_t size_of(const struct wire_writer *writer)
{
	return HEAD_MAX + ARRAY_MAX + writer->names.size + writer->entries.size;
}

/* The last ones are the last that were put into the slots, so nothing lies behind them. */
static void unsay(struct wire_writer *writer, uint32_t count, size_t size)
{
	writer->names.size = size;
	writer->names.full = false;
	for (size_t i = 0; writer->name_count > count && i < NAME_SLOTS; i++) {
		if (writer->name_slots[i] > count)
			writer->name_slots[i] = 0;
	}
	writer->name_count = count;
}

bool wire_put(struct wire_writer *writer, const struct wire_entry *entry)
{
	msgpack_packer packer = { &writer->entries, append };
	size_t entries = writer->entries.size, names = writer->names.size;
	uint32_t count = writer->name_count;

	if (pack(writer, &packer, entry) && !writer->entries.full &&
	    size_of(writer) <= WIRE_BATCH_MAX) {
		writer->count++;
		return true;
	}
	writer->entries.size = entries;
	writer->entries.full = false;
	unsay(writer, count, names);
	return false;
}

struct span wire_end(struct wire_writer *writer, uint64_t sequence)
{
	msgpack_packer packer = { &writer->whole, append };

	writer->whole.size = 0;
	writer->whole.full = false;
	(void)msgpack_pack_array(&packer, 5);
	(void)msgpack_pack_uint32(&packer, WIRE_SCHEMA);
	(void)msgpack_pack_uint64(&packer, writer->agent);
	(void)msgpack_pack_uint64(&packer, sequence);
	(void)msgpack_pack_array(&packer, writer->name_count);
	(void)append(&writer->whole, writer->names.at, writer->names.size);
	(void)msgpack_pack_array(&packer, writer->count);
	(void)append(&writer->whole, writer->entries.at, writer->entries.size);
	BUG_ON(writer->whole.full);
	return (struct span){ writer->whole.at, writer->whole.size };
}
