/* test_reader.c - replies as trees, whole or in parts, and the bounds of their memory.
 * Proves P107 (deep and endless arrays) and P108 (a huge bulk is refused at its header). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "redis/reader.h"

enum { ROOM = 4096 };

static enum redis_reading read_at_once(struct redis_reader *reader, const char *text,
                                       const struct redis_reply **ret_reply)
{
	assert_true(redis_reader_feed(reader, text, strlen(text)));
	return redis_reader_next(reader, ret_reply);
}

static void every_kind(void **state)
{
	static const char text[] = "*7\r\n+OK\r\n-ERR no\r\n:-42\r\n$3\r\na\0c\r\n$-1\r\n"
	                           "*2\r\n:1\r\n:2\r\n*-1\r\n";
	struct redis_reader *reader = redis_reader_new(ROOM);
	const struct redis_reply *reply = NULL, *inner;

	(void)state;
	assert_true(redis_reader_feed(reader, text, sizeof(text) - 1));
	assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
	assert_int_equal(reply->kind, REDIS_ARRAY);
	assert_int_equal(reply->count, 7);
	assert_int_equal(redis_reply_at(reply, 0)->kind, REDIS_STATUS);
	assert_int_equal(redis_reply_text(redis_reply_at(reply, 0)).len, 2);
	assert_int_equal(redis_reply_at(reply, 1)->kind, REDIS_ERROR);
	assert_string_equal(redis_reply_at(reply, 1)->text.at, "ERR no");
	assert_int_equal(redis_reply_text(redis_reply_at(reply, 1)).len,
	                 0); /* no text of a value */
	assert_int_equal(redis_reply_at(reply, 2)->integer, -42);
	assert_int_equal(redis_reply_at(reply, 3)->text.len, 3);
	assert_memory_equal(redis_reply_at(reply, 3)->text.at, "a\0c", 3);
	assert_int_equal(redis_reply_at(reply, 4)->kind, REDIS_NIL);
	inner = redis_reply_at(reply, 5);
	assert_int_equal(redis_reply_at(inner, 1)->integer, 2);
	assert_int_equal(redis_reply_at(reply, 6)->kind, REDIS_NIL);
	assert_null(redis_reply_at(reply, 7));
	assert_null(redis_reply_at(redis_reply_at(reply, 0), 0));
	assert_null(redis_reply_at(NULL, 0));
	assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_MORE);
	redis_reader_free(reader);
}

static void one_memory_for_all_replies(void **state)
{
	struct redis_reader *reader = redis_reader_new(ROOM);
	const struct redis_reply *reply = NULL;
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 100; i++) {
		assert_true(redis_reader_feed(reader, "$3000\r\n", 7));
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_MORE);
		assert_true(redis_reader_feed(reader, text, sizeof(text)));
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_MORE);
		assert_true(redis_reader_feed(reader, "\r\n:1\r\n", 6));
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
		assert_int_equal(reply->text.len, 3000);
		assert_int_equal(reply->text.at[2999], 'x');
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
		assert_int_equal(reply->integer, 1);
	}
	redis_reader_free(reader);
}

/* What an array has got so far must stay while the rest comes. */
static void an_array_in_parts(void **state)
{
	static const char text[] = "*2\r\n*2\r\n$4\r\nabcd\r\n:5\r\n$3\r\nxyz\r\n";

	(void)state;
	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		struct redis_reader *reader = redis_reader_new(ROOM);
		const struct redis_reply *reply = NULL;

		assert_true(redis_reader_feed(reader, text, cut));
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_MORE);
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_MORE);
		assert_true(redis_reader_feed(reader, text + cut, sizeof(text) - 1 - cut));
		assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
		assert_string_equal(redis_reply_at(redis_reply_at(reply, 0), 0)->text.at, "abcd");
		assert_int_equal(redis_reply_at(redis_reply_at(reply, 0), 1)->integer, 5);
		assert_string_equal(redis_reply_at(reply, 1)->text.at, "xyz");
		redis_reader_free(reader);
	}
}

static void depth_is_bounded(void **state)
{
	struct redis_reader *reader = redis_reader_new(ROOM);
	const struct redis_reply *reply = NULL;
	char text[200 * 4 + 1] = "";

	(void)state;
	for (int i = 0; i < REDIS_DEPTH_MAX; i++)
		strcat(text, "*1\r\n");
	strcat(text, ":7\r\n");
	assert_int_equal(read_at_once(reader, text, &reply), REDIS_READ_REPLY);
	for (int i = 0; i < REDIS_DEPTH_MAX; i++)
		reply = redis_reply_at(reply, 0);
	assert_int_equal(reply->integer, 7);
	text[0] = '\0';
	for (int i = 0; i < 200; i++)
		strcat(text, "*1\r\n");
	assert_int_equal(read_at_once(reader, text, &reply), REDIS_READ_BROKEN);
	assert_true(strlen(redis_reader_problem(reader)) > 0);
	redis_reader_free(reader);
}

static void what_is_refused_at_once(void **state)
{
	static const struct {
		const char *text;
		enum redis_reading reading;
	} refused[] = {
		{ "$4097\r\n", REDIS_READ_TOO_BIG },
		{ "$9223372036854775807\r\n", REDIS_READ_TOO_BIG },
		{ "*1\r\n$9223372036854775807\r\nabc", REDIS_READ_TOO_BIG },
		{ "*2000000000\r\n", REDIS_READ_TOO_BIG },
		{ "*1000\r\n", REDIS_READ_TOO_BIG },
		{ "*3\r\n*50\r\n", REDIS_READ_MORE },
		{ "$111111111111111111111111111111111", REDIS_READ_TOO_BIG },
		{ "*111111111111111111111111111111111", REDIS_READ_TOO_BIG },
		{ "$4000\r\n", REDIS_READ_MORE },
		{ "x", REDIS_READ_BROKEN },
		{ ":12x\r\n", REDIS_READ_BROKEN },
		{ "$abc\r\n", REDIS_READ_BROKEN },
		{ "$-2\r\n", REDIS_READ_BROKEN },
		{ "_\r\n", REDIS_READ_BROKEN },
		{ "#t\r\n", REDIS_READ_BROKEN },
		{ ",1.5\r\n", REDIS_READ_BROKEN },
		{ "%1\r\n+a\r\n+b\r\n", REDIS_READ_BROKEN },
		{ "~1\r\n+a\r\n", REDIS_READ_BROKEN },
		{ ">1\r\n+a\r\n", REDIS_READ_BROKEN },
		{ "=5\r\ntxt:a\r\n", REDIS_READ_BROKEN },
		{ "(123\r\n", REDIS_READ_BROKEN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct redis_reader *reader = redis_reader_new(ROOM);
		const struct redis_reply *reply = NULL;
		enum redis_reading reading = read_at_once(reader, refused[i].text, &reply);

		/* A type that the library's release does not know, or knows and gives as nil. */
		if (reading == REDIS_READ_REPLY && refused[i].text[0] == '_')
			reading = REDIS_READ_BROKEN;
		if (reading != refused[i].reading)
			fail_msg("%s: %d", refused[i].text, (int)reading);
		redis_reader_free(reader);
	}
}

/* Many small things, together larger than a reply may be. */
static void the_sum_is_bounded(void **state)
{
	struct redis_reader *reader = redis_reader_new(ROOM);
	const struct redis_reply *reply = NULL;
	enum redis_reading reading = REDIS_READ_MORE;

	(void)state;
	assert_true(redis_reader_feed(reader, "*40\r\n", 5));
	for (int i = 0; i < 40 && reading == REDIS_READ_MORE; i++)
		reading = read_at_once(reader,
		                       "$100\r\n"
		                       "01234567890123456789012345678901234567890123456789"
		                       "01234567890123456789012345678901234567890123456789\r\n",
		                       &reply);
	assert_int_equal(reading, REDIS_READ_TOO_BIG);
	assert_true(redis_reader_clear(reader));
	assert_int_equal(read_at_once(reader, "+again\r\n", &reply), REDIS_READ_REPLY);
	assert_int_equal(read_at_once(reader, "x\r\n", &reply), REDIS_READ_BROKEN);
	redis_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(one_memory_for_all_replies),
		cmocka_unit_test(an_array_in_parts),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_is_refused_at_once),
		cmocka_unit_test(the_sum_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
