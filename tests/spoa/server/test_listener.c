/* test_listener.c - sockets made, taken over, inherited, and given back. Proves
 * P021 (backlog). */
#include "tests/spoa/server/peer.h"

#include <sys/stat.h>
#include <sys/un.h>

static char folder[] = "/tmp/listener-XXXXXX";
static char path[64], address[80];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/spop.sock", folder);
	(void)snprintf(address, sizeof(address), "unix:%s", path);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static bool listen_on(const char *where, const struct spop_listen_options *options,
                      const char *expected)
{
	struct error error = { "" };
	bool good = spop_server_listen(world.server, where, options, &error);

	if (good != !expected || (expected && !strstr(error.text, expected)))
		fail_msg("%s: %s", where, good ? "listens" : error.text);
	return good;
}

static int connected_to(const char *where)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", where);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void expect_hello_over(int fd)
{
	struct peer peer = peer_of(fd);

	(void)say_hello(&peer, PEER_SIZE, "");
	peer_close(&peer);
}

static void a_unix_socket_has_the_mode_asked_for_and_goes_with_us(void **state)
{
	const struct spop_listen_options open = { .mode = 0666 };
	struct stat file;

	(void)state;
	start();
	(void)listen_on(address, NULL, NULL);
	assert_int_equal(stat(path, &file), 0);
	assert_true(S_ISSOCK(file.st_mode));
	assert_int_equal(file.st_mode & 0777, 0660);
	expect_hello_over(connected_to(path));
	stop();
	assert_int_equal(stat(path, &file), -1);
	start();
	(void)listen_on(address, &open, NULL);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0666);
	stop();
}

static void the_owner_must_exist(void **state)
{
	const struct spop_listen_options nobody = { .user = "no-such-user" };
	const struct spop_listen_options nogroup = { .group = "no-such-group" };
	struct stat file;

	(void)state;
	start();
	(void)listen_on(address, &nobody, "no such user");
	assert_int_equal(stat(path, &file), -1); /* nothing is left behind */
	(void)listen_on(address, &nogroup, "no such group");
	assert_int_equal(stat(path, &file), -1);
	stop();
}

/* A socket file as a process leaves it that died. */
static int leave_socket(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void a_file_nobody_answers_on_is_taken_over(void **state)
{
	(void)state;
	(void)close(leave_socket());
	start();
	(void)listen_on(address, NULL, NULL);
	expect_hello_over(connected_to(path));
	stop();
}

static void a_file_that_somebody_answers_on_is_an_error(void **state)
{
	int other = leave_socket();
	struct stat before, after;

	(void)state;
	assert_int_equal(stat(path, &before), 0);
	start();
	(void)listen_on(address, NULL, "another process answers there");
	stop();
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino == after.st_ino);
	(void)close(other);
	assert_int_equal(unlink(path), 0);
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	(void)fclose(file);
	start();
	(void)listen_on(address, NULL, "is not a socket");
	stop();
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
}

static void a_successor_s_file_is_left_alone(void **state)
{
	int successor;

	(void)state;
	start();
	(void)listen_on(address, NULL, NULL);
	assert_int_equal(unlink(path), 0);
	successor = leave_socket();
	stop();
	assert_int_equal(access(path, F_OK), 0);
	(void)close(successor);
	assert_int_equal(unlink(path), 0);
}

static void a_port_in_use_is_an_error_and_another_is_not(void **state)
{
	char taken[32];

	(void)state;
	start();
	assert_true(spop_server_port(world.server, 0) > 0);
	(void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", spop_server_port(world.server, 0));
	(void)listen_on(taken, NULL, "in use");
	(void)listen_on("127.0.0.1:0", NULL, NULL);
	assert_true(spop_server_port(world.server, 1) > 0);
	assert_int_equal(spop_server_port(world.server, 2), 0);
	(void)listen_on("nonsense", NULL, "expected");
	stop();
}

static void ipv6_is_listened_on(void **state)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	if (fd < 0)
		skip();
	start();
	(void)listen_on("[::1]:0", NULL, NULL);
	to.sin6_port = htons(spop_server_port(world.server, 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	expect_hello_over(fd);
	stop();
}

static void an_inherited_socket_is_used(void **state)
{
	int inherited = leave_socket();
	char name[16];

	(void)state;
	start();
	(void)snprintf(name, sizeof(name), "fd@%d", inherited);
	(void)listen_on(name, NULL, NULL);
	assert_true(fcntl(inherited, F_GETFD) & FD_CLOEXEC);
	expect_hello_over(connected_to(path));
	(void)listen_on("fd@0", NULL, "not a listening socket");
	(void)listen_on("fd@999", NULL, "not a listening socket");
	stop();
	assert_int_equal(access(path, F_OK), 0); /* not ours to remove */
	assert_int_equal(unlink(path), 0);
}

static void the_source_of_a_listener_reaches_the_decision(void **state)
{
	const struct spop_listen_options second = { .source = 1 };
	struct peer peer;

	(void)state;
	start();
	(void)listen_on(address, &second, NULL);
	peer = peer_of(connected_to(path));
	(void)say_hello(&peer, PEER_SIZE, "");
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	assert_int_equal(stub.request.source, 1);
	peer_close(&peer);
	stop();
}

static void a_burst_waits_in_the_backlog(void **state)
{
	int fds[300];

	(void)state;
	start();
	(void)listen_on(address, NULL, NULL);
	for (int i = 0; i < 300; i++) /* not one turn of the loop in between */
		fds[i] = connected_to(path);
	UNTIL(world.counters->open == 300);
	for (int i = 0; i < 300; i++)
		expect_hello_over(fds[i]);
	stop();
}

static void there_are_only_so_many_addresses(void **state)
{
	(void)state;
	start();
	for (int i = 1; i < LISTENERS_MAX; i++)
		(void)listen_on("127.0.0.1:0", NULL, NULL);
	(void)listen_on("127.0.0.1:0", NULL, "more than 16");
	stop();
}

int main(void)
{
	const struct CMUnitTest listeners[] = {
		cmocka_unit_test(a_unix_socket_has_the_mode_asked_for_and_goes_with_us),
		cmocka_unit_test(the_owner_must_exist),
		cmocka_unit_test(a_file_nobody_answers_on_is_taken_over),
		cmocka_unit_test(a_file_that_somebody_answers_on_is_an_error),
		cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
		cmocka_unit_test(a_successor_s_file_is_left_alone),
		cmocka_unit_test(a_port_in_use_is_an_error_and_another_is_not),
		cmocka_unit_test(ipv6_is_listened_on),
		cmocka_unit_test(an_inherited_socket_is_used),
		cmocka_unit_test(the_source_of_a_listener_reaches_the_decision),
		cmocka_unit_test(a_burst_waits_in_the_backlog),
		cmocka_unit_test(there_are_only_so_many_addresses),
	};

	return cmocka_run_group_tests(listeners, make_folder, remove_folder);
}
