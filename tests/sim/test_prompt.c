/* test_prompt.c - what the simulated engine reads of a body, and its prompt as blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/http.h"
#include "tests/sim/prompt.h"

static struct span text(const char *string)
{
	return (struct span){ string, strlen(string) };
}

static void the_fields_of_the_outer_object_are_read(void **state)
{
	struct prompt prompt;

	(void)state;
	assert_true(prompt_read(text(" { \"model\" : \"a/b\", \"stream\":true,\n"
	                             "\"stream_options\": {\"include_usage\": true},"
	                             "\"max_tokens\":7,\"min_tokens\": 3,"
	                             "\"messages\":[{\"content\":\"say \\\"x]}\\\\\"}],"
	                             "\"prompt\":\"second\"} "),
	                        &prompt));
	assert_true(span_is(prompt.model, "a/b"));
	assert_true(prompt.stream && prompt.include_usage);
	assert_int_equal(prompt.max_tokens, 7);
	assert_int_equal(prompt.min_tokens, 3);
	assert_true(span_is(prompt.text, "{\"content\":\"say \\\"x]}\\\\\"}"));
}

static void a_key_inside_of_a_value_is_not_a_field(void **state)
{
	struct prompt prompt;

	(void)state;
	assert_true(prompt_read(text("{\"x\":{\"stream\":true,\"model\":\"no\"},"
	                             "\"prompt\":\"\\\"model\\\":\",\"max_tokens\":null}"),
	                        &prompt));
	assert_null(prompt.model.at);
	assert_false(prompt.stream);
	assert_int_equal(prompt.max_tokens, -1);
	assert_true(span_is(prompt.text, "\\\"model\\\":"));
	assert_true(prompt_read(text("{}"), &prompt));
	assert_null(prompt.text.at);
}

/* Every beginning of a body is refused, and read no further than it goes: the sanitizers see to it.
 */
static void a_cut_body_is_refused(void **state)
{
	static const char whole[] = "{\"model\":\"m\",\"messages\":[{\"a\":\"\\\"\"}],\"n\":1}";
	char exact[sizeof(whole)];
	struct prompt prompt;

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		memcpy(exact + sizeof(exact) - len, whole, len);
		assert_false(
		        prompt_read((struct span){ exact + sizeof(exact) - len, len }, &prompt));
	}
	assert_true(prompt_read(text(whole), &prompt));
	assert_false(prompt_read(text("[1]"), &prompt));
	assert_false(prompt_read(text("{\"a\" 1}"), &prompt));
}

static void blocks_stand_for_all_before_them(void **state)
{
	char one[200];
	char two[200];
	uint64_t a[3];
	uint64_t b[3];

	(void)state;
	memset(one, 'x', sizeof(one));
	memcpy(two, one, sizeof(two));
	two[70] = 'y';
	assert_int_equal(prompt_blocks((struct span){ one, 200 }, 16, a), 3);
	assert_int_equal(prompt_blocks((struct span){ two, 192 }, 16, b), 3);
	assert_int_equal(a[0], b[0]);
	assert_int_not_equal(a[1], b[1]);
	assert_int_not_equal(a[2], b[2]);
	assert_int_not_equal(a[0], a[1]);
	assert_int_equal(prompt_blocks((struct span){ one, 63 }, 16, a), 0);
}

static void four_bytes_are_a_token(void **state)
{
	(void)state;
	assert_int_equal(prompt_tokens(text("")), 1);
	assert_int_equal(prompt_tokens(text("1234567")), 1);
	assert_int_equal(prompt_tokens(text("12345678")), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fields_of_the_outer_object_are_read),
		cmocka_unit_test(a_key_inside_of_a_value_is_not_a_field),
		cmocka_unit_test(a_cut_body_is_refused),
		cmocka_unit_test(blocks_stand_for_all_before_them),
		cmocka_unit_test(four_bytes_are_a_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
