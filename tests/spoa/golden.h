/* golden.h - compares a text with a file of tests/golden, byte for byte.
 *
 * With GOLDEN_UPDATE in the environment the file is written instead. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* name: below tests/golden/. */
static inline void golden_path(const char *name, char ret_path[512])
{
	size_t root = strlen(__FILE__) - strlen("spoa/golden.h");

	(void)snprintf(ret_path, 512, "%.*sgolden/%s", (int)root, __FILE__, name);
}

static inline void golden_compare(const char *name, const char *text, size_t len)
{
	static char expected[1 << 20];
	char path[512];
	FILE *file;
	size_t n;

	golden_path(name, path);
	if (getenv("GOLDEN_UPDATE")) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(text, 1, len, file), len);
		assert_int_equal(fclose(file), 0);
		return;
	}
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: no such golden file", path);
	n = fread(expected, 1, sizeof(expected), file);
	(void)fclose(file);
	for (size_t i = 0; i < n && i < len; i++)
		if (expected[i] != text[i])
			fail_msg("%s: differs at byte %zu: \"%.60s\", not \"%.60s\"", name, i,
			         text + i, expected + i);
	assert_int_equal(len, n);
}
