/* duration.c - an option of a table with one row; getopt's struct option is another one. */
#include "spoa/duration.h"

#include <string.h>

#include "policies/core/option.h"

bool duration_read(const char *name, const char *text, usec_t *ret_time, struct error *error)
{
	const struct option row = { .name = name, .type = OPTION_DURATION, .max = 86400e6 };
	usec_t time = 0;

	if (!option_set_text(&row, &time, (struct span){ text, strlen(text) }, error))
		return false;
	*ret_time = time;
	return true;
}
