/* test_inherited.c - which sockets a service manager hands to us, and under which names. Proves
 * R018. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/inherited.h"

static struct inherited inherited;
static struct error error;

/* NULL: the variable is not set; pid "self" is ours. */
static bool read_with(const char *pid, const char *fds, const char *names)
{
	static const char *const variables[] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES" };
	const char *values[] = { pid, fds, names };
	char self[16];

	(void)snprintf(self, sizeof(self), "%d", (int)getpid());
	if (pid && strcmp(pid, "self") == 0)
		values[0] = self;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
		        values[i] ? setenv(variables[i], values[i], 1) : unsetenv(variables[i]), 0);
	memset(&error, 0, sizeof(error));
	return inherited_read(&inherited, &error);
}

static void each_has_its_name(void **state)
{
	(void)state;
	assert_true(read_with("self", "4", "spop:log:log:admin"));
	assert_int_equal(inherited.count, 4);
	assert_string_equal(inherited.names[0], "spop");
	assert_string_equal(inherited.names[2], "log");
	assert_string_equal(inherited.names[3], "admin");
	assert_true(read_with("self", "3", "spop::"));
	assert_string_equal(inherited.names[0], "spop");
	assert_string_equal(inherited.names[1], "");
	assert_string_equal(inherited.names[2], "");
	assert_true(read_with("self", "2", NULL));
	assert_int_equal(inherited.count, 2);
	assert_string_equal(inherited.names[1], "");
	assert_true(read_with("self", "1", "spop:one:too:many"));
	assert_int_equal(inherited.count, 1);
}

static void what_is_not_for_us_is_not_taken(void **state)
{
	(void)state;
	assert_true(read_with("1", "2", "spop:log"));
	assert_int_equal(inherited.count, 0);
	assert_true(read_with(NULL, "2", "spop:log"));
	assert_int_equal(inherited.count, 0);
	assert_true(read_with("self", NULL, "spop"));
	assert_int_equal(inherited.count, 0);
	assert_true(read_with("self", "0", ""));
	assert_int_equal(inherited.count, 0);
	assert_true(read_with("self", "-1", "spop"));
	assert_int_equal(inherited.count, 0);
}

static void too_many_or_too_long_is_told(void **state)
{
	char name[INHERITED_NAME_MAX + 1];

	(void)state;
	assert_true(read_with("self", "16", "spop"));
	assert_int_equal(inherited.count, 16);
	assert_false(read_with("self", "17", "spop"));
	assert_non_null(strstr(error.text, "17 sockets"));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(read_with("self", "1", name));
	assert_non_null(strstr(error.text, "longer than 63 bytes"));
	assert_true(read_with("self", "1", name + 1));
	assert_string_equal(inherited.names[0], name + 1);
	assert_int_equal(inherited.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_name),
		cmocka_unit_test(what_is_not_for_us_is_not_taken),
		cmocka_unit_test(too_many_or_too_long_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
