/* test_wire.c - batches as they are written are read, and everything else is left out.
 * Proves P111, R050, R086. */
#include "redis/wire.h"
#include "tests/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { AGENT = 0x1234 };

static struct wire_writer *writer;
static struct wire_reader *reader;

static int begin(void **state)
{
	(void)state;
	writer = wire_writer_new(AGENT);
	reader = wire_reader_new();
	if (!writer || !reader)
		return -1;
	wire_begin(writer);
	return 0;
}

static int end(void **state)
{
	(void)state;
	wire_writer_free(writer);
	wire_reader_free(reader);
	return 0;
}

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

static struct wire_entry load_of(const char *name, uint32_t running)
{
	return (struct wire_entry){ .kind = WIRE_LOAD,
		                    .name = span_of(name),
		                    .load = { { running, 2, 3000000000, UINT32_MAX }, 5 } };
}

static struct wire_entry chain_of(enum wire_kind kind, const char *holder, uint32_t blocks)
{
	struct wire_entry entry = { .kind = kind, .name = span_of(holder) };

	entry.chain.ladder = span_of("4x1k,12x4k");
	entry.chain.blocks = blocks;
	for (uint32_t i = 0; i < blocks; i++)
		entry.chain.hashes[i] = 0x8000000000000001u * (i + 1);
	return entry;
}

/* What was written, opened. */
static void reopen(void)
{
	assert_int_equal(wire_open(reader, wire_end(writer, 7)), WIRE_RESULT_OK);
	assert_int_equal(wire_agent(reader), AGENT);
	assert_int_equal(wire_sequence(reader), 7);
}

static void every_kind_is_read_as_it_was_written(void **state)
{
	struct wire_entry written[] = {
		load_of("10.0.0.1:8000", 1),
		{ .kind = WIRE_AVERAGES, .name = span_of("@chat"), .ttft_ms = 12.5, .e2e_ms = 0 },
		{ .kind = WIRE_EJECTED, .name = span_of("10.0.0.1:8000"), .length = 10 * SECOND },
		{ .kind = WIRE_RECOVERED, .name = span_of("10.0.0.1:8000") },
		{ .kind = WIRE_FORGOTTEN, .name = span_of("10.0.0.1:8000") },
		{ .kind = WIRE_PINNED,
		  .name = span_of("10.0.0.1:8000"),
		  .pin = { { UINT64_MAX, UINT32_MAX }, span_of("[::1]:8000") },
		  .age = 1234 * MSEC },
		{ .kind = WIRE_PINNED, .name = span_of("[::1]:8000"), .pin = { { 1, 2 }, { 0 } } },
		chain_of(WIRE_BOUND, "10.0.0.1:8000", 32),
		chain_of(WIRE_EVICTED, "[::1]:8000", 1),
		{ .kind = WIRE_BYE },
	};
	struct wire_entry read;

	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		assert_true(wire_put(writer, &written[i]));
	assert_int_equal(wire_count(writer), sizeof(written) / sizeof(written[0]));
	reopen();
	assert_int_equal(wire_names(reader), 4);

	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_LOAD);
	assert_true(is(read.name, "10.0.0.1:8000"));
	assert_memory_equal(&read.load, &written[0].load, sizeof(read.load));
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_AVERAGES);
	assert_true(is(read.name, "@chat"));
	assert_int_equal((int)(read.ttft_ms * 1000), 12500);
	assert_int_equal((int)read.e2e_ms, 0);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_EJECTED);
	assert_int_equal(read.length, 10 * SECOND);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_RECOVERED);
	assert_true(is(read.name, "10.0.0.1:8000"));
	assert_int_equal(read.place, 0);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_FORGOTTEN);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_PINNED);
	assert_int_equal(read.age, 1234 * MSEC);
	assert_true(read.pin.key.hash == UINT64_MAX && read.pin.key.check == UINT32_MAX);
	assert_true(is(read.pin.from, "[::1]:8000"));
	assert_true(is(read.name, "10.0.0.1:8000"));
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.age, 0);
	assert_null(read.pin.from.at);
	assert_true(read.pin.key.hash == 1 && read.pin.key.check == 2);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_BOUND);
	assert_true(is(read.chain.ladder, "4x1k,12x4k"));
	assert_int_equal(read.chain.blocks, 32);
	assert_memory_equal(read.chain.hashes, written[7].chain.hashes, 32 * sizeof(uint64_t));
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_EVICTED);
	assert_true(is(read.name, "[::1]:8000"));
	assert_int_equal(read.chain.blocks, 1);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_BYE);
	assert_false(wire_next(reader, &read));
	assert_int_equal(wire_unknown(reader) + wire_malformed(reader), 0);
}

/* To the ms, of those that wait or are told again; the others are of now. */
static void an_age_is_read_with_what_it_is_of(void **state)
{
	static const enum wire_kind aged[] = { WIRE_EJECTED, WIRE_RECOVERED, WIRE_BOUND,
		                               WIRE_EVICTED, WIRE_FORGOTTEN, WIRE_PINNED };
	static const enum wire_kind others[] = { WIRE_LOAD, WIRE_AVERAGES, WIRE_BYE, WIRE_LIMIT,
		                                 WIRE_TENANT };
	const size_t aged_count = sizeof(aged) / sizeof(aged[0]);
	struct wire_entry entry = chain_of(WIRE_BOUND, "a", 2), read;

	(void)state;
	entry.length = 5 * MSEC;
	entry.limit.tenant = entry.limit.model = entry.tenant.name = "";
	for (size_t i = 0; i < aged_count + sizeof(others) / sizeof(others[0]); i++) {
		entry.kind = i < aged_count ? aged[i] : others[i - aged_count];
		entry.age = (2000 + i) * MSEC + 7;
		assert_true(wire_put(writer, &entry));
	}
	entry.kind = WIRE_BOUND;
	entry.age = MSEC - 1;
	assert_true(wire_put(writer, &entry));
	reopen();
	for (size_t i = 0; i < aged_count; i++) {
		assert_true(wire_next(reader, &read));
		assert_int_equal(read.kind, aged[i]);
		assert_int_equal(read.age, (2000 + i) * MSEC);
	}
	while (wire_next(reader, &read))
		assert_int_equal(read.age, 0);
	assert_int_equal(wire_malformed(reader), 0);
}

static void an_empty_batch_is_one(void **state)
{
	struct wire_entry read;

	(void)state;
	reopen();
	assert_false(wire_next(reader, &read));
	assert_int_equal(wire_names(reader), 0);
}

static void what_is_used_is_read_as_it_was_written(void **state)
{
	struct wire_entry limit = { .kind = WIRE_LIMIT,
		                    .limit = { .of = LIMIT_OF_BOTH,
		                               .key = UINT64_MAX,
		                               .tenant = "t",
		                               .model = "",
		                               .used = { 1.5, -3 },
		                               .over = 100 * MSEC,
		                               .inflight = 4 } };
	struct wire_entry tenant = { .kind = WIRE_TENANT,
		                     .tenant = { .key = 5, .name = "someone", .tokens = -0.25 } };
	struct wire_entry read;

	(void)state;
	assert_true(wire_put(writer, &limit) && wire_put(writer, &tenant));
	reopen();
	assert_int_equal(wire_names(reader), 0);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_LIMIT);
	assert_int_equal(read.limit.of, LIMIT_OF_BOTH);
	assert_true(read.limit.key == UINT64_MAX && read.limit.inflight == 4);
	assert_string_equal(read.limit.tenant, "t");
	assert_string_equal(read.limit.model, "");
	assert_close(read.limit.used[LIMIT_REQUESTS], 1.5, 0);
	assert_close(read.limit.used[LIMIT_TOKENS], -3, 0);
	assert_int_equal(read.limit.over, 100 * MSEC);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_TENANT);
	assert_int_equal(read.tenant.key, 5);
	assert_string_equal(read.tenant.name, "someone");
	assert_close(read.tenant.tokens, -0.25, 0);
	assert_false(wire_next(reader, &read));
}

/* So that what is left over can go into the next one. */
static void a_full_batch_is_as_it_was_before(void **state)
{
	uint32_t put = 0;
	struct wire_entry read;
	struct span whole;

	(void)state;
	for (;; put++) {
		char name[32];
		struct wire_entry entry;

		(void)snprintf(name, sizeof(name), "10.%u.%u.1:8000", put / 256, put % 256);
		entry = chain_of(WIRE_BOUND, name, LADDER_BLOCKS_MAX);
		if (!wire_put(writer, &entry))
			break;
	}
	assert_true(put > 25);
	whole = wire_end(writer, 1);
	assert_true(whole.len <= WIRE_BATCH_MAX);
	assert_true(whole.len > WIRE_BATCH_MAX - 700);
	assert_int_equal(wire_open(reader, whole), WIRE_RESULT_OK);
	assert_int_equal(wire_names(reader), put + 1); /* and the ladder */
	for (uint32_t i = 0; i < put; i++)
		assert_true(wire_next(reader, &read));
	assert_false(wire_next(reader, &read));
	read = load_of("10.0.26.1:8000", 1);
	wire_begin(writer);
	assert_true(wire_put(writer, &read));
	reopen();
	assert_int_equal(wire_names(reader), 1);
}

static void a_batch_of_many_names_ends_at_its_size(void **state)
{
	uint32_t put = 0;

	(void)state;
	for (;; put++) {
		char name[16];
		struct wire_entry entry;

		(void)snprintf(name, sizeof(name), "@%x", put);
		entry = (struct wire_entry){ .kind = WIRE_RECOVERED, .name = span_of(name) };
		if (!wire_put(writer, &entry))
			break;
	}
	assert_int_equal(put, WIRE_NAMES_MAX);
	reopen();
	assert_int_equal(wire_names(reader), WIRE_NAMES_MAX);
}

/* --- what others may have written */

static enum wire_result open_bytes(const char *bytes, size_t size)
{
	return wire_open(reader, (struct span){ bytes, size });
}

#define OPEN(text) open_bytes(text, sizeof(text) - 1)

static void what_is_no_batch_says_why(void **state)
{
	static char long_one[WIRE_ACCEPT_MAX + 1];

	(void)state;
	assert_int_equal(OPEN(""), WIRE_RESULT_NOT_MSGPACK);
	assert_int_equal(OPEN("\x01"), WIRE_RESULT_NO_BATCH);
	assert_int_equal(OPEN("\x90"), WIRE_RESULT_NO_BATCH);
	assert_int_equal(OPEN("\x91\x02"), WIRE_RESULT_OTHER_SCHEMA);
	assert_int_equal(OPEN("\x91\x01"), WIRE_RESULT_NO_BATCH);
	assert_int_equal(OPEN("\x95\x01\x02\x03\x90\x90"), WIRE_RESULT_OK);
	assert_int_equal(OPEN("\x95\x01\x00\x03\x90\x90"), WIRE_RESULT_NO_BATCH); /* agent 0 */
	assert_int_equal(OPEN("\x95\x01\xff\x03\x90\x90"), WIRE_RESULT_NO_BATCH); /* -1 */
	assert_int_equal(OPEN("\x95\x01\x02\x03\x80\x90"), WIRE_RESULT_NO_BATCH);
	assert_int_equal(OPEN("\x95\x01\x02\x03\x91\x01\x90"), WIRE_RESULT_NO_BATCH);
	assert_int_equal(OPEN("\x95\x01\x02\x03\x90\x90\x00"), WIRE_RESULT_NOT_MSGPACK);
	assert_int_equal(OPEN("\x96\x01\x02\x03\x90\x90\xa1x"), WIRE_RESULT_OK); /* a later field */
	assert_int_equal(open_bytes(long_one, sizeof(long_one)), WIRE_RESULT_TOO_LONG);
	assert_int_equal(open_bytes(long_one, sizeof(long_one) - 1), WIRE_RESULT_NOT_MSGPACK);
}

/* One name "a", and this entry. */
#define ENTRY(text)                                                                                \
	"\x95\x01\x02\x03\x91\xa1"                                                                 \
	"a"                                                                                        \
	"\x91" text

static void entries_that_we_do_not_know_are_passed_over(void **state)
{
	struct wire_entry read;

	(void)state;
	assert_int_equal(OPEN("\x95\x01\x02\x03\x91\xa1"
	                      "a"
	                      "\x93"
	                      "\x92\x63\x00"         /* kind 99 */
	                      "\x94\x08\x00\x07\xc0" /* forgotten, and a value of a later version */
	                      "\x93\x00\x00\x00" /* kind 0 */),
	                 WIRE_RESULT_OK);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.kind, WIRE_FORGOTTEN);
	assert_int_equal(read.age, 7 * MSEC);
	assert_false(wire_next(reader, &read));
	assert_int_equal(wire_unknown(reader), 2);
	assert_int_equal(wire_malformed(reader), 0);
}

static void what_is_no_entry_of_its_kind_is_passed_over(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} bad[] = {
#define BAD(text) { ENTRY(text), sizeof(ENTRY(text)) - 1 }
		BAD("\x01"),                         /* no array */
		BAD("\x90"),                         /* no kind */
		BAD("\x92\xa1x\x00"),                /* a text for a kind */
		BAD("\x91\x08"),                     /* no name */
		BAD("\x92\x08\x01"),                 /* a name that is not there */
		BAD("\x92\x08\xce\xff\xff\xff\xff"), /* ... */
		BAD("\x92\x08\xa1"
		    "a"),                                        /* a text for its place */
		BAD("\x96\x01\x00\x01\x01\x01\x01"),             /* load: a number is missing */
		BAD("\x97\x01\x00\xff\x01\x01\x01\x01"),         /* ... is negative */
		BAD("\x93\x02\x00\x01"),                         /* averages */
		BAD("\x94\x02\x00\x01\xca\x7f\xc0\x00\x00"),     /* NaN */
		BAD("\x92\x03\x00"),                             /* ejected */
		BAD("\x93\x08\x00\xa0"),                         /* forgotten: its age is a text */
		BAD("\x93\x06\x00\x00"),                         /* bound: no hashes */
		BAD("\x94\x06\x00\x01\xc4\x08hhhhhhhh"),         /* its ladder is no name */
		BAD("\x94\x06\x00\x00\xc4\x00"),                 /* none */
		BAD("\x94\x06\x00\x00\xc4\x07hhhhhhh"),          /* a broken one */
		BAD("\x94\x06\x00\x00\xa8hhhhhhhh"),             /* a text */
		BAD("\x95\x09\x00\x01\x01\x01"),                 /* pinned: from is not there */
		BAD("\x99\x0a\x03\x01\xa0\xa0\x01\x01\x01\x01"), /* limit: of nobody */
		BAD("\x98\x0a\x00\x01\xa0\xa0\x01\x01\x01"),     /* ... open is missing */
		BAD("\x99\x0a\x00\x01\xa0\xa0\x01\xa0\x01\x01"), /* ... used is a text */
		BAD("\x99\x0a\x00\x01\x01\xa0\x01\x01\x01\x01"), /* ... tenant is none */
		BAD("\x99\x0a\x00\x01\xa0\xa0\xca\x7f\xc0\x00\x00\x01\x01\x01"), /* NaN */
		BAD("\x94\x0b\x01\xa0\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"),     /* infinite */
		BAD("\x93\x0b\x01\xa0"),                                         /* tenant */
		BAD("\x94\x09\x00\x01\x01"),     /* ... is missing */
		BAD("\x95\x09\x00\x01\xff\xc0"), /* check is negative */
	};
	static char many[32 + 8 * (LADDER_BLOCKS_MAX + 1)] = ENTRY("\x94\x06\x00\x00\xc5\x02\x08");
	struct wire_entry read;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(open_bytes(bad[i].bytes, bad[i].size), WIRE_RESULT_OK);
		assert_false(wire_next(reader, &read));
		assert_int_equal(wire_malformed(reader), i + 1);
	}
	assert_int_equal(open_bytes(many, sizeof(ENTRY("\x94\x06\x00\x00\xc5\x02\x08")) - 1 +
	                                          8 * (LADDER_BLOCKS_MAX + 1)),
	                 WIRE_RESULT_OK);
	assert_false(wire_next(reader, &read));
	assert_int_equal(wire_malformed(reader), i + 1);
}

static void numbers_are_clamped(void **state)
{
	struct wire_entry read;

	(void)state;
	assert_int_equal(OPEN(ENTRY("\x97\x01\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff"
	                            "\xcf\x00\x00\x00\x01\x00\x00\x00\x00"
	                            "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"
	                            "\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
	                 WIRE_RESULT_OK);
	assert_true(wire_next(reader, &read));
	assert_int_equal(read.load.work.running, UINT32_MAX);
	assert_int_equal(read.load.work.awaiting, UINT32_MAX);
	assert_true(read.load.work.prefill_tokens == INT64_MAX);
	assert_true(read.load.work.resident_tokens == INT64_MAX);
	assert_int_equal(read.load.acquired, 1);
	assert_int_equal(OPEN(ENTRY("\x93\x03\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff")),
	                 WIRE_RESULT_OK);
	assert_true(wire_next(reader, &read));
	assert_true(read.length <= UINT64_MAX && read.length > UINT64_MAX / 2);
	assert_int_equal(OPEN(ENTRY("\x93\x08\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff")),
	                 WIRE_RESULT_OK);
	assert_true(wire_next(reader, &read));
	assert_true(read.age == UINT32_MAX * MSEC);
}

/* As many as fit, of names that are too many or too long. */
static void names_are_bounded(void **state)
{
	static char many[16 + WIRE_NAMES_MAX + 1] = "\x95\x01\x02\x03\xdc\x04\x01";
	static char one[16 + WIRE_NAME_MAX] = "\x95\x01\x02\x03\x91\xd9\x81";

	(void)state;
	memset(many + 7, 0xa0, WIRE_NAMES_MAX + 1);
	many[7 + WIRE_NAMES_MAX + 1] = (char)0x90;
	assert_int_equal(open_bytes(many, 7 + WIRE_NAMES_MAX + 2), WIRE_RESULT_NO_BATCH);
	many[6] = 0x00;
	many[7 + WIRE_NAMES_MAX] = (char)0x90;
	assert_int_equal(open_bytes(many, 7 + WIRE_NAMES_MAX + 1), WIRE_RESULT_OK);
	one[7 + WIRE_NAME_MAX] = (char)0x90;
	assert_int_equal(open_bytes(one, 7 + WIRE_NAME_MAX + 1), WIRE_RESULT_NO_BATCH);
	one[6] = (char)0x80;
	one[7 + WIRE_NAME_MAX - 1] = (char)0x90;
	assert_int_equal(open_bytes(one, 7 + WIRE_NAME_MAX), WIRE_RESULT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind_is_read_as_it_was_written, begin, end),
		cmocka_unit_test_setup_teardown(what_is_used_is_read_as_it_was_written, begin, end),
		cmocka_unit_test_setup_teardown(an_age_is_read_with_what_it_is_of, begin, end),
		cmocka_unit_test_setup_teardown(an_empty_batch_is_one, begin, end),
		cmocka_unit_test_setup_teardown(a_full_batch_is_as_it_was_before, begin, end),
		cmocka_unit_test_setup_teardown(a_batch_of_many_names_ends_at_its_size, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_batch_says_why, begin, end),
		cmocka_unit_test_setup_teardown(entries_that_we_do_not_know_are_passed_over, begin,
		                                end),
		cmocka_unit_test_setup_teardown(what_is_no_entry_of_its_kind_is_passed_over, begin,
		                                end),
		cmocka_unit_test_setup_teardown(numbers_are_clamped, begin, end),
		cmocka_unit_test_setup_teardown(names_are_bounded, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
