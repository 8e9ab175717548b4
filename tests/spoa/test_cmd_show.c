/* test_cmd_show.c - the program's `show` against a real admin socket: what it
 * prints, and its exit codes. */
#include "tests/spoa/admin/admin_world.h"

#include <ev.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spoa/admin/admin.h"
#include "spoa/command.h"
#include "tests/spoa/golden.h"

static struct world *world;
static struct ev_loop *loop;
static struct admin *admin;
static struct admin_context context;
static char folder[64], path[96], address[112], tcp[32], program[512];

static usec_t now(void)
{
	return world->now;
}

static int64_t wall(void)
{
	return wall_ms;
}

static int start(void **state)
{
	const char *addresses[] = { address, "127.0.0.1:0" };
	struct admin_options options = { addresses, 2 };
	struct error error = { "" };
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 32);

	(void)state;
	assert_true(n > 0);
	program[n] = '\0';
	*strrchr(program, '/') = '\0';
	(void)strncat(program, "/../inference-spoa", 31);
	(void)snprintf(folder, sizeof(folder), "/tmp/test_show.XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/admin.sock", folder);
	(void)snprintf(address, sizeof(address), "unix:%s", path);
	world = admin_world();
	loop = ev_loop_new(EVFLAG_AUTO);
	context = (struct admin_context){ .facts = world->facts,
		                          .decisions = decision_log_new(16),
		                          .fill = fill_agent,
		                          .now = now,
		                          .wall_ms = wall,
		                          .stages = { pipeline_stage, name_of_stage } };
	admin = admin_new(loop, &options, &context, &error);
	assert_string_equal(error.text, "");
	(void)snprintf(tcp, sizeof(tcp), "127.0.0.1:%u", admin_port(admin, 1));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	admin_free(admin);
	decision_log_free(context.decisions);
	world_free(world);
	ev_loop_destroy(loop);
	return rmdir(folder);
}

static char heard[1 << 20];
static size_t heard_len;

static void on_output(struct ev_loop *looping, struct ev_io *watcher, int events)
{
	ssize_t n = read(watcher->fd, heard + heard_len, sizeof(heard) - 1 - heard_len);

	(void)events;
	heard_len += n > 0 ? (size_t)n : 0;
	if (n <= 0)
		ev_io_stop(looping, watcher);
}

/* The program's exit code; what it said is in heard. */
static int run(const char *const *arguments)
{
	const char *argv[16] = { "inference-spoa" };
	struct ev_io output;
	int fds[2];
	int status;
	pid_t child;

	for (size_t i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		(void)dup2(fds[1], STDOUT_FILENO);
		(void)dup2(fds[1], STDERR_FILENO);
		(void)close(fds[0]);
		(void)close(fds[1]);
		(void)execv(program, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	(void)close(fds[1]);
	heard_len = 0;
	ev_io_init(&output, on_output, fds[0], EV_READ);
	ev_io_start(loop, &output);
	while (ev_is_active(&output))
		ev_run(loop, EVRUN_ONCE);
	(void)close(fds[0]);
	heard[heard_len] = '\0';
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static void tables_come_over_the_socket(void **state)
{
	(void)state;
	assert_int_equal(RUN("show", "replicas", "--server", address), EXIT_OK);
	golden_compare("show_replicas.txt", heard, heard_len);
	assert_int_equal(RUN("show", "--server", tcp, "instances"), EXIT_OK);
	golden_compare("show_instances.txt", heard, heard_len);
	assert_int_equal(RUN("show", "replicas", "b", "--server", address), EXIT_OK);
	assert_null(strstr(heard, "10.0.0.1"));
	assert_non_null(strstr(heard, "10.1.0.1"));
}

static void everything_can_be_shown_as_json_too(void **state)
{
	static const char *const things[] = { "agent",    "engines",   "instances",
		                              "replicas", "prefix",    "haproxy",
		                              "models",   "decisions", "config" };

	(void)state;
	for (size_t i = 0; i < COUNT(things); i++) {
		json_t *object;

		assert_int_equal(RUN("show", things[i], "--server", address), EXIT_OK);
		assert_true(heard_len > 0);
		assert_int_equal(RUN("show", things[i], "--server", address, "--json"), EXIT_OK);
		assert_ptr_equal(strchr(heard, '\n'), heard + heard_len - 1);
		object = json_loads(heard, 0, NULL);
		assert_non_null(object);
		json_decref(object);
	}
}

static void exit_codes_are_as_agreed(void **state)
{
	(void)state;
	assert_int_equal(RUN("show", "agent", "--server", "127.0.0.1:1"), EXIT_UNREACHABLE);
	assert_non_null(strstr(heard, "no agent answers"));
	assert_int_equal(RUN("show", "agent", "--server", "unix:/no/such"), EXIT_UNREACHABLE);
	assert_non_null(strstr(heard, "unix:/no/such"));
	assert_int_equal(RUN("show", "nonsense"), EXIT_USAGE);
	assert_int_equal(RUN("show"), EXIT_USAGE);
	assert_int_equal(RUN("show", "agent", "extra"), EXIT_USAGE);
	assert_int_equal(RUN("show", "--nonsense"), EXIT_USAGE);
	assert_int_equal(RUN("show", "--help"), EXIT_OK);
	assert_non_null(strstr(heard, "decisions"));
	assert_int_equal(RUN("show", "decisions", "no such&id", "--server", address), EXIT_FAILED);
	assert_non_null(strstr(heard, "no decision of this id"));
}

static void the_reference_page_is_printed(void **state)
{
	(void)state;
	assert_int_equal(RUN("metrics"), EXIT_OK);
	golden_compare("../../docs/metrics.md", heard, heard_len);
	assert_int_equal(RUN("metrics", "--help"), EXIT_OK);
	assert_int_equal(RUN("metrics", "more"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest show[] = {
		cmocka_unit_test(tables_come_over_the_socket),
		cmocka_unit_test(everything_can_be_shown_as_json_too),
		cmocka_unit_test(exit_codes_are_as_agreed),
		cmocka_unit_test(the_reference_page_is_printed),
	};

	return cmocka_run_group_tests(show, start, stop);
}
