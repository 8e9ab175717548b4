/* test_flow.c - what happens when answers are late, or nobody reads them. Proves
 * P024, P015 (nothing is held for who left), B069 (a late answer gives its slot back). */
#include "tests/spoa/server/peer.h"

#include <sys/syscall.h>

enum { MANY = 100000 };

/* The server's writes pass through here; 0: unlimited. */
static size_t send_at_most;

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	if (send_at_most && length > send_at_most)
		length = send_at_most;
	return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

static struct peer shaken(void)
{
	struct peer peer = peer_pair();

	(void)say_hello(&peer, PEER_SIZE, "pipelining");
	return peer;
}

static void takes_51_ms(void)
{
	stub.now += 51 * MSEC;
}

static void takes_50_ms(void)
{
	stub.now += 50 * MSEC;
}

static void an_answer_later_than_haproxy_waits_is_undone(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = shaken();
	stub.on_decide = takes_50_ms;
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	assert_int_equal(stub.late, 0);
	stub.on_decide = takes_51_ms;
	ask(&peer, "u2", 1, 2);
	expect_ack(&peer, 1, 2);
	assert_int_equal(stub.late, 1);
	assert_string_equal(stub.late_id, "u2");
	assert_int_equal(world.counters->late, 1);
	assert_non_null(strstr(world.line, "51 ms"));
	spop_server_set_processing_timeout(world.server, 100 * MSEC);
	ask(&peer, "u3", 1, 3);
	expect_ack(&peer, 1, 3);
	assert_int_equal(stub.late, 1);
	peer_close(&peer);
	stop();
}

static void without_a_slot_there_is_nothing_to_undo(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = shaken();
	stub.decision.slot = false;
	stub.on_decide = takes_51_ms;
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	assert_int_equal(stub.late, 0);
	assert_int_equal(world.counters->late, 0);
	peer_close(&peer);
	stop();
}

/* Keeps asking and never reads, until the server does not read any more either. */
static unsigned int ask_until_stuck(struct peer *peer)
{
	static struct stub_notify notify;
	uint8_t bytes[4096];
	unsigned int asked = 0;

	while (asked < MANY) {
		size_t length, at = 0;
		char id[16];

		(void)snprintf(id, sizeof(id), "u%u", asked + 1);
		notify_start(&notify);
		put_message(&notify, CONTRACT_ROUTE);
		put_text(&notify, "id", id);
		length = wrap(bytes, sizeof(bytes), notify_end(&notify), 1, asked);
		for (int idle = 0; at < length && idle < 300; pump(), idle++) {
			ssize_t sent =
			        sendto(peer->fd, bytes + at, length - at, MSG_NOSIGNAL, NULL, 0);

			at += sent > 0 ? (size_t)sent : 0;
			idle = sent > 0 ? 0 : idle;
		}
		if (at < length)
			return asked;
		asked++;
	}
	return asked;
}

static void who_does_not_read_is_not_read(void **state)
{
	struct spop_server_options options = usual();
	const struct connection *connection;
	unsigned int asked, before;
	struct frame frame;
	struct peer peer, other;

	(void)state;
	start_with(&options);
	peer = shaken();
	other = shaken();
	asked = ask_until_stuck(&peer);
	assert_true(asked < MANY);
	connection = world.server->connections->next;
	assert_true(connection->output_length - connection->output_at >= options.output_limit);
	assert_true(connection->output_size <= 2 * (options.output_limit + ANSWERS_BYTES));
	assert_true(connection->input_size <= INPUT_USUAL);
	before = stub.decided;
	assert_true(before < asked);
	for (int i = 0; i < 100; i++)
		pump();
	assert_int_equal(stub.decided, before);
	ask(&other, "x", 7, 7); /* the others do not notice */
	expect_ack(&other, 7, 7);
	/* It reads again: each question that was sent whole has its answer, in order. */
	for (unsigned int i = 0; i < asked; i++) {
		assert_true(peer_frame(&peer, &frame));
		assert_int_equal(frame.id, i);
	}
	assert_int_equal(stub.late, 0);
	assert_int_equal(world.counters->late_untracked, 0);
	assert_null(connection->output);
	assert_int_equal(world.server->buffered, 0);
	peer_close(&peer);
	peer_close(&other);
	stop();
}

static unsigned int watched(const struct connection *connection)
{
	unsigned int count = 0;

	for (const struct late_answer *at = connection->late.first; at; at = at->next)
		count++;
	return count;
}

static void each_answer_is_watched_until_its_last_byte_is_written(void **state)
{
	const struct connection *connection;
	unsigned int length, looks = 0;
	uint8_t piece[4096];
	struct frame frame;
	struct peer peer;

	(void)state;
	start();
	peer = shaken();
	ask(&peer, "u1", 1, 1);
	assert_true(peer_frame(&peer, &frame));
	length = (unsigned int)peer.at; /* of an answer, give or take its ids */
	(void)ask_until_stuck(&peer);
	connection = world.server->connections;
	send_at_most = 1000;
	for (; connection->output; looks++) {
		unsigned int unread = connection->output_length - connection->output_at;

		assert_in_range(watched(connection), unread / (length + 4), unread / length + 1);
		(void)!read(peer.fd, piece, sizeof(piece));
		pump();
	}
	send_at_most = 0;
	assert_true(looks > 50);
	assert_int_equal(watched(connection), 0);
	peer_close(&peer);
	stop();
}

static void answers_that_were_stuck_are_undone_when_they_leave(void **state)
{
	const struct connection *connection;
	unsigned int asked, waiting;
	struct frame frame;
	struct peer peer;

	(void)state;
	start();
	peer = shaken();
	asked = ask_until_stuck(&peer);
	connection = world.server->connections;
	waiting = watched(connection);
	assert_in_range(waiting, 1, LATE_RECORDS);
	stub.now += SECOND;
	for (unsigned int i = 0; i < asked; i++)
		assert_true(peer_frame(&peer, &frame));
	/* Those that waited in our buffer, and those whose question waited in the other;
	 * what was read only now is in time. */
	assert_in_range(stub.late, waiting, waiting + INPUT_USUAL / 30);
	assert_int_equal(world.counters->late, stub.late);
	assert_true(stub.late < asked);
	peer_close(&peer);
	stop();
}

static void answers_that_never_leave_are_undone(void **state)
{
	unsigned int waiting;
	struct peer peer;

	(void)state;
	start();
	peer = shaken();
	(void)ask_until_stuck(&peer);
	waiting = watched(world.server->connections);
	peer_close(&peer);
	UNTIL(world.counters->open == 0);
	assert_int_equal(stub.late, waiting);
	assert_int_equal(world.counters->lost, waiting);
	assert_int_equal(world.server->buffered, 0);
	stop();
}

static void who_never_reads_is_closed_in_the_end(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = shaken();
	(void)ask_until_stuck(&peer);
	stub.now += options.write_timeout - 1;
	for (int i = 0; i < 20; i++) {
		ev_sleep(0.001);
		pump();
	}
	assert_int_equal(world.counters->open, 1);
	stub.now += 1;
	UNTIL(world.counters->open == 0);
	assert_non_null(strstr(world.line, "does not read"));
	assert_int_equal(world.counters->idle_closed, 0);
	peer_close(&peer);
	stop();
}

static void the_memory_of_all_unread_answers_is_bounded(void **state)
{
	struct spop_server_options options = usual();
	struct peer peers[4] = { { 0 } };

	(void)state;
	options.buffer_limit = 300 * 1024;
	start_with(&options);
	for (int i = 0; i < 4; i++) {
		peers[i] = shaken();
		(void)ask_until_stuck(&peers[i]);
		assert_true(world.server->buffered <= options.buffer_limit);
		if (world.counters->open < (unsigned int)i + 1)
			break; /* one that would have gone beyond it is gone */
	}
	assert_true(world.counters->open < 4);
	for (int i = 0; i < 4; i++)
		if (peers[i].in)
			peer_close(&peers[i]);
	stop();
}

int main(void)
{
	const struct CMUnitTest flows[] = {
		cmocka_unit_test(an_answer_later_than_haproxy_waits_is_undone),
		cmocka_unit_test(without_a_slot_there_is_nothing_to_undo),
		cmocka_unit_test(who_does_not_read_is_not_read),
		cmocka_unit_test(each_answer_is_watched_until_its_last_byte_is_written),
		cmocka_unit_test(answers_that_were_stuck_are_undone_when_they_leave),
		cmocka_unit_test(answers_that_never_leave_are_undone),
		cmocka_unit_test(who_never_reads_is_closed_in_the_end),
		cmocka_unit_test(the_memory_of_all_unread_answers_is_bounded),
	};

	return cmocka_run_group_tests(flows, NULL, NULL);
}
