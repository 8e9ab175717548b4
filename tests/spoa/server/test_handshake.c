/* test_handshake.c - the first frames, over a real socket. Proves P001, P011, P012,
 * P017, B069 (HELLO is one write). */
#include "tests/spoa/server/peer.h"

#include <sys/syscall.h>

/* The server's writes pass through here. */
static struct {
	unsigned int calls;
	size_t length, at_most;
} sends;

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	sends.calls++;
	sends.length = length;
	if (sends.at_most && length > sends.at_most)
		length = sends.at_most;
	return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

static void the_answer_is_one_write(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_connect();
	memset(&sends, 0, sizeof(sends));
	(void)say_hello(&peer, PEER_SIZE, "pipelining,async");
	assert_int_equal(sends.calls, 1);
	assert_int_equal(peer.at, peer.length);
	assert_int_equal(sends.length, peer.length);
	assert_int_equal(world.counters->accepted, 1);
	peer_close(&peer);
	stop();
}

static void an_answer_that_leaves_in_part_is_given_up(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_connect();
	memset(&sends, 0, sizeof(sends));
	sends.at_most = 30;
	peer_send_hex(&peer, GOLDEN_HELLO);
	UNTIL(world.counters->resets == 1);
	for (int i = 0; i < 20; i++)
		pump();
	assert_int_equal(sends.calls, 1);
	assert_int_equal(world.counters->open, 0);
	sends.at_most = 0;
	peer_close(&peer);
	stop();
}

static void a_hello_may_come_in_pieces(void **state)
{
	struct peer peer;
	struct frame frame;
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_HELLO, bytes, sizeof(bytes));

	(void)state;
	start();
	peer = peer_connect();
	for (size_t i = 0; i < length; i++)
		peer_send(&peer, bytes + i, 1);
	assert_true(peer_frame(&peer, &frame));
	assert_int_equal(frame.type, FRAME_AGENT_HELLO);
	peer_close(&peer);
	stop();
}

static void a_health_check_is_answered_and_closed(void **state)
{
	struct peer peer;
	struct hello_answer answer;
	struct frame frame;

	(void)state;
	start();
	peer = peer_connect();
	peer_send_hex(&peer, GOLDEN_HEALTH);
	assert_true(peer_frame(&peer, &frame));
	assert_int_equal(frame.type, FRAME_AGENT_HELLO);
	assert_int_equal(hello_read_answer(frame.payload, &answer), SPOP_NONE);
	assert_int_equal(answer.capabilities.length, 0);
	assert_int_equal(answer.max_frame_size, 16380);
	expect_end(&peer);
	assert_int_equal(world.counters->checks, 1);
	assert_int_equal(world.counters->accepted, 0);
	peer_close(&peer);
	UNTIL(world.counters->open == 0);
	assert_int_equal(world.counters->resets, 0);
	assert_int_equal(world.counters->refused, 0);
	stop();
}

static void checks_fail_while_leaving_and_decisions_do_not(void **state)
{
	struct peer peer, check;

	(void)state;
	start();
	peer = peer_new();
	spop_server_leave(world.server);
	check = peer_connect();
	peer_send_hex(&check, GOLDEN_HEALTH);
	expect_goodbye(&check, SPOP_RESOURCE);
	assert_int_equal(world.counters->refused, 0);
	assert_int_equal(world.lines, 1); /* that it listens: no complaint */
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	peer_close(&peer);
	peer = peer_new();
	ask(&peer, "u2", 1, 1);
	expect_ack(&peer, 1, 1);
	peer_close(&peer);
	peer_close(&check);
	stop();
}

static void only_what_was_offered_is_answered(void **state)
{
	static const char *const table[][2] = {
		{ "", "" },
		{ "async", "" },
		{ "pipelining", "pipelining" },
		{ "pipelining,async,fragmentation", "pipelining" },
	};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct peer peer = peer_connect();
		struct hello_answer answer = say_hello(&peer, PEER_SIZE, table[i][0]);

		assert_true(text_is(answer.capabilities, table[i][1]));
		assert_true(text_is(answer.version, "2.0"));
		peer_close(&peer);
	}
	stop();
}

static void the_frame_size_is_the_smaller_of_both(void **state)
{
	static const uint32_t sizes[][2] = {
		{ 98300, 98300 }, { 1048572, 1048572 }, { 4000000, 1048576 }, { 16380, 16380 }
	};
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		peer = peer_connect();
		assert_int_equal(say_hello(&peer, sizes[i][0], "").max_frame_size, sizes[i][1]);
		peer_close(&peer);
	}
	stop();
	options.max_frame_size = 4096;
	start_with(&options);
	peer = peer_connect();
	assert_int_equal(say_hello(&peer, 16380, "").max_frame_size, 4096);
	peer_close(&peer);
	stop();
}

static void refused(const uint8_t *bytes, size_t length, enum spop_error status)
{
	struct peer peer = peer_connect();
	uint64_t before = world.counters->refused;

	peer_send(&peer, bytes, length);
	expect_goodbye(&peer, status);
	assert_int_equal(world.counters->refused, before + 1);
	peer_close(&peer);
}

/* A HELLO with these entries; what is NULL or 0 is left out. */
static void refused_hello(const char *versions, uint32_t size, enum spop_error status)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value value = value_string(text_of(versions ? versions : ""));
	uint8_t *mark;

	assert_true(frame_begin(&out, FRAME_HAPROXY_HELLO, 0, 0, &mark));
	if (versions)
		assert_true(pair_write(&out, "supported-versions", &value));
	value = value_uint32(size);
	if (size)
		assert_true(pair_write(&out, "max-frame-size", &value));
	frame_end(&out, mark);
	refused(bytes, (size_t)(out.at - bytes), status);
}

static void what_is_wrong_is_said_by_number(void **state)
{
	uint8_t notify[64];

	(void)state;
	start();
	refused_hello("1.0", PEER_SIZE, SPOP_BAD_VERSION);
	refused_hello(NULL, PEER_SIZE, SPOP_NO_VERSION);
	refused_hello("2.0", 0, SPOP_NO_FRAME_SIZE);
	refused_hello("2.0", PEER_SIZE, SPOP_NO_CAPABILITIES);
	refused_hello("2.0", 100, SPOP_BAD_FRAME_SIZE);
	refused(notify, hex_read("0000000c03000000010101037a7a7a00", notify, sizeof(notify)),
	        SPOP_INVALID);
	assert_int_equal(world.lines, 2); /* that it listens; one refusal a second */
	stop();
}

static void a_frame_that_our_answers_do_not_fit_in_is_refused(void **state)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	(void)state;
	start();
	assert_true(hello_write(&out, 300, "", false, NULL));
	refused(bytes, (size_t)(out.at - bytes), SPOP_BAD_FRAME_SIZE);
	stop();
}

static void a_goodbye_first_is_answered(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_connect();
	peer_send_hex(&peer, GOLDEN_BYE);
	expect_goodbye(&peer, SPOP_NONE);
	peer_close(&peer);
	stop();
}

static void a_second_hello_is_refused(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	peer_send_hex(&peer, GOLDEN_HELLO);
	expect_goodbye(&peer, SPOP_INVALID);
	peer_close(&peer);
	stop();
}

int main(void)
{
	const struct CMUnitTest handshakes[] = {
		cmocka_unit_test(the_answer_is_one_write),
		cmocka_unit_test(an_answer_that_leaves_in_part_is_given_up),
		cmocka_unit_test(a_hello_may_come_in_pieces),
		cmocka_unit_test(a_health_check_is_answered_and_closed),
		cmocka_unit_test(checks_fail_while_leaving_and_decisions_do_not),
		cmocka_unit_test(only_what_was_offered_is_answered),
		cmocka_unit_test(the_frame_size_is_the_smaller_of_both),
		cmocka_unit_test(what_is_wrong_is_said_by_number),
		cmocka_unit_test(a_frame_that_our_answers_do_not_fit_in_is_refused),
		cmocka_unit_test(a_goodbye_first_is_answered),
		cmocka_unit_test(a_second_hello_is_refused),
	};

	return cmocka_run_group_tests(handshakes, NULL, NULL);
}
