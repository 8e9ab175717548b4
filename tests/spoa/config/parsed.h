/* parsed.h - policies of texts, and what is said of them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/policy.h"

static inline struct policy_file *parsed(const char *text, struct problems **ret_problems)
{
	*ret_problems = problems_new();
	assert_non_null(*ret_problems);
	return policy_parse("policy.json", text, strlen(text), *ret_problems);
}

/* A policy without a single problem. */
static inline struct policy_file *good(const char *text)
{
	struct problems *problems;
	struct policy_file *file = parsed(text, &problems);

	if (problems_at(problems, 0))
		print_error("%s: %s\n", problems_at(problems, 0)->path,
		            problems_at(problems, 0)->text);
	assert_null(problems_at(problems, 0));
	assert_non_null(file);
	problems_free(problems);
	return file;
}

/* All that is said of a text; there is a policy unless some of it is an error. */
static inline void assert_says(const char *text, const char *expected)
{
	struct problems *problems;
	struct policy_file *file = parsed(text, &problems);
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	assert_non_null(out);
	problems_print(problems, out);
	(void)fclose(out);
	assert_string_equal(printed, expected);
	assert_int_equal(file == NULL, problems_count(problems, SEVERITY_ERROR) > 0);
	free(printed);
	policy_file_free(file);
	problems_free(problems);
}
