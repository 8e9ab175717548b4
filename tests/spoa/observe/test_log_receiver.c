/* test_log_receiver.c - log lines by UDP, TCP and unix datagram, over real sockets.
 * Proves R111 (transport of the ends). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/lines.h"
#include "spoa/observe/log_receiver.h"
#include "tests/spoa/observe/fixture.h"
#include "tests/spoa/observe/peer.h"

struct stage {
	struct ev_loop *loop;
	struct log_receiver *receiver;
	unsigned lines, wanted;
	char last[LINE_MAX_BYTES + 1];
	char said[256];
};

static void hear(void *data, struct span line)
{
	struct stage *stage = data;

	stage->lines++;
	assert_true(line.len <= LINE_MAX_BYTES);
	memcpy(stage->last, line.at, line.len);
	stage->last[line.len] = 0;
}

static void say(void *data, int level, const char *text)
{
	struct stage *stage = data;

	(void)level;
	(void)snprintf(stage->said, sizeof(stage->said), "%s", text);
}

static void open_stage(struct stage *stage, const char *address)
{
	struct observe observe = { .now = loop_now, .log = { say, stage } };
	struct error error = { "" };

	memset(stage, 0, sizeof(*stage));
	stage->loop = ev_loop_new(EVFLAG_AUTO);
	observe.loop = stage->loop;
	stage->receiver = log_receiver_new(&observe, hear, stage);
	assert_non_null(stage->receiver);
	/* Port 0 is a free one of UDP; that of TCP may be somebody's. */
	for (int tries = 0; !log_receiver_listen(stage->receiver, address, &error); tries++)
		assert_true(tries < 50);
}

static void close_stage(struct stage *stage)
{
	log_receiver_free(stage->receiver);
	ev_loop_destroy(stage->loop);
}

static bool enough(void *data)
{
	struct stage *stage = data;

	return stage->lines >= stage->wanted;
}

static void wait_for(struct stage *stage, unsigned lines)
{
	stage->wanted = lines;
	assert_true(loop_until(stage->loop, enough, stage, 5));
	assert_int_equal(stage->lines, lines);
}

static bool nobody_connected(void *data)
{
	struct stage *stage = data;

	return log_receiver_counts(stage->receiver).connections == 0;
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void one_address_takes_both_udp_and_tcp(void **state)
{
	static struct stage stage;
	uint16_t port;
	int udp, tcp;

	(void)state;
	open_stage(&stage, "127.0.0.1:0");
	port = log_receiver_port(stage.receiver);
	assert_int_not_equal(port, 0);
	udp = loop_connect(SOCK_DGRAM, port);
	tcp = loop_connect(SOCK_STREAM, port);
	send_text(udp, "by udp\n");
	wait_for(&stage, 1);
	assert_string_equal(stage.last, "by udp");
	send_text(tcp, "by tcp\n");
	wait_for(&stage, 2);
	assert_string_equal(stage.last, "by tcp");
	assert_int_equal(log_receiver_counts(stage.receiver).datagrams, 1);
	assert_int_equal(log_receiver_counts(stage.receiver).stream_lines, 1);
	assert_int_equal(log_receiver_counts(stage.receiver).connections, 1);
	(void)close(udp);
	(void)close(tcp);
	close_stage(&stage);
}

/* HAProxy's burst while the loop stands still: nothing is lost, if the kernel gives
 * the buffer that is asked for; if not, what it drops is known. */
static void a_burst_of_3000_lines_waits_for_the_loop(void **state)
{
	static struct stage stage;
	enum { BURST = 3000 };
	char line[300];
	int udp;

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	udp = loop_connect(SOCK_DGRAM, log_receiver_port(stage.receiver));
	memset(line, 'x', sizeof(line));
	for (unsigned i = 0; i < BURST; i++)
		assert_int_equal(send(udp, line, sizeof(line), 0), sizeof(line));
	if (stage.said[0] == 0) {
		wait_for(&stage, BURST);
		assert_int_equal(log_receiver_counts(stage.receiver).kernel_drops, 0);
	} else {
		/* The count of drops comes with the first datagram behind them. */
		assert_non_null(strstr(stage.said, "net.core.rmem_max"));
		loop_for(stage.loop, 0.2);
		send_text(udp, "behind");
		stage.wanted = stage.lines + 1;
		assert_true(loop_until(stage.loop, enough, &stage, 5));
		assert_int_equal(stage.lines - 1 + log_receiver_counts(stage.receiver).kernel_drops,
		                 BURST);
	}
	(void)close(udp);
	close_stage(&stage);
}

static void drops_of_the_kernel_are_counted(void **state)
{
	static struct stage stage;
	enum { FLOOD = 40000 };
	char line[1000];
	int udp;

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	udp = loop_connect(SOCK_DGRAM, log_receiver_port(stage.receiver));
	memset(line, 'x', sizeof(line));
	for (unsigned i = 0; i < FLOOD; i++)
		assert_int_equal(send(udp, line, sizeof(line), 0), sizeof(line));
	loop_for(stage.loop, 0.3);
	send_text(udp, "behind");
	send_text(udp, "behind"); /* which says the same number again */
	stage.wanted = stage.lines + 2;
	assert_true(loop_until(stage.loop, enough, &stage, 5));
	assert_true(log_receiver_counts(stage.receiver).kernel_drops > 0);
	assert_int_equal(stage.lines - 2 + log_receiver_counts(stage.receiver).kernel_drops, FLOOD);
	(void)close(udp);
	close_stage(&stage);
}

/* Read by the clock then: each line once, by whichever way, and a connection that comes or
 * goes meanwhile is seen. */
static void lines_that_come_often_are_all_taken(void **state)
{
	static struct stage stage;
	enum { ROUNDS = 300 };
	uint16_t port;
	int udp, tcp, late;

	(void)state;
	open_stage(&stage, "127.0.0.1:0");
	port = log_receiver_port(stage.receiver);
	udp = loop_connect(SOCK_DGRAM, port);
	tcp = loop_connect(SOCK_STREAM, port);
	for (unsigned i = 0; i < ROUNDS; i++) {
		send_text(udp, "by udp\n");
		send_text(tcp, "by tcp\n");
		(void)ev_run(stage.loop, EVRUN_NOWAIT);
	}
	late = loop_connect(SOCK_STREAM, port);
	send_text(late, "by a late one\n");
	(void)close(tcp);
	wait_for(&stage, 2 * ROUNDS + 1);
	assert_int_equal(log_receiver_counts(stage.receiver).datagrams, ROUNDS);
	assert_int_equal(log_receiver_counts(stage.receiver).stream_lines, ROUNDS + 1);
	loop_for(stage.loop, 0.02);
	assert_int_equal(log_receiver_counts(stage.receiver).connections, 1);
	send_text(late, "at once again\n");
	wait_for(&stage, 2 * ROUNDS + 2);
	(void)close(udp);
	(void)close(late);
	close_stage(&stage);
}

static void a_datagram_too_long_is_dropped(void **state)
{
	static struct stage stage;
	char line[LINE_MAX_BYTES + 1];
	int udp;

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	udp = loop_connect(SOCK_DGRAM, log_receiver_port(stage.receiver));
	memset(line, 'x', sizeof(line));
	assert_int_equal(send(udp, line, LINE_MAX_BYTES, 0), LINE_MAX_BYTES);
	assert_int_equal(send(udp, line, LINE_MAX_BYTES + 1, 0), LINE_MAX_BYTES + 1);
	send_text(udp, "short\r\n");
	wait_for(&stage, 2);
	assert_string_equal(stage.last, "short");
	assert_int_equal(log_receiver_counts(stage.receiver).too_long, 1);
	(void)close(udp);
	close_stage(&stage);
}

static void a_line_sent_in_two_at_every_byte_is_one(void **state)
{
	static const char text[] = "infer v=1 ev=end id=1\n";
	static struct stage stage;
	int on = 1, tcp;

	(void)state;
	open_stage(&stage, "tcp:127.0.0.1:0");
	tcp = loop_connect(SOCK_STREAM, log_receiver_port(stage.receiver));
	(void)setsockopt(tcp, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		unsigned before = stage.lines;

		assert_int_equal(send(tcp, text, cut, 0), cut);
		for (int turn = 0; turn < 3; turn++)
			(void)ev_run(stage.loop, EVRUN_NOWAIT);
		assert_int_equal(stage.lines, before);
		send_text(tcp, text + cut);
		wait_for(&stage, before + 1);
		assert_string_equal(stage.last, "infer v=1 ev=end id=1");
	}
	(void)close(tcp);
	close_stage(&stage);
}

static void a_line_cut_by_a_reconnect_is_dropped_and_counted(void **state)
{
	static struct stage stage;
	uint16_t port;
	int first, second;

	(void)state;
	open_stage(&stage, "tcp:127.0.0.1:0");
	port = log_receiver_port(stage.receiver);
	first = loop_connect(SOCK_STREAM, port);
	send_text(first, "whole\nha");
	wait_for(&stage, 1);
	(void)close(first);
	second = loop_connect(SOCK_STREAM, port);
	send_text(second, "lf\nwhole again\n");
	wait_for(&stage, 3);
	assert_string_equal(stage.last, "whole again");
	(void)close(second);
	assert_true(loop_until(stage.loop, nobody_connected, &stage, 5));
	assert_int_equal(log_receiver_counts(stage.receiver).cut, 1);
	assert_int_equal(log_receiver_counts(stage.receiver).connections_total, 2);
	close_stage(&stage);
}

static void several_connections_do_not_mix(void **state)
{
	static struct stage stage;
	int fds[8];

	(void)state;
	open_stage(&stage, "tcp:127.0.0.1:0");
	for (size_t i = 0; i < 8; i++) {
		fds[i] = loop_connect(SOCK_STREAM, log_receiver_port(stage.receiver));
		send_text(fds[i], "begun by each ");
	}
	loop_for(stage.loop, 0.05);
	assert_int_equal(stage.lines, 0);
	for (unsigned i = 0; i < 8; i++) {
		send_text(fds[i], "and ended\n");
		wait_for(&stage, i + 1);
		assert_string_equal(stage.last, "begun by each and ended");
		(void)close(fds[i]);
	}
	close_stage(&stage);
}

static void more_connections_than_places_are_refused(void **state)
{
	enum { MANY = 70 };
	static struct stage stage;
	int fds[MANY];

	(void)state;
	open_stage(&stage, "tcp:127.0.0.1:0");
	for (size_t i = 0; i < MANY; i++) {
		fds[i] = loop_connect(SOCK_STREAM, log_receiver_port(stage.receiver));
		(void)ev_run(stage.loop, EVRUN_NOWAIT);
	}
	loop_for(stage.loop, 0.1);
	assert_int_equal(log_receiver_counts(stage.receiver).connections, 64);
	assert_int_equal(log_receiver_counts(stage.receiver).connections_refused, MANY - 64);
	for (size_t i = 0; i < MANY; i++)
		(void)close(fds[i]);
	assert_true(loop_until(stage.loop, nobody_connected, &stage, 5));
	close_stage(&stage);
}

static void unix_datagrams_are_lines(void **state)
{
	static struct stage stage;
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char address[160];
	struct stat status;
	int fd;

	(void)state;
	peer_path(to.sun_path, sizeof(to.sun_path), "log");
	(void)snprintf(address, sizeof(address), "unix-dgram:%s", to.sun_path);
	open_stage(&stage, address);
	assert_int_equal(stat(to.sun_path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(sendto(fd, "by path\n", 8, 0, (struct sockaddr *)&to, sizeof(to)), 8);
	wait_for(&stage, 1);
	assert_string_equal(stage.last, "by path");
	(void)close(fd);
	close_stage(&stage);
	assert_int_not_equal(stat(to.sun_path, &status), 0); /* and it is gone with us */

	/* What a dead process left behind is no obstacle. */
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	(void)close(fd);
	open_stage(&stage, address);
	close_stage(&stage);
}

static void what_cannot_be_listened_on_is_told(void **state)
{
	static const char *const bad[] = { "udp:nowhere",
		                           "tcp:127.0.0.1:99999999",
		                           "udp:host.invalid:1",
		                           "unix-dgram:",
		                           "unix-dgram:/no/such/folder/x",
		                           "tcp:192.0.2.1:1",
		                           "" };
	static struct stage stage;

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { "" };

		assert_false(log_receiver_listen(stage.receiver, bad[i], &error));
		assert_true(strlen(error.text) > 0);
	}
	close_stage(&stage);
}

/* Half of an address is none: UDP must not stay when TCP has no place. */
static void an_address_with_one_half_taken_is_not_listened_on(void **state)
{
	static struct stage stage;
	struct error error = { "" };
	uint16_t port = 0;
	char address[32];
	int taken = loop_listen(&port);
	int probe;

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	assert_false(log_receiver_listen(stage.receiver, address, &error));
	probe = loop_connect(SOCK_DGRAM, port);
	(void)send(probe, "x", 1, 0);
	assert_true(send(probe, "x", 1, 0) < 0); /* refused: nobody is there */
	(void)close(probe);
	(void)close(taken);
	close_stage(&stage);
}

/* R018: lines that come while nobody reads wait for the next process. */
static void handed_sockets_are_read_and_stay_with_their_owner(void **state)
{
	static struct stage stage;
	struct sockaddr_in any = { .sin_family = AF_INET,
		                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(any);
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	uint16_t port = 0;
	int tcp = loop_listen(&port), over_tcp, over_udp;
	struct error error = { "" };
	char name[16];

	(void)state;
	assert_int_equal(bind(udp, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(getsockname(udp, (struct sockaddr *)&any, &size), 0);
	over_udp = loop_connect(SOCK_DGRAM, ntohs(any.sin_port));
	send_text(over_udp, "before");
	(void)snprintf(name, sizeof(name), "fd@%d", dup(udp));
	open_stage(&stage, name);
	(void)snprintf(name, sizeof(name), "fd@%d", dup(tcp));
	assert_true(log_receiver_listen(stage.receiver, name, &error));
	wait_for(&stage, 1);
	assert_string_equal(stage.last, "before");
	over_tcp = loop_connect(SOCK_STREAM, port);
	send_text(over_tcp, "by tcp\n");
	wait_for(&stage, 2);
	assert_string_equal(stage.last, "by tcp");
	(void)close(over_tcp);
	assert_true(loop_until(stage.loop, nobody_connected, &stage, 5));
	close_stage(&stage);
	(void)close(loop_connect(SOCK_STREAM, port));
	send_text(over_udp, "after");
	assert_int_equal(recv(udp, name, sizeof(name), MSG_DONTWAIT), 5);
	(void)close(over_udp);
	(void)close(udp);
	(void)close(tcp);
}

static void what_is_no_log_socket_is_not_taken(void **state)
{
	static const char *const bad[] = { "fd@",         "fd@x",   "fd@-1", "fd@3x",
		                           "fd@99999999", "fd@999", "fd@0" };
	static struct stage stage;
	int stream = socket(AF_INET, SOCK_STREAM, 0); /* listens to nobody */
	char name[16];
	struct error error = { "" };

	(void)state;
	open_stage(&stage, "udp:127.0.0.1:0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error said = { "" };

		assert_false(log_receiver_listen(stage.receiver, bad[i], &said));
		assert_non_null(strstr(said.text, bad[i]));
	}
	(void)snprintf(name, sizeof(name), "fd@%d", stream);
	assert_false(log_receiver_listen(stage.receiver, name, &error));
	assert_non_null(strstr(error.text, "listens"));
	(void)close(stream);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest log_receiver[] = {
		cmocka_unit_test(one_address_takes_both_udp_and_tcp),
		cmocka_unit_test(a_burst_of_3000_lines_waits_for_the_loop),
		cmocka_unit_test(drops_of_the_kernel_are_counted),
		cmocka_unit_test(lines_that_come_often_are_all_taken),
		cmocka_unit_test(a_datagram_too_long_is_dropped),
		cmocka_unit_test(a_line_sent_in_two_at_every_byte_is_one),
		cmocka_unit_test(a_line_cut_by_a_reconnect_is_dropped_and_counted),
		cmocka_unit_test(several_connections_do_not_mix),
		cmocka_unit_test(more_connections_than_places_are_refused),
		cmocka_unit_test(unix_datagrams_are_lines),
		cmocka_unit_test(what_cannot_be_listened_on_is_told),
		cmocka_unit_test(an_address_with_one_half_taken_is_not_listened_on),
		cmocka_unit_test(handed_sockets_are_read_and_stay_with_their_owner),
		cmocka_unit_test(what_is_no_log_socket_is_not_taken),
	};

	return cmocka_run_group_tests(log_receiver, NULL, NULL);
}
