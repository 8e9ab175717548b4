/* generate_log_format.c - the end-of-stream line, as HAProxy's log-format.
 *
 * In double quotes, where HAProxy expands $ and takes \ as an escape; none of
 * the fields has either. %B in it makes HAProxy wait for the end of the stream. */
#include "spoa/config/generate.h"

#include "spoa/messages/contract.h"

void generate_log_format(FILE *out)
{
	const char *between = "";

#define PRINTED(id, name, expression, help)                                                        \
	(void)fprintf(out, "%s%s=%s", between, name, expression);                                  \
	between = " ";
	(void)fputs("\"" CONTRACT_END_PREFIX, out);
	END_FIELDS(PRINTED)
	(void)fputs("\"", out);
#undef PRINTED
}
