/* test_bounds.c - no bytes are unpacked that promise more than there is. Proves P111. */
#include "redis/bounds.h"
#include "redis/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEEP = 8 };

#define HOLD(text, depth) bounds_hold(text, sizeof(text) - 1, depth)

/* KiB of address space that the process ever had. */
static long peak(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "VmPeak:", 7) == 0)
			kib = strtol(line + 7, NULL, 10);
	}
	(void)fclose(file);
	return kib;
}

static void refuse(struct wire_reader *reader, const char *bytes, size_t size)
{
	assert_false(bounds_hold(bytes, size, DEEP));
	assert_int_equal(wire_open(reader, (struct span){ bytes, size }), WIRE_RESULT_NOT_MSGPACK);
}

static void what_promises_more_than_there_is_costs_nothing(void **state)
{
	struct wire_reader *reader = wire_reader_new();
	char many[3 * 31], deep[34];
	long before;

	(void)state;
	assert_non_null(reader);
	for (size_t i = 0; i < sizeof(many); i += 3)
		memcpy(many + i, "\xdc\xff\xff", 3);
	memset(deep, 0x91, sizeof(deep));
	deep[33] = (char)0xc0;
	before = peak();
	refuse(reader, "\xdd\x00\xff\xff\xff", 5);
	refuse(reader, many, sizeof(many));
	refuse(reader, "\xdd\xff\x00\x00\x00", 5);
	refuse(reader, "\xdf\xff\xff\xff\xff", 5);
	refuse(reader, deep, sizeof(deep));
	refuse(reader, "\xc1", 1);
	refuse(reader, "\x82\xa1\x61\x01\xa1\x61", 6);
	assert_true(peak() - before < 1024);
	wire_reader_free(reader);
}

/* Keys that come twice are no matter: there is no map that anything is looked up in. */
static void a_map_is_no_batch(void **state)
{
	struct wire_reader *reader = wire_reader_new();

	(void)state;
	assert_true(HOLD("\x82\xa1\x61\x01\xa1\x61\x02", 2));
	assert_int_equal(wire_open(reader, (struct span){ "\x82\xa1\x61\x01\xa1\x61\x02", 7 }),
	                 WIRE_RESULT_NO_BATCH);
	wire_reader_free(reader);
}

static void every_format_is_walked_to_its_end(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} good[] = {
#define BYTES(text) { text, sizeof(text) - 1 }
		BYTES("\x00"),
		BYTES("\x7f"),
		BYTES("\xff"),
		BYTES("\xe0"),
		BYTES("\xc0"),
		BYTES("\xc2"),
		BYTES("\xc3"),
		BYTES("\xa2xy"),
		BYTES("\xa0"),
		BYTES("\xc4\x02xy"),
		BYTES("\xc5\x00\x02xy"),
		BYTES("\xc6\x00\x00\x00\x02xy"),
		BYTES("\xca\x01\x02\x03\x04"),
		BYTES("\xcb\x01\x02\x03\x04\x05\x06\x07\x08"),
		BYTES("\xcc\x01"),
		BYTES("\xcd\x01\x02"),
		BYTES("\xce\x01\x02\x03\x04"),
		BYTES("\xcf\x01\x02\x03\x04\x05\x06\x07\x08"),
		BYTES("\xd0\x01"),
		BYTES("\xd1\x01\x02"),
		BYTES("\xd2\x01\x02\x03\x04"),
		BYTES("\xd3\x01\x02\x03\x04\x05\x06\x07\x08"),
		BYTES("\xd9\x02xy"),
		BYTES("\xda\x00\x02xy"),
		BYTES("\xdb\x00\x00\x00\x02xy"),
		BYTES("\x90"),
		BYTES("\x80"),
		BYTES("\x92\x01\x02"),
		BYTES("\x81\x01\x02"),
		BYTES("\xdc\x00\x02\x01\x02"),
		BYTES("\xdd\x00\x00\x00\x02\x01\x02"),
		BYTES("\xde\x00\x01\x01\x02"),
		BYTES("\xdf\x00\x00\x00\x01\x01\x02"),
		BYTES("\x93\x91\x01\x92\xa1x\x90\x02"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char longer[32] = { 0 };

		assert_true(bounds_hold(good[i].bytes, good[i].size, DEEP));
		for (size_t cut = 0; cut < good[i].size; cut++)
			assert_false(bounds_hold(good[i].bytes, cut, DEEP));
		memcpy(longer, good[i].bytes, good[i].size);
		assert_false(bounds_hold(longer, good[i].size + 1, DEEP));
	}
}

static void formats_that_we_do_not_speak_are_refused(void **state)
{
	(void)state;
	assert_false(HOLD("\xc7\x01\x01\x01", DEEP));             /* ext 8 */
	assert_false(HOLD("\xd4\x01\x01", DEEP));                 /* fixext 1 */
	assert_false(HOLD("\xd6\xff\x00\x00\x00\x00", DEEP));     /* timestamp 32 */
	assert_false(HOLD("\xc9\x00\x00\x00\x01\x01\x01", DEEP)); /* ext 32 */
}

static void depth_is_counted_from_a_plain_value(void **state)
{
	(void)state;
	assert_true(HOLD("\x01", 1));
	assert_false(HOLD("\x91\x01", 1));
	assert_true(HOLD("\x91\x01", 2));
	assert_false(HOLD("\x91\x91\x01", 2));
	assert_true(HOLD("\x92\x91\x01\x91\x01", 3));
	/* Empty ones hold nothing. */
	assert_true(HOLD("\x90", 1));
}

/* Each array alone could be true, but not both. */
static void what_all_arrays_promise_together_is_bounded(void **state)
{
	(void)state;
	assert_true(HOLD("\x92\x92\x01\x01\x01", 3));
	assert_false(HOLD("\x93\x93\x01\x01\x01", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_promises_more_than_there_is_costs_nothing),
		cmocka_unit_test(a_map_is_no_batch),
		cmocka_unit_test(every_format_is_walked_to_its_end),
		cmocka_unit_test(formats_that_we_do_not_speak_are_refused),
		cmocka_unit_test(depth_is_counted_from_a_plain_value),
		cmocka_unit_test(what_all_arrays_promise_together_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
