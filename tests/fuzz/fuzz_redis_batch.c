/* fuzz_redis_batch.c - whatever somebody wrote into the store: it is read within its bounds,
 * and what was read can be written and is then read the same. */
#include <string.h>

#include "redis/wire.h"
#include "tests/fuzz/fuzz.h"

static int is_same(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static void look_at(const struct wire_entry *entry)
{
	expect(entry->kind > 0 && entry->kind < WIRE_KIND_COUNT && wire_kind_names[entry->kind]);
	if (wire_has_target(entry->kind))
		expect(entry->name.at && entry->name.len < WIRE_NAME_MAX &&
		       entry->place < WIRE_NAMES_MAX);
	if (entry->kind == WIRE_BOUND || entry->kind == WIRE_EVICTED)
		expect(entry->chain.blocks >= 1 && entry->chain.blocks <= LADDER_BLOCKS_MAX &&
		       entry->chain.ladder.len < WIRE_NAME_MAX);
}

static void is_read_again(struct wire_reader *reader, struct wire_reader *again)
{
	struct wire_entry a, b;

	while (wire_next(reader, &a)) {
		memset(&b, 0, sizeof(b));
		expect(wire_next(again, &b));
		expect(a.kind == b.kind);
		if (wire_has_target(a.kind))
			expect(is_same(a.name, b.name));
		if (a.kind == WIRE_LOAD)
			expect(memcmp(&a.load, &b.load, sizeof(a.load)) == 0);
		if (a.kind == WIRE_BOUND || a.kind == WIRE_EVICTED)
			expect(a.chain.blocks == b.chain.blocks &&
			       memcmp(a.chain.hashes, b.chain.hashes, 8 * a.chain.blocks) == 0);
		if (a.kind == WIRE_LIMIT)
			expect(a.limit.key == b.limit.key &&
			       strcmp(a.limit.tenant, b.limit.tenant) == 0 &&
			       a.limit.inflight == b.limit.inflight);
		if (a.kind == WIRE_TENANT)
			expect(a.tenant.key == b.tenant.key &&
			       !(a.tenant.tokens < b.tenant.tokens) &&
			       !(a.tenant.tokens > b.tenant.tokens));
		if (a.kind == WIRE_PINNED)
			expect(a.pin.key.hash == b.pin.key.hash &&
			       !a.pin.from.at == !b.pin.from.at);
	}
	expect(!wire_next(again, &b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_reader *reader = wire_reader_new(), *again = wire_reader_new();
	struct span bytes = { (const char *)data, size };
	struct wire_writer *writer;
	struct wire_entry entry;
	bool all = true;

	expect(reader && again);
	if (wire_open(reader, bytes) == WIRE_RESULT_OK) {
		writer = wire_writer_new(wire_agent(reader));
		expect(writer != NULL);
		wire_begin(writer);
		while (wire_next(reader, &entry)) {
			look_at(&entry);
			all = wire_put(writer, &entry) && all;
		}
		expect(wire_open(again, wire_end(writer, wire_sequence(reader))) == WIRE_RESULT_OK);
		expect(wire_open(reader, bytes) == WIRE_RESULT_OK);
		expect(wire_agent(reader) == wire_agent(again));
		if (all)
			is_read_again(reader, again);
		wire_writer_free(writer);
	}
	wire_reader_free(reader);
	wire_reader_free(again);
	return 0;
}
