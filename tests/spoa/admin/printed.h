/* printed.h - what a terminal is shown of an object. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

/* The caller frees the text. */
static inline char *printed_by(void (*show)(const json_t *, FILE *), const json_t *object)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(object);
	assert_non_null(out);
	show(object, out);
	assert_int_equal(fclose(out), 0);
	return text;
}
