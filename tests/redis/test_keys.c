/* test_keys.c - the names of the streams, and the ids in them. Proves P110. */
#include "redis/entry_id.h"
#include "redis/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void both_streams_of_a_space_are_of_one_slot(void **state)
{
	struct error error = { "" };
	struct keys keys;

	(void)state;
	assert_true(keys_make("prod.eu-1_a", &keys, &error));
	assert_string_equal(keys.at[KEYS_LIVE], "infer:1:{prod.eu-1_a}:live");
	assert_string_equal(keys.at[KEYS_KEPT], "infer:1:{prod.eu-1_a}:kept");
	assert_int_equal(keys_of(&keys, KEYS_KEPT).len, strlen("infer:1:{prod.eu-1_a}:kept"));
}

static void a_space_is_a_plain_name(void **state)
{
	static const char *const bad[] = { "", "a b", "a}", "{a", "a:b", "a\n", "\xc3\xa4" };
	char longest[KEYS_SPACE_MAX + 1];
	struct error why = { "" };
	struct keys keys;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { "" };

		assert_false(keys_make(bad[i], &keys, &error));
		assert_string_not_equal(error.text, "");
	}
	memset(longest, 'x', sizeof(longest));
	longest[KEYS_SPACE_MAX] = '\0';
	assert_false(keys_make(longest, &keys, &why));
	longest[KEYS_SPACE_MAX - 1] = '\0';
	assert_true(keys_make(longest, &keys, &why));
	assert_int_equal(strlen(keys.at[KEYS_LIVE]),
	                 strlen("infer:1:{}:live") + KEYS_SPACE_MAX - 1);
}

static bool reads(const char *text, struct entry_id *ret_id)
{
	return entry_id_read((struct span){ text, strlen(text) }, ret_id);
}

static void ids_are_read_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = { "",
		                           "1",
		                           "-",
		                           "1-",
		                           "-1",
		                           "1-2-3",
		                           "1-2 ",
		                           " 1-2",
		                           "1-2x",
		                           "a-b",
		                           "+1-2",
		                           "1--2",
		                           "18446744073709551616-0",
		                           "0-18446744073709551616" };
	struct entry_id id = { 7, 8 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(reads(bad[i], &id));
	assert_int_equal(id.ms, 7);
	assert_int_equal(id.number, 8);
	assert_true(reads("1732958613123-4", &id));
	assert_int_equal(id.ms, 1732958613123);
	assert_int_equal(id.number, 4);
	assert_true(reads("18446744073709551615-18446744073709551615", &id));
	assert_true(id.ms == UINT64_MAX && id.number == UINT64_MAX);
}

static void ids_are_written_as_they_are_read(void **state)
{
	char text[ENTRY_ID_TEXT_MAX];
	struct span span = entry_id_write((struct entry_id){ UINT64_MAX, UINT64_MAX }, text);

	(void)state;
	assert_string_equal(text, "18446744073709551615-18446744073709551615");
	assert_int_equal(span.len, strlen(text));
	(void)entry_id_write((struct entry_id){ 0, 0 }, text);
	assert_string_equal(text, "0-0");
}

static void ids_are_ordered_by_time_and_number(void **state)
{
	(void)state;
	assert_true(entry_id_before((struct entry_id){ 1, 9 }, (struct entry_id){ 2, 0 }));
	assert_false(entry_id_before((struct entry_id){ 2, 0 }, (struct entry_id){ 1, 9 }));
	assert_true(entry_id_before((struct entry_id){ 2, 0 }, (struct entry_id){ 2, 1 }));
	assert_false(entry_id_before((struct entry_id){ 2, 1 }, (struct entry_id){ 2, 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_streams_of_a_space_are_of_one_slot),
		cmocka_unit_test(a_space_is_a_plain_name),
		cmocka_unit_test(ids_are_read_whole_or_not_at_all),
		cmocka_unit_test(ids_are_written_as_they_are_read),
		cmocka_unit_test(ids_are_ordered_by_time_and_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
