/* test_listen.c - HTTP on a unix socket and on loopback, in one thread with the
 * loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "spoa/web/listen.h"

enum { BODY_MAX = 1000, LIMIT = 4 };

static struct seen {
	unsigned calls;
	char method[16], path[64], value[64], accept[64];
	size_t body_len;
	enum web_peer peer;
	uid_t uid;
} seen;

static void handle(void *data, const struct web_request *request, struct web_answer *ret_answer)
{
	const char *value = web_argument_named(request, "id");

	(void)data;
	seen.calls++;
	seen.peer = request->peer;
	seen.uid = request->uid;
	seen.body_len = request->body_len;
	(void)snprintf(seen.method, sizeof(seen.method), "%s", request->method);
	(void)snprintf(seen.path, sizeof(seen.path), "%s", request->path);
	(void)snprintf(seen.accept, sizeof(seen.accept), "%s", request->accept);
	(void)snprintf(seen.value, sizeof(seen.value), "%s", value ? value : "(none)");
	if (strcmp(request->path, "/absent") == 0) {
		web_problem(ret_answer, 404, "Not Found", "\"no\\such\"\n");
		return;
	}
	ret_answer->status = 200;
	ret_answer->content_type = "text/plain";
	ret_answer->len = strcmp(request->path, "/large") == 0 ? 4 << 20 : 5;
	ret_answer->body = malloc(ret_answer->len);
	assert_non_null(ret_answer->body);
	memset(ret_answer->body, 'x', ret_answer->len);
}

struct world {
	struct ev_loop *loop;
	struct listener *listener;
	char folder[64], path[96], address[112];
};

static struct listen_options options_of(const char *const *addresses, size_t count)
{
	return (struct listen_options){ .addresses = addresses,
		                        .address_count = count,
		                        .connections = LIMIT,
		                        .timeout = 1,
		                        .body_max = BODY_MAX,
		                        .mode = 0660,
		                        .handle = handle };
}

static int start(void **state)
{
	static struct world world;
	const char *addresses[2] = { "127.0.0.1:0", world.address };
	struct listen_options options = options_of(addresses, 2);
	char reason[WEB_REASON_MAX] = "";

	memset(&seen, 0, sizeof(seen));
	(void)snprintf(world.folder, sizeof(world.folder), "/tmp/test_listen.XXXXXX");
	assert_non_null(mkdtemp(world.folder));
	(void)snprintf(world.path, sizeof(world.path), "%s/admin.sock", world.folder);
	(void)snprintf(world.address, sizeof(world.address), "unix:%s", world.path);
	world.loop = ev_loop_new(EVFLAG_AUTO);
	world.listener = listen_new(world.loop, &options, reason);
	assert_string_equal(reason, "");
	assert_non_null(world.listener);
	*state = &world;
	return 0;
}

static int stop(void **state)
{
	struct world *world = *state;

	listen_free(world->listener);
	ev_loop_destroy(world->loop);
	(void)unlink(world->path);
	return rmdir(world->folder);
}

static int connect_tcp(const struct world *world)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
		                    .sin_port = htons(listen_port(world->listener, 0)),
		                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static int connect_unix(const struct world *world)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", world->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Turns the loop until the peer closes; what it sent, in a static buffer. */
static const char *hear(const struct world *world, int fd, size_t *ret_len)
{
	static char heard[5 << 20];
	size_t len = 0;
	ssize_t n;

	for (;;) {
		n = read(fd, heard + len, sizeof(heard) - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (n == 0 || errno != EAGAIN)
			break;
		else
			ev_run(world->loop, EVRUN_ONCE);
	}
	heard[len] = '\0';
	(void)close(fd);
	if (ret_len)
		*ret_len = len;
	return heard;
}

/* One request, answered and closed. */
static const char *ask(const struct world *world, int fd, const char *text)
{
	say(fd, text);
	return hear(world, fd, NULL);
}

#define END "Host: x\r\nConnection: close\r\n\r\n"

static void a_page_is_answered_over_tcp(void **state)
{
	const struct world *world = *state;
	const char *heard = ask(world, connect_tcp(world),
	                        "GET /a%20b?n=1&id=7%2f8&flag HTTP/1.1\r\nAccept: text/x\r\n" END);

	assert_memory_equal(heard, "HTTP/1.1 200 ", 13);
	assert_non_null(strstr(heard, "Cache-Control: no-store\r\n"));
	assert_non_null(strstr(heard, "Content-Type: text/plain\r\n"));
	assert_non_null(strstr(heard, "\r\n\r\nxxxxx"));
	assert_string_equal(seen.method, "GET");
	assert_string_equal(seen.path, "/a b");
	assert_string_equal(seen.value, "7/8");
	assert_string_equal(seen.accept, "text/x");
	assert_int_equal(seen.peer, WEB_PEER_LOOPBACK);
}

static void a_page_is_answered_over_a_unix_socket_and_the_peer_is_known(void **state)
{
	const struct world *world = *state;
	const char *heard = ask(world, connect_unix(world), "GET / HTTP/1.1\r\n" END);
	struct stat file;

	assert_non_null(strstr(heard, "\r\n\r\nxxxxx"));
	assert_int_equal(seen.peer, WEB_PEER_UNIX);
	assert_int_equal(seen.uid, getuid());
	assert_string_equal(seen.value, "(none)");
	assert_int_equal(stat(world->path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0660);
	assert_int_equal(listen_port(world->listener, 1), 0);
}

static void head_has_no_body(void **state)
{
	const struct world *world = *state;
	const char *heard = ask(world, connect_tcp(world), "HEAD / HTTP/1.1\r\n" END);

	assert_non_null(strstr(heard, "Content-Length: 5\r\n"));
	assert_string_equal(strstr(heard, "\r\n\r\n"), "\r\n\r\n");
	assert_string_equal(seen.method, "GET");
}

static void an_error_is_a_problem_in_json(void **state)
{
	const struct world *world = *state;
	const char *heard = ask(world, connect_tcp(world), "GET /absent HTTP/1.1\r\n" END);

	assert_memory_equal(heard, "HTTP/1.1 404 ", 13);
	assert_non_null(strstr(heard, "Content-Type: application/problem+json\r\n"));
	assert_non_null(strstr(heard, "{\"type\":\"about:blank\",\"title\":\"Not Found\","
	                              "\"status\":404,\"detail\":\"?no?such??\"}"));
}

static void a_body_comes_whole_and_within_its_limit(void **state)
{
	const struct world *world = *state;
	char text[BODY_MAX + 128];
	int len = snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nContent-Length: %d\r\n" END,
	                   (int)BODY_MAX);

	memset(text + len, 'y', BODY_MAX);
	text[len + BODY_MAX] = '\0';
	assert_memory_equal(ask(world, connect_tcp(world), text), "HTTP/1.1 200 ", 13);
	assert_int_equal(seen.body_len, BODY_MAX);
	assert_string_equal(seen.method, "POST");
}

static void a_body_announced_too_big_is_refused_before_it_comes(void **state)
{
	const struct world *world = *state;
	const char *heard =
	        ask(world, connect_tcp(world), "POST / HTTP/1.1\r\nContent-Length: 1001\r\n" END);

	assert_memory_equal(heard, "HTTP/1.1 413 ", 13);
	assert_non_null(strstr(heard, "the limit is 1000 bytes"));
	assert_int_equal(seen.calls, 0);
}

static void a_chunked_body_too_big_is_refused_at_its_end(void **state)
{
	const struct world *world = *state;
	char text[2048];
	int len = snprintf(text, sizeof(text),
	                   "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END "3e9\r\n");

	memset(text + len, 'z', 1001);
	(void)snprintf(text + len + 1001, sizeof(text) - (size_t)len - 1001, "\r\n0\r\n\r\n");
	assert_memory_equal(ask(world, connect_tcp(world), text), "HTTP/1.1 413 ", 13);
	assert_int_equal(seen.calls, 0);
}

static void an_endless_body_is_cut_off(void **state)
{
	const struct world *world = *state;
	int fd = connect_tcp(world);
	char piece[512];
	int why = 0;

	memset(piece, 'z', sizeof(piece));
	memcpy(piece, "1f8\r\n", 5);
	memcpy(piece + 5 + 504, "\r\n", 2);
	say(fd, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END);
	/* Goes on as long as the server, or what lies between, takes it. */
	while (why == 0 || why == EAGAIN) {
		why = send(fd, piece, 5 + 504 + 2, MSG_NOSIGNAL) < 0 ? errno : 0;
		if (why == 0 || why == EAGAIN)
			ev_run(world->loop, why == 0 ? EVRUN_NOWAIT : EVRUN_ONCE);
	}
	assert_true(why == EPIPE || why == ECONNRESET);
	assert_int_equal(seen.calls, 0);
	(void)close(fd);
}

static void a_large_answer_goes_to_a_slow_reader(void **state)
{
	const struct world *world = *state;
	int fd = connect_unix(world);
	size_t len;

	say(fd, "GET /large HTTP/1.1\r\n" END);
	for (int i = 0; i < 20; i++)
		ev_run(world->loop, EVRUN_NOWAIT);
	(void)hear(world, fd, &len);
	assert_in_range(len, 4 << 20, (4 << 20) + 1000);
}

static void more_clients_than_the_limit_wait_their_turn(void **state)
{
	const struct world *world = *state;
	int fds[10 * LIMIT];
	unsigned most = 0;

	for (size_t i = 0; i < 10 * LIMIT; i++) {
		fds[i] = connect_tcp(world);
		say(fds[i], "GET / HTTP/1.1\r\n" END);
	}
	for (size_t i = 0; i < 10 * LIMIT; i++) {
		assert_non_null(strstr(hear(world, fds[i], NULL), "\r\n\r\nxxxxx"));
		if (listen_connections(world->listener) > most)
			most = listen_connections(world->listener);
	}
	assert_int_equal(seen.calls, 10 * LIMIT);
	assert_true(most <= LIMIT);
}

/* The library counts a silent connection by its own clock: about a second here. */
static void a_silent_client_is_closed_and_holds_nobody_up(void **state)
{
	const struct world *world = *state;
	int slow = connect_tcp(world);

	say(slow, "GET / HT");
	assert_non_null(strstr(ask(world, connect_tcp(world), "GET / HTTP/1.1\r\n" END), "xxxxx"));
	assert_string_equal(hear(world, slow, NULL), "");
	while (listen_connections(world->listener) > 0)
		ev_run(world->loop, EVRUN_ONCE);
}

static void what_is_no_http_closes_the_connection_only(void **state)
{
	const struct world *world = *state;

	(void)ask(world, connect_tcp(world), "\r\n\x01\x02\x03 nonsense\r\n\r\n");
	assert_int_equal(seen.calls, 0);
	assert_non_null(strstr(ask(world, connect_tcp(world), "GET / HTTP/1.1\r\n" END), "xxxxx"));
}

static const char *refusal(const struct world *world, const char *address)
{
	static char reason[WEB_REASON_MAX];
	struct listen_options options = options_of(&address, 1);

	reason[0] = '\0';
	assert_null(listen_new(world->loop, &options, reason));
	return reason;
}

static void addresses_that_cannot_be_had_say_why(void **state)
{
	struct world *world = *state;
	char taken[64];
	char file[128];
	int fd;

	(void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", listen_port(world->listener, 0));
	assert_non_null(strstr(refusal(world, taken), "Address already in use"));
	assert_non_null(strstr(refusal(world, world->address), "another process serves it"));
	assert_non_null(strstr(refusal(world, "localhost:1"), "expected ip:port"));
	assert_non_null(strstr(refusal(world, ":1"), "expected ip:port"));
	assert_non_null(strstr(refusal(world, "9901"), "expected ip:port"));
	assert_non_null(strstr(refusal(world, "unix:relative"), "absolute path"));
	assert_non_null(strstr(refusal(world, "unix:/no/such/folder/s"), "cannot bind"));
	(void)snprintf(file, sizeof(file), "unix:%s/plain", world->folder);
	fd = creat(file + 5, 0600);
	assert_true(fd >= 0);
	assert_non_null(strstr(refusal(world, file), "no socket is in the way"));
	(void)close(fd);
	assert_int_equal(unlink(file + 5), 0);
}

/* The file of a process that died stays; the next one takes its place. */
static void a_socket_left_behind_is_taken_over(void **state)
{
	struct world *world = *state;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const char *address = world->address;
	struct listen_options options = options_of(&address, 1);
	char reason[WEB_REASON_MAX] = "";
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	listen_free(world->listener);
	assert_int_not_equal(access(world->path, F_OK), 0);
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", world->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	(void)close(fd);
	world->listener = listen_new(world->loop, &options, reason);
	assert_string_equal(reason, "");
	assert_non_null(strstr(ask(world, connect_unix(world), "GET / HTTP/1.1\r\n" END), "xxxxx"));
}

static void a_socket_that_is_ours_no_more_is_left_alone(void **state)
{
	struct world *world = *state;

	assert_int_equal(unlink(world->path), 0);
	(void)close(creat(world->path, 0600));
	listen_free(world->listener);
	world->listener = NULL;
	assert_int_equal(access(world->path, F_OK), 0);
}

/* R018: who asks while one process goes and another comes waits in the socket. */
static void a_handed_socket_stays_with_its_owner(void **state)
{
	struct world *world = *state;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int held = socket(AF_UNIX, SOCK_STREAM, 0);
	char number[16], reason[WEB_REASON_MAX] = "";
	const char *addresses[] = { number };
	struct listen_options options = options_of(addresses, 1);

	listen_free(world->listener); /* its file goes with it */
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", world->path);
	assert_int_equal(bind(held, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(listen(held, 4), 0);
	for (int process = 0; process < 2; process++) {
		int waiting = connect_unix(world);

		(void)snprintf(number, sizeof(number), "fd@%d", dup(held));
		world->listener = listen_new(world->loop, &options, reason);
		assert_string_equal(reason, "");
		assert_int_equal(listen_port(world->listener, 0), 0);
		assert_memory_equal(ask(world, waiting, "GET / HTTP/1.1\r\n" END), "HTTP/1.1 200 ",
		                    13);
		listen_free(world->listener);
		world->listener = NULL;
		assert_int_equal(access(world->path, F_OK), 0);
	}
	(void)close(connect_unix(world));
	(void)close(held);
}

static void what_does_not_listen_is_not_taken(void **state)
{
	static const char *const bad[] = { "fd@",         "fd@x",   "fd@-1", "fd@3x",
		                           "fd@99999999", "fd@999", "fd@0" };
	struct world *world = *state;
	struct listen_options options = options_of(NULL, 1);
	char reason[WEB_REASON_MAX] = "";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.addresses = &bad[i];
		assert_null(listen_new(world->loop, &options, reason));
		assert_non_null(strstr(reason, bad[i]));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest listen_tests[] = {
		TEST(a_page_is_answered_over_tcp),
		TEST(a_page_is_answered_over_a_unix_socket_and_the_peer_is_known),
		TEST(head_has_no_body),
		TEST(an_error_is_a_problem_in_json),
		TEST(a_body_comes_whole_and_within_its_limit),
		TEST(a_body_announced_too_big_is_refused_before_it_comes),
		TEST(a_chunked_body_too_big_is_refused_at_its_end),
		TEST(an_endless_body_is_cut_off),
		TEST(a_large_answer_goes_to_a_slow_reader),
		TEST(more_clients_than_the_limit_wait_their_turn),
		TEST(a_silent_client_is_closed_and_holds_nobody_up),
		TEST(what_is_no_http_closes_the_connection_only),
		TEST(addresses_that_cannot_be_had_say_why),
		TEST(a_socket_left_behind_is_taken_over),
		TEST(a_socket_that_is_ours_no_more_is_left_alone),
		TEST(a_handed_socket_stays_with_its_owner),
		TEST(what_does_not_listen_is_not_taken),
	};
#undef TEST

	return cmocka_run_group_tests(listen_tests, NULL, NULL);
}
