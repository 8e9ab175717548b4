/* test_processes.c - which HAProxy process wrote a log line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/processes.h"
#include "tests/spoa/observe/fixture.h"

static void host_and_pid_are_split_at_the_last_slash(void **state)
{
	static const char *const bad[] = {
		"",       "vm",    "vm/",           "vm/0",
		"vm/12x", "vm/-1", "vm/4294967296", "vm/99999999999999999999"
	};
	struct span host;
	uint32_t pid;

	(void)state;
	assert_true(process_read(span_of("vm/25475"), &host, &pid));
	assert_true(span_is(host, "vm"));
	assert_int_equal(pid, 25475);
	assert_true(process_read(span_of("a/b/7"), &host, &pid));
	assert_true(span_is(host, "a/b"));
	assert_true(process_read(span_of("/8"), &host, &pid));
	assert_int_equal(host.len, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(process_read(span_of(bad[i]), &host, &pid));
}

static void processes_of_the_last_reloads_are_known(void **state)
{
	struct processes processes = { .count = 0 };
	struct span host = span_of("vm"), any = { NULL, 0 };

	(void)state;
	assert_false(processes_have(&processes, any, 1));
	assert_false(processes_have(&processes, any, 0));
	for (uint32_t pid = 1; pid <= PROCESSES_MAX; pid++) {
		processes_note(&processes, host, pid);
		processes_note(&processes, host, pid);
	}
	assert_true(processes_have(&processes, host, 1));
	processes_note(&processes, host, 99);
	assert_false(processes_have(&processes, host, 1));
	assert_true(processes_have(&processes, host, 2));
	assert_true(processes_have(&processes, host, 99));
	assert_false(processes_have(&processes, span_of("other"), 99));
	assert_true(processes_have(&processes, any, 99));
}

int main(void)
{
	const struct CMUnitTest processes[] = {
		cmocka_unit_test(host_and_pid_are_split_at_the_last_slash),
		cmocka_unit_test(processes_of_the_last_reloads_are_known),
	};

	return cmocka_run_group_tests(processes, NULL, NULL);
}
