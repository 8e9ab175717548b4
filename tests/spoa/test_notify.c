/* test_notify.c - what a service manager is told, over real datagram sockets. Proves R018. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/notify.h"

static int manager = -1;
static char path[96];

/* name: "/path", or "@name" for an abstract socket. */
static void listen_at(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", name);
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&to,
	                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
	                 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
}

static const char *heard(void)
{
	static char text[1024];
	ssize_t length = recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[length > 0 ? length : 0] = '\0';
	return text;
}

static int start(void **state)
{
	(void)state;
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
	(void)snprintf(path, sizeof(path), "/tmp/test_notify.%d", (int)getpid());
	listen_at(path);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	(void)close(manager);
	(void)unlink(path);
	return unsetenv("NOTIFY_SOCKET");
}

static void lines_arrive_as_one_datagram(void **state)
{
	struct notify notify;

	(void)state;
	notify_open(&notify);
	assert_int_equal(notify.watchdog, 0);
	notify_tell(&notify, "READY=1\nSTATUS=policy %s", "a.json");
	assert_string_equal(heard(), "READY=1\nSTATUS=policy a.json");
	notify_alive(&notify);
	assert_string_equal(heard(), "WATCHDOG=1");
	notify_close(&notify);
	notify_tell(&notify, "READY=1");
	assert_string_equal(heard(), "");
	notify_close(&notify);
}

static void an_abstract_socket_is_told(void **state)
{
	struct notify notify;
	char name[64];

	(void)state;
	(void)close(manager);
	(void)snprintf(name, sizeof(name), "@test_notify.%d", (int)getpid());
	listen_at(name);
	notify_open(&notify);
	notify_tell(&notify, "STOPPING=1");
	assert_string_equal(heard(), "STOPPING=1");
	notify_close(&notify);
}

static void without_a_manager_nothing_is_said(void **state)
{
	static const char *const bad[] = { "", "no-path", "/no/such/socket" };
	struct notify notify;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(setenv("NOTIFY_SOCKET", bad[i], 1), 0);
		assert_int_equal(setenv("WATCHDOG_USEC", "1000", 1), 0);
		notify_open(&notify);
		assert_int_equal(notify.fd, -1);
		assert_int_equal(notify.watchdog, 0);
		notify_tell(&notify, "READY=1");
		notify_alive(&notify);
	}
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	notify_open(&notify);
	assert_int_equal(notify.fd, -1);
}

static usec_t watchdog_of(const char *usec, const char *pid)
{
	struct notify notify;
	usec_t watchdog;

	assert_int_equal(setenv("WATCHDOG_USEC", usec, 1), 0);
	assert_int_equal(pid ? setenv("WATCHDOG_PID", pid, 1) : unsetenv("WATCHDOG_PID"), 0);
	notify_open(&notify);
	watchdog = notify.watchdog;
	notify_close(&notify);
	return watchdog;
}

static void the_watchdog_is_ours_or_another_processs(void **state)
{
	char self[16];

	(void)state;
	(void)snprintf(self, sizeof(self), "%d", (int)getpid());
	assert_int_equal(watchdog_of("10000000", NULL), 10 * SECOND);
	assert_int_equal(watchdog_of("10000000", self), 10 * SECOND);
	assert_int_equal(watchdog_of("10000000", "1"), 0);
	assert_int_equal(watchdog_of("10s", self), 0);
	assert_int_equal(watchdog_of("-5", self), 0);
	assert_int_equal(watchdog_of("99999999999999999999999", self), 0);
}

static void a_manager_that_does_not_read_holds_nobody_up(void **state)
{
	struct notify notify;
	size_t said = 0;

	(void)state;
	notify_open(&notify);
	for (int i = 0; i < 100000; i++)
		notify_alive(&notify);
	notify_tell(&notify, "STOPPING=1"); /* 100 ms at most */
	while (*heard())
		said++;
	assert_in_range(said, 1, 99999);
	notify_tell(&notify, "STOPPING=1");
	assert_string_equal(heard(), "STOPPING=1");
	notify_close(&notify);
}

static void what_is_too_long_is_cut(void **state)
{
	struct notify notify;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	notify_open(&notify);
	notify_tell(&notify, "%s", text);
	assert_int_equal(strlen(heard()), 511);
	notify_close(&notify);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_arrive_as_one_datagram),
		TEST(an_abstract_socket_is_told),
		TEST(without_a_manager_nothing_is_said),
		TEST(the_watchdog_is_ours_or_another_processs),
		TEST(a_manager_that_does_not_read_holds_nobody_up),
		TEST(what_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
