/* test_acceptor.c - connections in batches, and none for a while when there are no descriptors
 * left.. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "spoa/observe/acceptor.h"
#include "tests/spoa/observe/loop.h"

struct stage {
	struct ev_loop *loop;
	struct acceptor acceptor;
	int port;
	int taken;
	int wanted;
};

static struct stage stage;

static void take(void *data, int fd)
{
	struct stage *mine = data;

	mine->taken++;
	(void)close(fd);
}

static int open_stage(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)state;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return -1;
	stage = (struct stage){ .loop = ev_loop_new(EVFLAG_AUTO), .port = ntohs(address.sin_port) };
	acceptor_start(&stage.acceptor, stage.loop, fd, take, &stage);
	return 0;
}

static int close_stage(void **state)
{
	(void)state;
	acceptor_stop(&stage.acceptor);
	acceptor_stop(&stage.acceptor);
	ev_loop_destroy(stage.loop);
	return 0;
}

static bool enough(void *data)
{
	(void)data;
	return stage.taken >= stage.wanted;
}

static void who_connects_is_taken(void **state)
{
	int fds[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		fds[i] = loop_connect(SOCK_STREAM, (uint16_t)stage.port);
	stage.wanted = 100;
	assert_true(loop_until(stage.loop, enough, NULL, 5));
	for (int i = 0; i < 100; i++)
		(void)close(fds[i]);
	assert_int_equal(stage.taken, 100);
	assert_true(stage.acceptor.failures == 0);
}

/* The lowest number that is free is the first that may not be had. */
static void without_descriptors_it_waits_and_does_not_spin(void **state)
{
	struct rlimit before, none;
	int fd = loop_connect(SOCK_STREAM, (uint16_t)stage.port);
	int next = dup(fd);

	(void)state;
	(void)close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	loop_for(stage.loop, 0.25);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(stage.taken, 0);
	assert_true(stage.acceptor.failures >= 1 && stage.acceptor.failures <= 4);
	stage.wanted = 1;
	assert_true(loop_until(stage.loop, enough, NULL, 5));
	(void)close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_connects_is_taken),
		TEST(without_descriptors_it_waits_and_does_not_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
