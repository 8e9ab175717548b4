/* test_lines.c - a stream of bytes becomes lines, wherever it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/observe/lines.h"

struct heard {
	char text[3 * LINE_MAX_BYTES];
	size_t used;
	unsigned count;
};

static void hear(void *data, struct span line)
{
	struct heard *heard = data;

	assert_true(heard->used + line.len + 1 < sizeof(heard->text));
	memcpy(heard->text + heard->used, line.at, line.len);
	heard->used += line.len;
	heard->text[heard->used++] = '|';
	heard->text[heard->used] = 0;
	heard->count++;
}

static void feed(struct lines *lines, const char *text, size_t length, struct heard *heard)
{
	lines_feed(lines, (struct span){ text, length }, hear, heard);
}

static void a_stream_cut_at_every_byte_gives_the_same_lines(void **state)
{
	static const char text[] = "one\ntwo\r\n\nthree three\nfour";
	static struct lines lines;

	(void)state;
	for (size_t first = 0; first < sizeof(text); first++) {
		for (size_t second = first; second < sizeof(text); second++) {
			struct heard heard = { .used = 0 };

			lines_init(&lines);
			feed(&lines, text, first, &heard);
			feed(&lines, text + first, second - first, &heard);
			feed(&lines, text + second, sizeof(text) - 1 - second, &heard);
			assert_string_equal(heard.text, "one|two||three three|");
			assert_true(lines_cut(&lines));
		}
	}
}

static void bytes_one_by_one_are_lines_as_well(void **state)
{
	static const char text[] = "ab\nc\n";
	static struct lines lines;
	struct heard heard = { .used = 0 };

	(void)state;
	lines_init(&lines);
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		feed(&lines, text + i, 1, &heard);
	assert_string_equal(heard.text, "ab|c|");
	assert_false(lines_cut(&lines));
}

/* As long as it may be; one more is passed over, and so is all until its end. */
static void a_line_too_long_is_passed_over(void **state)
{
	static char text[2 * LINE_MAX_BYTES];
	static struct lines lines;
	static struct heard heard;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t piece = 1; piece <= 2 * LINE_MAX_BYTES; piece *= 2) {
		for (size_t length = LINE_MAX_BYTES; length <= LINE_MAX_BYTES + 1; length++) {
			heard = (struct heard){ .used = 0 };
			lines_init(&lines);
			for (size_t at = 0; at < length; at += piece)
				feed(&lines, text, at + piece > length ? length - at : piece,
				     &heard);
			feed(&lines, "\nnext\n", 6, &heard);
			assert_int_equal(heard.count, length == LINE_MAX_BYTES ? 2 : 1);
			assert_int_equal(lines.too_long, length == LINE_MAX_BYTES ? 0 : 1);
			assert_false(lines_cut(&lines));
		}
	}
}

static void a_line_too_long_in_one_piece_is_passed_over(void **state)
{
	static char text[LINE_MAX_BYTES + 16];
	static struct lines lines;
	static struct heard heard;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text + LINE_MAX_BYTES + 1, "\nab\n", 4);
	heard = (struct heard){ .used = 0 };
	lines_init(&lines);
	feed(&lines, text, LINE_MAX_BYTES + 5, &heard);
	assert_string_equal(heard.text, "ab|");
	assert_int_equal(lines.too_long, 1);
}

static void the_end_of_a_stream_in_a_line_too_long_is_a_cut(void **state)
{
	static char text[LINE_MAX_BYTES + 1];
	static struct lines lines;
	static struct heard heard;

	(void)state;
	memset(text, 'x', sizeof(text));
	lines_init(&lines);
	feed(&lines, text, sizeof(text), &heard);
	assert_true(lines_cut(&lines));
}

int main(void)
{
	const struct CMUnitTest lines[] = {
		cmocka_unit_test(a_stream_cut_at_every_byte_gives_the_same_lines),
		cmocka_unit_test(bytes_one_by_one_are_lines_as_well),
		cmocka_unit_test(a_line_too_long_is_passed_over),
		cmocka_unit_test(a_line_too_long_in_one_piece_is_passed_over),
		cmocka_unit_test(the_end_of_a_stream_in_a_line_too_long_is_a_cut),
	};

	return cmocka_run_group_tests(lines, NULL, NULL);
}
