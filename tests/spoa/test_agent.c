/* test_agent.c - the whole agent in one process: it starts, or says with which exit
 * code it does not, and a signal ends it. */
#include <setjmp.h>
#include <signal.h>
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

#include "spoa/agent.h"
#include "spoa/command.h"

static char folder[64], spop[112], logs[112], admin[112], ready[96], policy[96];

static int start(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/test_agent.XXXXXX",
	               getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(spop, sizeof(spop), "unix:%s/spop", folder);
	(void)snprintf(logs, sizeof(logs), "unix-dgram:%s/log", folder);
	(void)snprintf(admin, sizeof(admin), "unix:%s/admin", folder);
	(void)snprintf(ready, sizeof(ready), "%s/ready", folder);
	(void)snprintf(policy, sizeof(policy), "%s/policy", folder);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	(void)unlink(ready);
	(void)unlink(policy);
	return rmdir(folder); /* empty: every socket's file is gone */
}

static struct run_options in_folder(void)
{
	return (struct run_options){ .spop = { { spop }, 1 },
		                     .log_listen = { { logs }, 1 },
		                     .admin = { { admin }, 1 },
		                     .log_level = "error",
		                     .log_format = "text",
		                     .log_decisions = "off",
		                     .on_bad_policy = "exit",
		                     .ready_file = ready };
}

static void write_policy(const char *text)
{
	FILE *file = fopen(policy, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct agent *started(const struct run_options *options)
{
	int left = -1;
	struct agent *agent = agent_new(options, &left);

	assert_non_null(agent);
	return agent;
}

static void it_is_ready_when_all_listens_and_a_signal_ends_it(void **state)
{
	struct run_options options = in_folder();
	struct agent *agent = started(&options);
	char pid[32] = "";
	FILE *file = fopen(ready, "r");

	(void)state;
	assert_int_equal(access(spop + strlen("unix:"), F_OK), 0);
	assert_int_equal(access(admin + strlen("unix:"), F_OK), 0);
	assert_int_equal(access(logs + strlen("unix-dgram:"), F_OK), 0);
	assert_non_null(file);
	assert_non_null(fgets(pid, sizeof(pid), file));
	(void)fclose(file);
	assert_int_equal(strtol(pid, NULL, 10), getpid());
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(agent_run(agent), EXIT_OK);
	agent_free(agent);
}

static void a_bad_policy_is_a_mistake_that_a_restart_does_not_mend(void **state)
{
	struct run_options options = in_folder();
	int left = -1;

	(void)state;
	options.policy = policy;
	assert_null(agent_new(&options, &left)); /* there is no such file */
	assert_int_equal(left, EXIT_USAGE);
	write_policy("{ \"defaults\": 1 }");
	assert_null(agent_new(&options, &left));
	assert_int_equal(left, EXIT_USAGE);
	assert_int_not_equal(access(ready, F_OK), 0);
}

static void with_defaults_allowed_a_bad_policy_starts_all_the_same(void **state)
{
	struct run_options options = in_folder();
	struct agent *agent;

	(void)state;
	options.policy = policy;
	options.on_bad_policy = "defaults";
	write_policy("{ \"defaults\": 1 }");
	agent = started(&options);
	assert_int_equal(raise(SIGHUP), 0); /* still bad: refused, and nothing stops */
	assert_int_equal(raise(SIGINT), 0);
	assert_int_equal(agent_run(agent), EXIT_OK);
	agent_free(agent);
}

static void an_address_that_is_taken_may_be_free_later(void **state)
{
	struct run_options options = in_folder();
	struct sockaddr_un taken = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int left = -1;

	(void)state;
	assert_true(fd >= 0);
	(void)snprintf(taken.sun_path, sizeof(taken.sun_path), "%s/spop", folder);
	assert_int_equal(bind(fd, (struct sockaddr *)&taken, sizeof(taken)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_null(agent_new(&options, &left));
	assert_int_equal(left, EXIT_FAILED);
	assert_int_equal(unlink(taken.sun_path), 0); /* it was left to whom it belongs */
	(void)close(fd);
}

static int listening_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void connects_to(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	(void)close(fd);
}

/* R018: a manager hears of every step, and its sockets are as they were when we are gone. */
static void a_service_manager_keeps_its_sockets_and_is_told_what_happens(void **state)
{
	static const char *const lines[] = { "READY=1\nSTATUS=policy ",
		                             "RELOADING=1\nMONOTONIC_USEC=",
		                             "READY=1\nSTATUS=policy ", "STOPPING=1" };
	char spop_path[96], admin_path[96], told[96], spop_fd[16], admin_fd[16], text[512];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct run_options options = in_folder();
	struct agent *agent;
	int manager = socket(AF_UNIX, SOCK_DGRAM, 0);
	int spops, admins;

	(void)state;
	(void)snprintf(spop_path, sizeof(spop_path), "%s/held-spop", folder);
	(void)snprintf(admin_path, sizeof(admin_path), "%s/held-admin", folder);
	(void)snprintf(told, sizeof(told), "%s/notify", folder);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", told);
	assert_int_equal(bind(manager, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", told, 1), 0);
	spops = listening_at(spop_path);
	admins = listening_at(admin_path);
	(void)snprintf(spop_fd, sizeof(spop_fd), "fd@%d", dup(spops));
	(void)snprintf(admin_fd, sizeof(admin_fd), "fd@%d", dup(admins));
	options.spop.at[0] = spop_fd;
	options.admin.at[0] = admin_fd;
	agent = started(&options);
	assert_int_equal(raise(SIGHUP), 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(agent_run(agent), EXIT_OK);
	agent_free(agent);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ssize_t length = recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT);

		assert_true(length > 0);
		text[length] = '\0';
		assert_memory_equal(text, lines[i], strlen(lines[i]));
	}
	connects_to(spop_path);
	connects_to(admin_path);
	(void)close(spops);
	(void)close(admins);
	(void)close(manager);
	assert_int_equal(unlink(spop_path) | unlink(admin_path) | unlink(told), 0);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_ready_when_all_listens_and_a_signal_ends_it),
		TEST(a_bad_policy_is_a_mistake_that_a_restart_does_not_mend),
		TEST(with_defaults_allowed_a_bad_policy_starts_all_the_same),
		TEST(an_address_that_is_taken_may_be_free_later),
		TEST(a_service_manager_keeps_its_sockets_and_is_told_what_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
