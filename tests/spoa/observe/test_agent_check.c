/* test_agent_check.c - HAProxy's agent-check by real sockets: an answer, or a counted drop.
 * Proves B002. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/agent_check.h"
#include "tests/spoa/observe/loop.h"
#include "tests/spoa/observe/world.h"

static const char *const addresses[] = { "10.0.0.1:80" };

struct stage {
	struct world world;
	struct ev_loop *loop;
	struct agent_check *check;
};

static struct stage stage;

static int open_stage(void **state)
{
	struct error error = { "" };
	struct observe observe;

	(void)state;
	world_open(&stage.world);
	world_servers(&stage.world, addresses, 1);
	stage.loop = ev_loop_new(EVFLAG_AUTO);
	observe =
	        (struct observe){ .loop = stage.loop, .facts = stage.world.facts, .now = loop_now };
	stage.check = agent_check_new(&observe);
	return stage.check && agent_check_listen(stage.check, "127.0.0.1:0", &error) ? 0 : -1;
}

static int close_stage(void **state)
{
	(void)state;
	agent_check_free(stage.check);
	ev_loop_destroy(stage.loop);
	world_close(&stage.world);
	return 0;
}

static struct agent_check_counts counts(void)
{
	return agent_check_counts(stage.check);
}

static int client(const char *text)
{
	int fd = loop_connect(SOCK_STREAM, agent_check_port(stage.check));

	assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
	return fd;
}

static bool all_done(void *data)
{
	struct agent_check_counts now = counts();

	return now.answered + now.drained + now.unknown + now.dropped + now.refused >=
	       *(const uint64_t *)data;
}

static void run_until(uint64_t done)
{
	assert_true(loop_until(stage.loop, all_done, &done, 5));
}

static void expect_answer(int fd, const char *expected)
{
	char text[128];
	ssize_t got = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(got >= 0);
	text[got] = '\0';
	assert_string_equal(text, expected);
	if (got > 0)
		assert_int_equal(recv(fd, text, 1, 0), 0); /* and it was closed */
	(void)close(fd);
}

static void a_line_has_an_answer_and_the_connection_ends(void **state)
{
	int fd = client("svc/s1\n");

	(void)state;
	run_until(1);
	expect_answer(fd, "up 100%\n");
	fd = client("10.0.0.1:80\r\n");
	run_until(2);
	expect_answer(fd, "up 100%\n");
	fd = client("nobody/s1\n");
	run_until(3);
	expect_answer(fd, "\n");
	assert_int_equal(counts().answered, 2);
	assert_int_equal(counts().unknown, 1);
}

static void a_line_may_come_in_pieces(void **state)
{
	int fd = client("svc");

	(void)state;
	loop_for(stage.loop, 0.05);
	assert_int_equal(send(fd, "/s1\n", 4, 0), 4);
	run_until(1);
	expect_answer(fd, "up 100%\n");
}

static void who_says_nothing_is_left_after_a_second(void **state)
{
	int fd = client("svc/s1");

	(void)state;
	run_until(1);
	assert_int_equal(counts().dropped, 1);
	expect_answer(fd, "");
}

static void a_line_without_end_and_a_hangup_are_dropped(void **state)
{
	char text[AGENT_CHECK_LINE_MAX + 1];
	int fd;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[AGENT_CHECK_LINE_MAX] = '\0';
	fd = client(text);
	run_until(1);
	(void)close(fd);
	(void)close(client("svc"));
	run_until(2);
	assert_int_equal(counts().dropped, 2);
}

static void too_many_at_once_are_refused_and_the_next_are_not(void **state)
{
	int fds[AGENT_CHECK_CLIENTS_MAX + 3], fd;

	(void)state;
	for (size_t i = 0; i < AGENT_CHECK_CLIENTS_MAX + 3; i++) {
		fds[i] = client("svc");
		ev_run(stage.loop, EVRUN_NOWAIT); /* so many would not wait in the socket */
	}
	run_until(3);
	assert_int_equal(counts().refused, 3);
	for (size_t i = 0; i < AGENT_CHECK_CLIENTS_MAX + 3; i++)
		(void)close(fds[i]);
	run_until(AGENT_CHECK_CLIENTS_MAX + 3);
	fd = client("svc/s1\n");
	run_until(AGENT_CHECK_CLIENTS_MAX + 4);
	expect_answer(fd, "up 100%\n");
}

static void an_address_that_cannot_be_had_is_an_error(void **state)
{
	struct error error = { "" };

	(void)state;
	assert_false(agent_check_listen(stage.check, "nowhere", &error));
	assert_string_not_equal(error.text, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)
	const struct CMUnitTest tests[] = {
		TEST(a_line_has_an_answer_and_the_connection_ends),
		TEST(a_line_may_come_in_pieces),
		TEST(who_says_nothing_is_left_after_a_second),
		TEST(a_line_without_end_and_a_hangup_are_dropped),
		TEST(too_many_at_once_are_refused_and_the_next_are_not),
		TEST(an_address_that_cannot_be_had_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
