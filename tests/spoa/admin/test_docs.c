/* test_docs.c - docs/metrics.md is what the list says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/admin/docs.h"
#include "tests/spoa/golden.h"

static void the_reference_page_is_made_of_the_list(void **state)
{
	size_t len = 0;
	char *text = metrics_document(&len);

	(void)state;
	assert_non_null(text);
	golden_compare("../../docs/metrics.md", text, len);
	free(text);
}

int main(void)
{
	const struct CMUnitTest docs[] = { cmocka_unit_test(
		the_reference_page_is_made_of_the_list) };

	return cmocka_run_group_tests(docs, NULL, NULL);
}
