/* test_inbox.c - XREAD's reply is copied whole, or not at all. Proves R086. */
#include "redis/inbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEXT(string)                                                                               \
	{                                                                                          \
		.kind = REDIS_STRING, .text = { string, sizeof(string) - 1 }                       \
	}
#define LIST(list)                                                                                 \
	{                                                                                          \
		.kind = REDIS_ARRAY, .count = sizeof(list) / sizeof((list)[0]), .elements = list   \
	}

static struct keys keys;

static int begin(void **state)
{
	struct error error = { "" };

	(void)state;
	return keys_make("s", &keys, &error) ? 0 : -1;
}

static const struct redis_reply fields[] = { TEXT("x"), TEXT("1"), TEXT("b"), TEXT("batch") };
static const struct redis_reply others[] = { TEXT("x"), TEXT("b") };
static const struct redis_reply first[] = { TEXT("5-1"), LIST(fields) };
static const struct redis_reply second[] = { TEXT("5-2"), LIST(others) };
static const struct redis_reply deleted[] = { TEXT("5-3"), { .kind = REDIS_NIL } };
static const struct redis_reply kept[] = { LIST(first), LIST(second), LIST(deleted) };
static const struct redis_reply kept_stream[] = { TEXT("infer:1:{s}:kept"), LIST(kept) };
static const struct redis_reply live[] = { LIST(first) };
static const struct redis_reply live_stream[] = { TEXT("infer:1:{s}:live"), LIST(live) };

static void entries_come_in_order_with_their_batches(void **state)
{
	static const struct redis_reply streams[] = { LIST(live_stream), LIST(kept_stream) };
	const struct redis_reply reply = LIST(streams);
	struct inbox inbox = { .bytes = NULL };
	struct inbox_item item;

	(void)state;
	for (int i = 0; i < 2; i++) { /* the second time in the same memory */
		assert_true(inbox_take(&inbox, &reply, &keys));
		assert_int_equal(inbox_left(&inbox), 4);
		assert_true(inbox_next(&inbox, &item));
		assert_int_equal(item.stream, KEYS_LIVE);
		assert_true(inbox_next(&inbox, &item));
		assert_int_equal(item.stream, KEYS_KEPT);
		assert_true(item.id.ms == 5 && item.id.number == 1);
		assert_int_equal(item.batch.len, 5);
		assert_memory_equal(item.batch.at, "batch", 5);
		assert_true(inbox_next(&inbox, &item));
		assert_null(item.batch.at); /* of somebody else: passed over, with its place */
		assert_int_equal(item.id.number, 2);
		assert_true(inbox_next(&inbox, &item));
		assert_null(item.batch.at);
		assert_false(inbox_next(&inbox, &item));
	}
	inbox_done(&inbox);
}

static void what_is_no_such_reply_leaves_nothing(void **state)
{
	static const struct redis_reply no_id[] = { TEXT("5"), LIST(fields) };
	static const struct redis_reply bad[] = { LIST(first), LIST(no_id) };
	static const struct redis_reply bad_stream[] = { TEXT("infer:1:{s}:kept"), LIST(bad) };
	static const struct redis_reply strange[] = { TEXT("other"), LIST(live) };
	static const struct redis_reply half[] = { TEXT("infer:1:{s}:kept") };
	static const struct redis_reply with_bad[] = { LIST(live_stream), LIST(bad_stream) };
	static const struct redis_reply with_strange[] = { LIST(strange) };
	static const struct redis_reply with_half[] = { LIST(half) };
	static const struct redis_reply with_text[] = { TEXT("a") };
	const struct redis_reply replies[] = { LIST(with_bad), LIST(with_strange), LIST(with_half),
		                               LIST(with_text), TEXT("a") };
	struct inbox inbox = { .bytes = NULL };
	struct inbox_item item;

	(void)state;
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		assert_false(inbox_take(&inbox, &replies[i], &keys));
		assert_false(inbox_next(&inbox, &item));
	}
	inbox_done(&inbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_come_in_order_with_their_batches),
		cmocka_unit_test(what_is_no_such_reply_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
