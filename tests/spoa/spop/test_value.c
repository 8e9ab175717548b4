/* test_value.c - the ten types on the wire, there and back. Proves P005, P009. */
#include "spoa/spop/value.h"
#include "tests/spoa/spop/golden.h"

static const uint8_t loopback6[IPV6_BYTES] = { [15] = 1 };

static struct spop_value integer(enum spop_type type, uint64_t number)
{
	return (struct spop_value){ .type = type, .number = number };
}

static struct spop_value address(enum spop_type type, const uint8_t *bytes, size_t length)
{
	struct spop_value value = { .type = type, .number = 0 };

	memcpy(value.address, bytes, length);
	return value;
}

static struct spop_value text(enum spop_type type, const char *word)
{
	return (struct spop_value){ .type = type, .text = text_of(word) };
}

static void assert_same(const struct spop_value *a, const struct spop_value *b)
{
	assert_int_equal(a->type, b->type);
	switch (a->type) {
	case SPOP_TYPE_NULL:
		break;
	case SPOP_TYPE_BOOL:
		assert_int_equal(a->boolean, b->boolean);
		break;
	case SPOP_TYPE_INT32:
	case SPOP_TYPE_UINT32:
	case SPOP_TYPE_INT64:
	case SPOP_TYPE_UINT64:
		assert_true(a->number == b->number);
		break;
	case SPOP_TYPE_IPV4:
		assert_memory_equal(a->address, b->address, IPV4_BYTES);
		break;
	case SPOP_TYPE_IPV6:
		assert_memory_equal(a->address, b->address, IPV6_BYTES);
		break;
	case SPOP_TYPE_STRING:
	case SPOP_TYPE_BINARY:
		assert_int_equal(a->text.length, b->text.length);
		assert_memory_equal(a->text.at, b->text.at, a->text.length);
		break;
	}
}

/* Written, these are the bytes; read, they are the value; cut anywhere, or with
 * too little room, nothing happens. */
static void check(struct spop_value value, const char *hex)
{
	uint8_t bytes[64], exact[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	size_t length = hex_read(hex, exact, sizeof(exact));
	struct spop_value back = { .type = SPOP_TYPE_NULL };
	struct spop_input in = { exact, exact + length };

	assert_true(value_write(&out, &value));
	assert_hex(bytes, out.at, hex);
	assert_int_equal(value_read(&in, &back), SPOP_NONE);
	assert_ptr_equal(in.at, in.end);
	assert_same(&back, &value);
	for (size_t cut = 0; cut < length; cut++) {
		struct spop_value untouched = integer(SPOP_TYPE_INT64, 7);

		in = (struct spop_input){ exact, exact + cut };
		assert_int_equal(value_read(&in, &untouched), SPOP_INVALID);
		assert_ptr_equal(in.at, exact);
		assert_int_equal(untouched.type, SPOP_TYPE_INT64);
		out = (struct spop_output){ bytes, bytes + cut };
		assert_false(value_write(&out, &value));
		assert_ptr_equal(out.at, bytes);
	}
}

static void each_type_has_known_bytes(void **state)
{
	(void)state;
	check((struct spop_value){ .type = SPOP_TYPE_NULL }, "00");
	check(value_bool(true), "11");
	check(value_bool(false), "01");
	check(integer(SPOP_TYPE_INT32, 5), "0205");
	check(integer(SPOP_TYPE_INT32, (uint64_t)-1), "02fff0fefefefefefefe0e");
	check(integer(SPOP_TYPE_INT32, (uint64_t)INT32_MIN), "02f0f1fefebefefefefe0e");
	check(value_uint32(16380), "03fcf006");
	check(value_uint32(UINT32_MAX), "03fff0fefe7e");
	check(value_int64(1), "0401");
	check(value_int64(-1), "04fff0fefefefefefefe0e");
	check(integer(SPOP_TYPE_UINT64, (uint64_t)1 << 32), "05f0f1fefe7e");
	check(address(SPOP_TYPE_IPV4, (const uint8_t[]){ 127, 0, 0, 1 }, IPV4_BYTES), "067f000001");
	check(address(SPOP_TYPE_IPV6, loopback6, IPV6_BYTES), "0700000000000000000000000000000001");
	check(text(SPOP_TYPE_STRING, "a0"), "08026130");
	check(text(SPOP_TYPE_STRING, ""), "0800");
	check(text(SPOP_TYPE_BINARY, "\x01\x02"), "09020102");
}

static void borders_of_the_varint_hold_as_values(void **state)
{
	(void)state;
	check(integer(SPOP_TYPE_UINT64, 239), "05ef");
	check(integer(SPOP_TYPE_UINT64, 240), "05f000");
	check(integer(SPOP_TYPE_UINT64, 2287), "05ff7f");
	check(integer(SPOP_TYPE_UINT64, 2288), "05f08000");
	check(integer(SPOP_TYPE_UINT64, 264431), "05ffff7f");
	check(integer(SPOP_TYPE_UINT64, 264432), "05f0808000");
	check(integer(SPOP_TYPE_UINT64, 33818863), "05ffffff7f");
	check(integer(SPOP_TYPE_UINT64, 33818864), "05f080808000");
	check(integer(SPOP_TYPE_UINT64, UINT64_MAX), "05fff0fefefefefefefe0e");
}

static enum spop_error read_hex(const char *hex)
{
	uint8_t bytes[64];
	struct spop_input in = { bytes, bytes + hex_read(hex, bytes, sizeof(bytes)) };
	struct spop_value value;

	return value_read(&in, &value);
}

static void what_no_type_allows_is_invalid(void **state)
{
	(void)state;
	assert_int_equal(read_hex("0a00"), SPOP_INVALID);                   /* no such type */
	assert_int_equal(read_hex("0f00"), SPOP_INVALID);                   /* nor this */
	assert_int_equal(read_hex("03f0f1fefe7e"), SPOP_INVALID);           /* 2^32 as UINT32 */
	assert_int_equal(read_hex("02f0f1fefe7e"), SPOP_INVALID);           /* 2^32 as INT32 */
	assert_int_equal(read_hex("02f0f1fefe3e"), SPOP_INVALID);           /* 2^31 as INT32 */
	assert_int_equal(read_hex("02fff0fefe3e"), SPOP_NONE);              /* 2^31 - 1 */
	assert_int_equal(read_hex("08f0f1fcfefefefefefe0e"), SPOP_INVALID); /* length near 2^64 */
	assert_int_equal(read_hex("080361"), SPOP_INVALID); /* longer than the rest */
}

static void a_number_below_32_bits_is_invalid(void **state)
{
	uint8_t bytes[16];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value value = integer(SPOP_TYPE_INT32, (uint64_t)((int64_t)INT32_MIN - 1));
	struct spop_input in;

	(void)state;
	assert_true(value_write(&out, &value));
	in = (struct spop_input){ bytes, out.at };
	assert_int_equal(value_read(&in, &value), SPOP_INVALID);
	assert_ptr_equal(in.at, bytes);
}

static void flags_that_mean_nothing_are_ignored(void **state)
{
	(void)state;
	assert_int_equal(read_hex("f0"), SPOP_NONE);
	assert_int_equal(read_hex("98026130"), SPOP_NONE);
}

static void a_length_that_wraps_is_invalid(void **state)
{
	/* P005: a key of 2^64 - something, and one that never ends. */
	uint8_t bytes[64];
	struct spop_text name = { "x", 1 };
	struct spop_value value;
	struct spop_input in = { bytes, bytes + hex_read("f0f1fcfefefefefefe0e", bytes, 64) };

	(void)state;
	assert_int_equal(pair_read(&in, &name, &value), SPOP_INVALID);
	assert_ptr_equal(in.at, bytes);
	assert_int_equal(name.length, 1);
	in.end = bytes + hex_read("f080808080808080808080", bytes, 64);
	assert_int_equal(pair_read(&in, &name, &value), SPOP_INVALID);
}

static void a_cut_text_changes_nothing(void **state)
{
	static const uint8_t bytes[] = { 3, 'a', 'b', 'c' };
	struct spop_text text = { "x", 1 };

	(void)state;
	for (size_t cut = 0; cut < sizeof(bytes); cut++) {
		struct spop_input in = { bytes, bytes + cut };

		assert_int_equal(spop_text_read(&in, &text), SPOP_INVALID);
		assert_ptr_equal(in.at, bytes);
		assert_int_equal(text.length, 1);
	}
}

static void a_pair_is_a_name_and_a_value_or_nothing(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value value = value_int64(1);
	struct spop_text name;
	struct spop_input in;

	(void)state;
	assert_true(pair_write(&out, "v", &value));
	assert_hex(bytes, out.at, "01760401");
	for (size_t room = 0; room < 4; room++) {
		struct spop_output tight = { bytes, bytes + room };

		in = (struct spop_input){ bytes, bytes + room };
		assert_int_equal(pair_read(&in, &name, &value), SPOP_INVALID);
		assert_ptr_equal(in.at, bytes);
		assert_false(pair_write(&tight, "v", &value));
		assert_ptr_equal(tight.at, bytes);
	}
	in = (struct spop_input){ bytes, out.at };
	assert_int_equal(pair_read(&in, &name, &value), SPOP_NONE);
	assert_true(text_is(name, "v"));
	assert_false(text_is(name, "w"));
	assert_false(text_is(name, "vv"));
}

int main(void)
{
	const struct CMUnitTest values[] = {
		cmocka_unit_test(each_type_has_known_bytes),
		cmocka_unit_test(borders_of_the_varint_hold_as_values),
		cmocka_unit_test(what_no_type_allows_is_invalid),
		cmocka_unit_test(a_number_below_32_bits_is_invalid),
		cmocka_unit_test(flags_that_mean_nothing_are_ignored),
		cmocka_unit_test(a_length_that_wraps_is_invalid),
		cmocka_unit_test(a_cut_text_changes_nothing),
		cmocka_unit_test(a_pair_is_a_name_and_a_value_or_nothing),
	};

	return cmocka_run_group_tests(values, NULL, NULL);
}
