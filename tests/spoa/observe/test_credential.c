/* test_credential.c - a token out of a file, or none. Proves R066. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/observe/credential.h"

static struct credential credential;
static struct error error;

/* Of a file with this text. */
static bool reads(const char *text)
{
	char path[] = "/tmp/credential.XXXXXX";
	int fd = mkstemp(path);
	bool read;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
	error = (struct error){ "" };
	read = credential_read(&credential, path, &error);
	(void)unlink(path);
	return read;
}

static void the_first_line_is_the_token(void **state)
{
	(void)state;
	assert_true(reads("  s3cret \t\r\nsecond line\n"));
	assert_string_equal(credential.line, "authorization: Bearer s3cret");
	assert_true(reads("another"));
	assert_string_equal(credential.line, "authorization: Bearer another");
	assert_true(credential_read(&credential, "", &error));
	assert_string_equal(credential.line, "");
}

static void what_cannot_be_read_or_sent_leaves_the_old_one(void **state)
{
	char long_text[CREDENTIAL_MAX + 10];

	(void)state;
	assert_true(reads("s3cret"));
	assert_false(reads(""));
	assert_false(reads("\n\ntoken"));
	assert_false(reads("two words"));
	assert_false(reads("ctrl\x01"));
	assert_non_null(strstr(error.text, "its first line is no token"));
	error = (struct error){ "" };
	assert_false(credential_read(&credential, "/nowhere/at/all", &error));
	assert_string_equal(error.text, "/nowhere/at/all: No such file or directory");
	assert_string_equal(credential.line, "authorization: Bearer s3cret");
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_true(reads(long_text)); /* cut, not overrun */
	assert_int_equal(strlen(credential.line),
	                 strlen("authorization: Bearer ") + CREDENTIAL_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_is_the_token),
		cmocka_unit_test(what_cannot_be_read_or_sent_leaves_the_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
