/* test_link.c - the link to a store with good manners and with bad ones. Proves P106 (a
 * stray reply), P107 (refused, closed, reset, garbage), P108 (silence, a huge bulk) and
 * P109 (connected and killed a thousand times). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "redis/link_parts.h"
#include "tests/redis/linked.h"

static struct linked *up(void)
{
	struct linked *linked = linked_open();

	linked_start(linked);
	assert_true(reaches(linked, &linked->ups, 1));
	return linked;
}

static void it_comes_up_and_answers(void **state)
{
	struct linked *linked = up();

	(void)state;
	assert_int_equal(linked->downs, 0);
	assert_string_equal(linked->store.heard, "CLIENT PING ");
	assert_true(redis_link_is_up(linked->link));
	assert_string_equal(linked->address, redis_link_address(linked->link));
	assert_true(linked_send(linked, "HELLO", SECOND));
	assert_int_equal(linked->replies, 0); /* never from inside */
	assert_int_equal(redis_link_pending(linked->link), 1);
	assert_true(reaches(linked, &linked->replies, 1));
	assert_int_equal(linked->result, REDIS_RESULT_OK);
	assert_string_equal(linked->reply, "OK");
	assert_int_equal(redis_link_counters(linked->link)->sent, 1);
	assert_int_equal(redis_link_counters(linked->link)->replies, 1);
	assert_int_equal(redis_link_counters(linked->link)->results[REDIS_RESULT_OK], 1);
	linked_close(linked);
}

static void a_callback_may_send(void **state)
{
	struct linked *linked = up();

	(void)state;
	linked->again = 20;
	assert_true(linked_send(linked, "FIRST", SECOND));
	assert_true(reaches(linked, &linked->replies, 21));
	assert_int_equal(linked->results[REDIS_RESULT_OK], 21);
	linked_close(linked);
}

static void nothing_is_taken_before_it_is_up(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	linked_start(linked);
	assert_false(linked_send(linked, "EARLY", SECOND));
	assert_int_equal(redis_link_counters(linked->link)->refused, 1);
	assert_int_equal(linked->replies, 0);
	linked_close(linked);
}

static void nothing_is_taken_before_it_is_greeted(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	linked->store.mute = true;
	linked_start(linked);
	assert_true(reaches(linked, &linked->store.peers[0].commands, 2));
	assert_false(linked_send(linked, "EARLY", SECOND));
	linked_close(linked);
}

/* It would come before the password, and nobody waits for its reply. */
static void what_was_not_sent_is_not_sent_to_the_next(void **state)
{
	struct linked *linked = up();

	(void)state;
	assert_true(linked_send(linked, "GHOST", SECOND));
	fake_kick_all(&linked->store);
	assert_true(reaches(linked, &linked->ups, 2));
	assert_int_equal(linked->result, REDIS_RESULT_LOST);
	assert_string_equal(linked->store.heard, "CLIENT PING CLIENT PING ");
	linked_close(linked);
}

/* The first is refused, as ::1 of "localhost" often is. */
static void all_addresses_of_a_name_are_one_try(void **state)
{
	struct linked *linked = linked_open();
	struct fake_store other;
	char url[64];

	(void)state;
	fake_open(&other, linked->loop);
	(void)snprintf(url, sizeof(url), "redis://127.0.0.1:%u", (unsigned)other.port);
	fake_close(&other);
	linked_start_at(linked, url);
	while (linked->link->state != LINK_OPENING)
		ev_run(linked->loop, EVRUN_ONCE);
	linked->link->addresses.count = 2;
	linked->link->addresses.at[1] = linked->link->addresses.at[0];
	((struct sockaddr_in *)&linked->link->addresses.at[1].storage)->sin_port =
	        htons(linked->store.port);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_int_equal(linked->downs, 0);
	linked_close(linked);
}

static void what_waits_is_bounded(void **state)
{
	struct linked *linked = up();
	unsigned taken = 0;
	char large[16 * 1024];

	(void)state;
	linked->store.mute = true;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_false(linked_send(linked, large, SECOND)); /* with its header one too many */
	while (linked_send(linked, "COMMAND", SECOND))
		taken++;
	assert_int_equal(taken, 16);
	assert_int_equal(redis_link_pending(linked->link), 16);
	linked_close(linked);
}

static bool say_three(void *data, struct fake_peer *peer, const char *name,
                      const struct redis_reply *command)
{
	(void)data;
	(void)command;
	if (strcmp(name, "TWO") == 0)
		fake_say(peer, ":2\r\n:3\r\n");
	return strcmp(name, "TWO") == 0;
}

static void a_stray_reply_resets_the_link(void **state)
{
	struct linked *linked = up();

	(void)state;
	linked->store.answer = say_three;
	assert_true(linked_send(linked, "ONE", SECOND));
	assert_true(linked_send(linked, "TWO", SECOND));
	assert_true(reaches(linked, &linked->downs, 1));
	assert_int_equal(linked->fault, REDIS_FAULT_STRAY);
	assert_int_equal(linked->results[REDIS_RESULT_OK], 2);
	assert_int_equal(redis_link_counters(linked->link)->faults[REDIS_FAULT_STRAY], 1);
	assert_true(reaches(linked, &linked->ups, 2));
	linked_close(linked);
}

static void what_a_store_says_before_it_closes_is_told(void **state)
{
	struct linked *linked = up();

	(void)state;
	fake_say(&linked->store.peers[0], "-ERR going away\r\n");
	assert_true(reaches(linked, &linked->downs, 1));
	assert_non_null(strstr(linked->text, "ERR going away"));
	assert_non_null(strstr(linked->text, "127.0.0.1:"));
	linked_close(linked);
}

static void refused_and_then_there(void **state)
{
	struct linked *linked = linked_open();
	uint16_t port = linked->store.port;

	(void)state;
	fake_deaf(&linked->store);
	linked_start(linked);
	assert_true(reaches(linked, &linked->downs, 3));
	assert_int_equal(linked->fault, REDIS_FAULT_REFUSED);
	fake_listen(&linked->store, port);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_int_equal(linked->fault, REDIS_FAULT_REFUSED);
	linked_close(linked);
}

static void refused_after_it_was_up(void **state)
{
	struct linked *linked = up();

	(void)state;
	fake_close(&linked->store);
	assert_true(reaches(linked, &linked->downs, 3));
	assert_int_equal(linked->fault, REDIS_FAULT_REFUSED);
	linked_close(linked);
}

static void pauses_grow_and_are_bounded(void **state)
{
	struct linked *linked = linked_open();
	usec_t started = test_now();

	(void)state;
	fake_deaf(&linked->store);
	linked_start(linked);
	assert_true(reaches(linked, &linked->downs, 1));
	assert_in_range(linked->retry_in, 5 * MSEC, 10 * MSEC);
	assert_true(reaches(linked, &linked->downs, 2));
	assert_in_range(linked->retry_in, 10 * MSEC, 20 * MSEC);
	assert_true(reaches(linked, &linked->downs, 8));
	assert_in_range(linked->retry_in, 25 * MSEC, 50 * MSEC);
	assert_true(test_now() - started >= 100 * MSEC);
	assert_int_equal(redis_link_counters(linked->link)->connects, 8);
	linked_close(linked);
}

/* What the store says to a command, and how the link is then lost. */
struct manner {
	const char *says;
	bool closes, resets;
	enum redis_fault fault;
	enum redis_result result;
};

static bool be_mannered(void *data, struct fake_peer *peer, const char *name,
                        const struct redis_reply *command)
{
	const struct manner *manner = data;

	(void)command;
	if (strcmp(name, "WHAT") != 0)
		return false;
	if (manner->says)
		fake_say(peer, manner->says);
	if (manner->resets)
		fake_reset(peer);
	else if (manner->closes)
		fake_hang_up(peer);
	return true;
}

static void each_way_to_be_lost(void **state)
{
	static const struct manner manners[] = {
		{ "$10\r\nabc", true, false, REDIS_FAULT_CLOSED, REDIS_RESULT_LOST },
		{ NULL, true, false, REDIS_FAULT_CLOSED, REDIS_RESULT_LOST },
		{ "$10\r\nabc", false, true, REDIS_FAULT_RESET, REDIS_RESULT_LOST },
		{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", false,
		  false, REDIS_FAULT_PROTOCOL, REDIS_RESULT_LOST },
		{ "*4294967295\r\n", false, false, REDIS_FAULT_TOO_BIG, REDIS_RESULT_LOST },
		{ "*2147483647\r\n", false, false, REDIS_FAULT_TOO_BIG, REDIS_RESULT_LOST },
		{ "*9999999999999999999\r\n", false, false, REDIS_FAULT_PROTOCOL,
		  REDIS_RESULT_LOST },
		{ "$9223372036854775807\r\n", false, false, REDIS_FAULT_TOO_BIG,
		  REDIS_RESULT_LOST },
		{ "$65537\r\n", false, false, REDIS_FAULT_TOO_BIG, REDIS_RESULT_LOST },
		{ "$100000000000000000000000000000000000", false, false, REDIS_FAULT_TOO_BIG,
		  REDIS_RESULT_LOST },
		{ "HTTP/1.1 400 Bad Request\r\n", false, false, REDIS_FAULT_PROTOCOL,
		  REDIS_RESULT_LOST },
		{ "%1\r\n+a\r\n+b\r\n", false, false, REDIS_FAULT_PROTOCOL, REDIS_RESULT_LOST },
		{ ",1.5\r\n", false, false, REDIS_FAULT_PROTOCOL, REDIS_RESULT_LOST },
		{ "-LOADING Redis is loading the dataset in memory\r\n", false, false,
		  REDIS_FAULT_LOADING, REDIS_RESULT_LOADING },
		{ "-READONLY You can't write against a read only replica.\r\n", false, false,
		  REDIS_FAULT_NOT_PRIMARY, REDIS_RESULT_READONLY },
		{ "-MASTERDOWN Link with MASTER is down\r\n", false, false, REDIS_FAULT_NOT_PRIMARY,
		  REDIS_RESULT_MASTERDOWN },
		{ "-NOAUTH Authentication required.\r\n", false, false, REDIS_FAULT_AUTH,
		  REDIS_RESULT_NOAUTH },
		{ "-MOVED 1 nowhere\r\n", false, false, REDIS_FAULT_PROTOCOL, REDIS_RESULT_MOVED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
		struct manner manner = manners[i];
		struct linked *linked = up();

		linked->store.answer = be_mannered;
		linked->store.data = &manner;
		assert_true(linked_send(linked, "WHAT", SECOND));
		assert_true(reaches(linked, &linked->downs, 1));
		/* The library's older releases call some of what is too big no reply at all. */
		if (linked->fault == REDIS_FAULT_PROTOCOL && manner.fault == REDIS_FAULT_TOO_BIG)
			manner.fault = REDIS_FAULT_PROTOCOL;
		if (linked->fault != manner.fault || linked->result != manner.result)
			fail_msg("%s: %s, %s", manner.says, redis_fault_label(linked->fault),
			         redis_result_label(linked->result));
		assert_int_equal(linked->replies, 1);
		assert_true(reaches(linked, &linked->ups, 2));
		linked_close(linked);
	}
}

static void errors_that_leave_the_link_as_it_is(void **state)
{
	static const struct manner manners[] = {
		{ .says = "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
		  .result = REDIS_RESULT_OOM },
		{ .says = "-ASK 866 127.0.0.1:7002\r\n", .result = REDIS_RESULT_ASK },
		{ .says = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
		  .result = REDIS_RESULT_TRYAGAIN },
		{ .says = "-CLUSTERDOWN The cluster is down\r\n",
		  .result = REDIS_RESULT_CLUSTERDOWN },
		{ .says = "-NOPERM this user has no permissions\r\n",
		  .result = REDIS_RESULT_NOPERM },
		{ .says = "-MISCONF Redis is configured to save RDB snapshots\r\n",
		  .result = REDIS_RESULT_MISCONF },
		{ .says = "-WRONGTYPE Operation against a key\r\n", .result = REDIS_RESULT_ERROR },
		{ .says = "-ERR unknown command\r\n", .result = REDIS_RESULT_ERROR },
		{ .says = "-\r\n", .result = REDIS_RESULT_ERROR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
		struct manner manner = manners[i];
		struct linked *linked = up();

		linked->store.answer = be_mannered;
		linked->store.data = &manner;
		assert_true(linked_send(linked, "WHAT", SECOND));
		assert_true(linked_send(linked, "AND", SECOND));
		assert_true(reaches(linked, &linked->replies, 2));
		assert_int_equal(linked->results[manner.result], 1);
		assert_int_equal(linked->results[REDIS_RESULT_OK], 1);
		assert_int_equal(linked->downs, 0);
		linked_close(linked);
	}
}

static void a_silent_store_costs_the_link_at_the_deadline(void **state)
{
	struct linked *linked = up();
	usec_t asked = test_now();

	(void)state;
	linked->store.mute = true;
	assert_true(linked_send(linked, "LONG", 10 * SECOND));
	assert_true(linked_send(linked, "SHORT", 50 * MSEC));
	assert_true(reaches(linked, &linked->downs, 1));
	assert_true(test_now() - asked >= 50 * MSEC);
	assert_int_equal(linked->fault, REDIS_FAULT_SILENT);
	assert_int_equal(linked->results[REDIS_RESULT_LATE], 1);
	assert_int_equal(linked->results[REDIS_RESULT_LOST], 1);
	linked->store.mute = false;
	assert_true(reaches(linked, &linked->ups, 2));
	linked_close(linked);
}

static void a_store_that_never_greets_is_left(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	linked->options.connect_deadline = 50 * MSEC;
	linked->store.mute = true;
	linked_start(linked);
	assert_true(reaches(linked, &linked->downs, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_CONNECT_LATE);
	assert_non_null(strstr(linked->text, "not greeted"));
	linked_close(linked);
}

static void late_is_not_what_lies_in_the_socket(void **state)
{
	struct linked *linked = up();
	struct fake_peer *peer = &linked->store.peers[0];

	(void)state;
	linked->store.mute = true;
	assert_true(linked_send(linked, "WHAT", 30 * MSEC));
	assert_true(reaches(linked, &peer->commands, 3));
	fake_say(peer, "+IN TIME\r\n");
	(void)usleep(60000); /* the loop stands still, as under SIGSTOP */
	assert_true(reaches(linked, &linked->replies, 1));
	assert_int_equal(linked->result, REDIS_RESULT_OK);
	assert_int_equal(linked->downs, 0);
	linked_close(linked);
}

static void replies_that_come_byte_by_byte(void **state)
{
	static const char reply[] = "*3\r\n$5\r\nhello\r\n*2\r\n:7\r\n$-1\r\n+whole\r\n";
	struct linked *linked = up();
	struct fake_peer *peer = &linked->store.peers[0];

	(void)state;
	linked->store.mute = true;
	assert_true(linked_send(linked, "WHAT", 5 * SECOND));
	for (size_t i = 0; i < sizeof(reply) - 1; i++) {
		assert_int_equal(linked->replies, 0);
		fake_say_bytes(peer, &reply[i], 1);
		ev_run(linked->loop, EVRUN_NOWAIT);
		ev_run(linked->loop, EVRUN_NOWAIT);
	}
	assert_true(reaches(linked, &linked->replies, 1));
	assert_int_equal(linked->result, REDIS_RESULT_OK);
	linked_close(linked);
}

static void a_line_without_end_is_left(void **state)
{
	struct linked *linked = up();
	struct fake_peer *peer = &linked->store.peers[0];

	(void)state;
	linked->store.mute = true;
	assert_true(linked_send(linked, "WHAT", 5 * SECOND));
	for (int i = 0; i < 20 && peer->fd >= 0 && linked->downs == 0; i++) {
		char part[1024];

		memset(part, 'x', sizeof(part));
		part[0] = i == 0 ? '+' : 'x';
		fake_say_bytes(peer, part, sizeof(part));
		ev_run(linked->loop, EVRUN_NOWAIT);
	}
	assert_true(reaches(linked, &linked->downs, 1));
	assert_int_equal(linked->fault, REDIS_FAULT_TOO_BIG);
	linked_close(linked);
}

static void killed_a_thousand_times(void **state)
{
	struct linked *linked = linked_open();
	unsigned i;

	(void)state;
	linked->options.retry_first = linked->options.retry_max = 1;
	linked_start(linked);
	for (i = 0; i < 1000; i++) {
		unsigned ups = linked->ups;

		if (!reaches(linked, &linked->ups, ups + 1))
			break;
		(void)linked_send(linked, "ONE", SECOND);
		linked->again = 2;
		if (i % 3 == 0)
			ev_run(linked->loop, EVRUN_NOWAIT);
		for (int peer = 0; peer < PEERS_MAX; peer++) {
			if (linked->store.peers[peer].fd >= 0 && i % 2 == 0)
				fake_reset(&linked->store.peers[peer]);
			fake_hang_up(&linked->store.peers[peer]);
		}
		linked->store.heard[0] = '\0';
	}
	assert_int_equal(i, 1000);
	assert_true(linked->downs >= 999);
	/* Each command that was taken has ended just once. */
	assert_int_equal(linked->replies + redis_link_pending(linked->link),
	                 redis_link_counters(linked->link)->sent);
	linked_close(linked);
}

static void closed_by_the_one_who_accepts(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	linked->store.kills = true;
	linked_start(linked);
	assert_true(reaches(linked, &linked->downs, 5));
	assert_true(linked->fault == REDIS_FAULT_CLOSED || linked->fault == REDIS_FAULT_RESET);
	linked->store.kills = false;
	assert_true(reaches(linked, &linked->ups, 1));
	linked_close(linked);
}

static void freed_with_commands_under_way(void **state)
{
	struct linked *linked = up();

	(void)state;
	linked->store.mute = true;
	assert_true(linked_send(linked, "WHAT", SECOND));
	redis_link_free(linked->link);
	linked->link = NULL;
	assert_int_equal(linked->replies, 0);
	assert_int_equal(linked->downs, 0);
	linked_close(linked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_up_and_answers),
		cmocka_unit_test(a_callback_may_send),
		cmocka_unit_test(nothing_is_taken_before_it_is_up),
		cmocka_unit_test(nothing_is_taken_before_it_is_greeted),
		cmocka_unit_test(what_was_not_sent_is_not_sent_to_the_next),
		cmocka_unit_test(all_addresses_of_a_name_are_one_try),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(a_stray_reply_resets_the_link),
		cmocka_unit_test(what_a_store_says_before_it_closes_is_told),
		cmocka_unit_test(refused_and_then_there),
		cmocka_unit_test(refused_after_it_was_up),
		cmocka_unit_test(pauses_grow_and_are_bounded),
		cmocka_unit_test(each_way_to_be_lost),
		cmocka_unit_test(errors_that_leave_the_link_as_it_is),
		cmocka_unit_test(a_silent_store_costs_the_link_at_the_deadline),
		cmocka_unit_test(a_store_that_never_greets_is_left),
		cmocka_unit_test(late_is_not_what_lies_in_the_socket),
		cmocka_unit_test(replies_that_come_byte_by_byte),
		cmocka_unit_test(a_line_without_end_is_left),
		cmocka_unit_test(killed_a_thousand_times),
		cmocka_unit_test(closed_by_the_one_who_accepts),
		cmocka_unit_test(freed_with_commands_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
