/* test_check_spop.c - an agent is told from nobody, from silence and from what is no agent. Proves
 * B061. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/check_spop.h"
#include "spoa/command.h"
#include "spoa/spop/disconnect.h"
#include "spoa/spop/hello.h"

static char address[64];

static int listening(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
	return fd;
}

/* A child takes one connection, reads a HELLO that wants health only, says this, a piece a
 * write. Returns what the check says. */
static int checked(const uint8_t *said, size_t length, size_t piece)
{
	struct error error = { "" };
	int fd = listening(), status, left;
	pid_t child = fork();

	if (child == 0) {
		uint8_t bytes[512];
		int peer = accept(fd, NULL, NULL);
		ssize_t count = recv(peer, bytes, sizeof(bytes), 0);
		struct spop_input stream = { bytes, bytes + (count > 0 ? count : 0) };
		enum spop_error fault;
		struct hello hello;
		struct frame frame;

		if (!frame_next(&stream, 16384, &frame, &fault) ||
		    hello_read(frame.payload, &hello) != SPOP_NONE || !hello.health_check)
			_exit(1);
		for (size_t i = 0; i < length; i += piece) {
			(void)send(peer, said + i, length - i < piece ? length - i : piece, 0);
			(void)usleep(1000);
		}
		_exit(0);
	}
	assert_true(child > 0);
	left = check_spop(address, &error);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	(void)close(fd);
	assert_int_equal(left == EXIT_OK, error.text[0] == '\0');
	return left;
}

static void an_agent_serves_however_its_answer_is_cut(void **state)
{
	uint8_t bytes[512];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	(void)state;
	assert_true(hello_write_answer(&out, 16380, true));
	assert_int_equal(checked(bytes, (size_t)(out.at - bytes), 512), EXIT_OK);
	assert_int_equal(checked(bytes, (size_t)(out.at - bytes), 3), EXIT_OK);
	/* half of it, and gone */
	assert_int_equal(checked(bytes, (size_t)(out.at - bytes) / 2, 512), EXIT_UNREACHABLE);
}

static void an_agent_that_leaves_does_not(void **state)
{
	uint8_t bytes[512];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	(void)state;
	assert_true(disconnect_write(&out, FRAME_AGENT_DISCONNECT, SPOP_NONE));
	assert_int_equal(checked(bytes, (size_t)(out.at - bytes), 512), EXIT_FAILED);
}

static void what_is_no_agent_does_not(void **state)
{
	static const char http[] = "HTTP/1.1 400 Bad request\r\n\r\n";

	(void)state;
	assert_int_equal(checked((const uint8_t *)http, sizeof(http) - 1, 512), EXIT_FAILED);
	assert_int_equal(checked((const uint8_t *)"", 0, 1), EXIT_UNREACHABLE);
}

static void nobody_is_said_to_be_nobody(void **state)
{
	struct error error = { "" };

	(void)state;
	(void)close(listening());
	assert_int_equal(check_spop(address, &error), EXIT_UNREACHABLE);
	assert_non_null(strstr(error.text, "refused"));
	assert_int_equal(check_spop("no-port", &error), EXIT_USAGE);
	assert_int_equal(check_spop("unix:/nowhere/spop.sock", &error), EXIT_UNREACHABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_serves_however_its_answer_is_cut),
		cmocka_unit_test(an_agent_that_leaves_does_not),
		cmocka_unit_test(what_is_no_agent_does_not),
		cmocka_unit_test(nobody_is_said_to_be_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
