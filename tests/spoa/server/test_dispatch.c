/* test_dispatch.c - which frames are answered how, over real sockets. Proves P002,
 * P003, P004, P005, P010, P014, P015, P016, P018, P020, P028, B069. */
#include "tests/spoa/server/peer.h"

static struct stub_notify notify;

static void an_unknown_message_has_an_ack_with_an_action(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	peer_send_hex(&peer, "0000000c03000000010101037a7a7a00");
	expect_ack(&peer, 1, 1);
	peer_close(&peer);
	stop();
}

static void a_question_is_answered_where_it_was_asked(void **state)
{
	struct peer a, b;

	(void)state;
	start();
	a = peer_new();
	b = peer_new();
	ask(&a, "u1", 1, 1);
	ask(&b, "u2", 1, 1);
	expect_ack(&a, 1, 1);
	expect_ack(&b, 1, 1);
	assert_int_equal(stub.decided, 2);
	assert_int_equal(a.at, a.length);
	assert_int_equal(b.at, b.length);
	peer_close(&a);
	peer_close(&b);
	stop();
}

static void many_questions_in_one_write_have_all_their_answers(void **state)
{
	static uint8_t bytes[40 * 1024];
	size_t length = 0;
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	for (uint64_t i = 1; i <= 30; i++) {
		notify_start(&notify);
		put_route(&notify, "u1", 32);
		length += wrap(bytes + length, sizeof(bytes) - length, notify_end(&notify), 1, i);
	}
	peer_send(&peer, bytes, length);
	for (uint64_t i = 1; i <= 30; i++)
		expect_ack(&peer, 1, i);
	assert_int_equal(world.counters->frames[FRAME_HAPROXY_NOTIFY], 30);
	assert_int_equal(world.counters->frames[FRAME_AGENT_ACK], 30);
	peer_close(&peer);
	stop();
}

static void a_frame_of_no_length_ends_only_its_connection(void **state)
{
	struct peer peer, other;

	(void)state;
	start();
	peer = peer_new();
	other = peer_new();
	peer_send_hex(&peer, "00000000");
	expect_goodbye(&peer, SPOP_INVALID);
	assert_int_equal(world.counters->errors[SPOP_INVALID], 1);
	ask(&other, "u1", 1, 1);
	expect_ack(&other, 1, 1);
	peer_close(&peer);
	peer_close(&other);
	stop();
}

/* A NOTIFY of about this many bytes. */
static void send_large(struct peer *peer, uint32_t size)
{
	uint8_t *bytes = calloc(1, size + 64), *text = calloc(1, size);
	struct spop_output out = { bytes, bytes + size + 64 };
	struct spop_value value;
	uint8_t *mark;

	assert_non_null(bytes);
	assert_non_null(text);
	value = value_string((struct spop_text){ (const char *)text, size - 40 });
	assert_true(frame_begin(&out, FRAME_HAPROXY_NOTIFY, 5, 6, &mark));
	assert_true(notify_write_message(&out, "infer-route", 1));
	assert_true(pair_write(&out, "model", &value));
	frame_end(&out, mark);
	peer_send(peer, bytes, (size_t)(out.at - bytes));
	free(bytes);
	free(text);
}

static void frames_up_to_what_haproxy_announced_are_taken(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	options.max_frame_size = 4096;
	start_with(&options);
	peer = peer_connect();
	assert_int_equal(say_hello(&peer, 16380, "").max_frame_size, 4096);
	send_large(&peer, 8000);
	expect_ack(&peer, 5, 6);
	peer_send_hex(&peer, "00004e2003000000010101"); /* 20000 */
	expect_goodbye(&peer, SPOP_TOO_BIG);
	assert_true(world.server->connections->input_size <= INPUT_USUAL);
	assert_int_equal(world.server->buffered, 0);
	peer_close(&peer);
	stop();
}

static void the_largest_frame_is_taken_and_its_memory_given_back(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_connect();
	assert_int_equal(say_hello(&peer, 1048572, "").max_frame_size, 1048572);
	send_large(&peer, 1048000);
	expect_ack(&peer, 5, 6);
	assert_int_equal(stub.decided, 1);
	assert_int_equal(stub.request.model.len, 1047960);
	assert_int_equal(world.server->buffered, 0);
	assert_int_equal(world.server->connections->input_size, INPUT_USUAL);
	send_large(&peer, 131000);
	expect_ack(&peer, 5, 6);
	peer_close(&peer);
	stop();
}

static void a_long_frame_counts_as_its_bytes_come(void **state)
{
	static const uint8_t zeros[40000];
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	options.buffer_limit = 100000;
	start_with(&options);
	peer = peer_connect();
	(void)say_hello(&peer, 1048572, "");
	peer_send_hex(&peer, "000ffff003000000010101"); /* announces 1 MiB */
	for (int i = 0; i < 10; i++)
		pump();
	assert_int_equal(world.server->buffered, 0);
	peer_send(&peer, zeros, sizeof(zeros));
	UNTIL(world.server->buffered == 2 * INPUT_USUAL);
	peer_send(&peer, zeros, sizeof(zeros)); /* the next step would be beyond the limit */
	expect_goodbye(&peer, SPOP_RESOURCE);
	peer_close(&peer);
	UNTIL(world.counters->open == 0);
	assert_int_equal(world.server->buffered, 0);
	stop();
}

static void refused_frame(const char *hex, enum spop_error status)
{
	struct peer peer = peer_new();

	peer_send_hex(&peer, hex);
	expect_goodbye(&peer, status);
	peer_close(&peer);
}

static void what_is_no_frame_for_us_is_refused_by_number(void **state)
{
	(void)state;
	start();
	refused_frame("0000000c03000000000101037a7a7a00", SPOP_FRAGMENTED);  /* P016 */
	refused_frame("0000000c03000000030101037a7a7a00", SPOP_NO_FRAME_ID); /* abort */
	refused_frame("0000000704000000010000", SPOP_INVALID);               /* no such type */
	refused_frame("0000000767000000010000", SPOP_INVALID);               /* an ACK, to us */
	refused_frame("0000000700000000010000", SPOP_INVALID);
	refused_frame("00003ffd", SPOP_TOO_BIG);
	refused_frame("000000110300000001"
	              "0101"
	              "f0f1fcfefefefefefe0e",
	              SPOP_INVALID); /* P005 */
	refused_frame("000000120300000001"
	              "0101"
	              "f080808080808080808080",
	              SPOP_INVALID);
	assert_int_equal(world.counters->unknown_frames, 3);
	assert_int_equal(stub.decided, 0);
	stop();
}

static void each_prefix_of_a_notify_is_answered_or_refused(void **state)
{
	uint8_t bytes[4096];
	struct spop_input whole;

	(void)state;
	start();
	notify_start(&notify);
	put_route(&notify, "u1", 2);
	whole = notify_end(&notify);
	for (const uint8_t *end = whole.at; end <= whole.end; end++) {
		struct spop_input cut = { whole.at, end };
		size_t length = wrap(bytes, sizeof(bytes), cut, 3, 4);
		struct peer peer = peer_new();

		peer_send(&peer, bytes, length);
		if (end == whole.at || end == whole.end)
			expect_ack(&peer, 3, 4);
		else
			expect_goodbye(&peer, SPOP_INVALID);
		peer_close(&peer);
	}
	assert_int_equal(stub.decided, 1);
	stop();
}

static void a_goodbye_is_answered_and_what_follows_is_not(void **state)
{
	uint64_t before;
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	before = real_ms();
	peer_send_hex(&peer, GOLDEN_BYE "0000000c03000000010101037a7a7a00");
	expect_goodbye(&peer, SPOP_NONE);
	assert_true(real_ms() < before + 100);
	assert_int_equal(world.counters->frames[FRAME_HAPROXY_NOTIFY], 0);
	assert_int_equal(world.counters->peer_errors[0], 1);
	peer_close(&peer);
	stop();
}

static void haproxy_s_reason_is_counted_and_said(void **state)
{
	uint8_t bytes[128];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value odd = value_uint32(12345);
	uint8_t *mark;
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	assert_true(disconnect_write(&out, FRAME_HAPROXY_DISCONNECT, SPOP_TIMEOUT));
	peer_send(&peer, bytes, (size_t)(out.at - bytes));
	expect_goodbye(&peer, SPOP_NONE);
	peer_close(&peer);
	assert_int_equal(world.counters->peer_errors[SPOP_TIMEOUT], 1);
	assert_non_null(strstr(world.line, "status 2: a timeout"));
	peer = peer_new();
	out.at = bytes;
	assert_true(frame_begin(&out, FRAME_HAPROXY_DISCONNECT, 0, 0, &mark));
	assert_true(pair_write(&out, "status-code", &odd));
	frame_end(&out, mark);
	peer_send(&peer, bytes, (size_t)(out.at - bytes));
	expect_goodbye(&peer, SPOP_NONE);
	assert_int_equal(world.counters->peer_errors[100], 1);
	peer_close(&peer);
	stop();
}

static void storms_of_ends_are_counted_not_told(void **state)
{
	struct linger now = { .l_onoff = 1 };

	(void)state;
	start();
	for (int i = 0; i < 1000; i++) {
		struct peer peer = peer_new();

		peer_send_hex(&peer, GOLDEN_BYE);
		expect_goodbye(&peer, SPOP_NONE);
		peer_close(&peer);
	}
	for (int i = 0; i < 100; i++) {
		struct peer peer = peer_new();

		(void)setsockopt(peer.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		peer_close(&peer);
	}
	UNTIL(world.counters->open == 0);
	assert_int_equal(world.counters->peer_errors[0], 1000);
	assert_int_equal(world.counters->resets, 100);
	assert_int_equal(world.counters->accepted, 1100);
	assert_true(world.lines <= 2);
	stop();
}

static void questions_of_peers_that_leave_harm_nobody(void **state)
{
	static uint8_t bytes[500 * 1024];
	size_t length = 0;

	(void)state;
	start();
	for (uint64_t i = 1; i <= 500; i++) {
		notify_start(&notify);
		put_route(&notify, "u1", 4);
		length += wrap(bytes + length, sizeof(bytes) - length, notify_end(&notify), 1, i);
	}
	for (int i = 0; i < 100; i++) {
		struct peer peer = peer_new();

		(void)!write(peer.fd, bytes, length);
		if (i % 2)
			pump();
		peer_close(&peer);
	}
	UNTIL(world.counters->open == 0);
	assert_int_equal(world.server->buffered, 0);
	stop();
}

static void all_null_is_answered(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
#define AS_NULL(id, name, ...) put_null(&notify, name);
	ROUTE_ARGUMENTS(AS_NULL)
#undef AS_NULL
	send_notify(&peer, &notify, 2, 3);
	expect_ack(&peer, 2, 3);
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put_text(&notify, "plen", "x");
	send_notify(&peer, &notify, 2, 4);
	expect_ack(&peer, 2, 4);
	assert_int_equal(world.context.counters.bad_route_arguments[ROUTE_PROMPT_BYTES], 1);
	peer_close(&peer);
	stop();
}

static void requests_are_tied_by_their_id_never_by_streams(void **state)
{
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	notify_start(&notify);
	put_message(&notify, CONTRACT_FIRST);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "id", "u1");
	send_notify(&peer, &notify, 9, 1); /* as 3.1 and newer */
	expect_ack(&peer, 9, 1);
	assert_int_equal(stub.first_bytes, 1);
	assert_string_equal(stub.id, "u1");
	send_notify(&peer, &notify, 1, 2); /* as 2.6 */
	expect_ack(&peer, 1, 2);
	assert_int_equal(stub.first_bytes, 2);
	peer_close(&peer);
	stop();
}

static long resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
	(void)fclose(file);
	return resident;
}

static void questions_without_an_end_leave_nothing_behind(void **state)
{
	long before = 0;
	struct peer peer;

	(void)state;
	start();
	peer = peer_new();
	for (unsigned int i = 0; i < 100000; i++) {
		char id[24];

		(void)snprintf(id, sizeof(id), "u%u", i);
		ask(&peer, id, i, 1);
		expect_ack(&peer, i, 1);
		if (i == 1000)
			before = resident_pages();
	}
	assert_int_equal(stub.decided, 100000);
	assert_true(resident_pages() <= before + 512);
	peer_close(&peer);
	stop();
}

int main(void)
{
	const struct CMUnitTest frames[] = {
		cmocka_unit_test(an_unknown_message_has_an_ack_with_an_action),
		cmocka_unit_test(a_question_is_answered_where_it_was_asked),
		cmocka_unit_test(many_questions_in_one_write_have_all_their_answers),
		cmocka_unit_test(a_frame_of_no_length_ends_only_its_connection),
		cmocka_unit_test(frames_up_to_what_haproxy_announced_are_taken),
		cmocka_unit_test(the_largest_frame_is_taken_and_its_memory_given_back),
		cmocka_unit_test(a_long_frame_counts_as_its_bytes_come),
		cmocka_unit_test(what_is_no_frame_for_us_is_refused_by_number),
		cmocka_unit_test(each_prefix_of_a_notify_is_answered_or_refused),
		cmocka_unit_test(a_goodbye_is_answered_and_what_follows_is_not),
		cmocka_unit_test(haproxy_s_reason_is_counted_and_said),
		cmocka_unit_test(storms_of_ends_are_counted_not_told),
		cmocka_unit_test(questions_of_peers_that_leave_harm_nobody),
		cmocka_unit_test(all_null_is_answered),
		cmocka_unit_test(requests_are_tied_by_their_id_never_by_streams),
		cmocka_unit_test(questions_without_an_end_leave_nothing_behind),
	};

	return cmocka_run_group_tests(frames, NULL, NULL);
}
