/* test_ladder.c - into which blocks a prompt is cut. Proves P038, P039. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/ladder.h"

static struct error error;

static bool parse(const char *text, struct ladder *ret_ladder)
{
	error.text[0] = '\0';
	return ladder_parse((struct span){ text, strlen(text) }, ret_ladder, &error);
}

static void blocks_begin_where_the_one_before_ends(void **state)
{
	struct ladder ladder;

	(void)state;
	assert_true(parse("2x1k,1x4k,1x100", &ladder));
	assert_string_equal(ladder.id, "2x1k,1x4k,1x100");
	assert_int_equal(ladder.count, 4);
	assert_int_equal(ladder.offset[1], 1024);
	assert_int_equal(ladder.offset[2], 2048);
	assert_int_equal(ladder.length[2], 4096);
	assert_int_equal(ladder.offset[3], 6144);
	assert_int_equal(ladder.length[3], 100);
	assert_int_equal(ladder_reach(&ladder, 0), 0);
	assert_int_equal(ladder_reach(&ladder, 3), 6144);
	assert_int_equal(ladder_reach(&ladder, 4), 6244);
}

static void a_block_counts_only_when_the_prompt_fills_it(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t blocks;
	} prompts[] = {
		{ 0, 0 },    { 1023, 0 },   { 1024, 1 },    { 4096, 4 },    { 8191, 4 },
		{ 8192, 5 }, { 53248, 16 }, { 380927, 31 }, { 380928, 32 }, { 1000000, 32 },
	};
	struct ladder ladder;

	(void)state;
	assert_true(parse(LADDER_DEFAULT, &ladder));
	assert_int_equal(ladder.count, 32);
	assert_int_equal(ladder_reach(&ladder, 32), 380928);
	for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
		assert_int_equal(ladder_usable(&ladder, prompts[i].bytes), prompts[i].blocks);
}

static void what_is_no_ladder_is_refused_with_a_reason(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"4x",
		"x1k",
		"4x1k,",
		",4x1k",
		"4x1k 12x4k",
		"4x1m",
		"0x1k",
		"4x0",
		"65x1k",
		"64x1k,1x1k",
		"4*1k",
		"-1x1k",
		"4x1k;",
		"1x2g",
		"1x2097152k",
		"2x1048576k",
		"1x99999999999999999999k",
		"1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k,1x1k",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ladder ladder = { .count = 77 };

		assert_false(parse(wrong[i], &ladder));
		assert_true(error.text[0] != '\0');
		assert_int_equal(ladder.count, 77);
	}
}

static void the_largest_ladder_is_one_byte_short_of_2_gib(void **state)
{
	struct ladder ladder;

	(void)state;
	assert_true(parse("64x1k", &ladder));
	assert_true(parse("1x2147483647", &ladder));
	assert_false(parse("1x2147483648", &ladder));
	assert_false(parse("1x2147483647,1x1", &ladder));
}

int main(void)
{
	const struct CMUnitTest ladders[] = {
		cmocka_unit_test(blocks_begin_where_the_one_before_ends),
		cmocka_unit_test(a_block_counts_only_when_the_prompt_fills_it),
		cmocka_unit_test(what_is_no_ladder_is_refused_with_a_reason),
		cmocka_unit_test(the_largest_ladder_is_one_byte_short_of_2_gib),
	};

	return cmocka_run_group_tests(ladders, NULL, NULL);
}
