/* output.h - commands on their way out, in RESP, in a block that never grows. */
#pragma once

#include "policies/core/error.h"
#include "policies/core/span.h"

struct redis_output {
	char *block;
	size_t room;
	size_t from, to; /* what is not sent yet */
};

/* False: out of memory. */
MUST_CHECK bool redis_output_init(struct redis_output *output, size_t room);
void redis_output_done(struct redis_output *output);

/* The command as an array of strings, any bytes in them; false, and nothing is added, if
 * it does not fit. */
MUST_CHECK bool redis_output_add(struct redis_output *output, const struct span *words,
                                 size_t count);
static inline struct span redis_output_unsent(const struct redis_output *output)
{
	return (struct span){ output->block + output->from, output->to - output->from };
}
void redis_output_sent(struct redis_output *output, size_t bytes);
static inline void redis_output_clear(struct redis_output *output)
{
	output->from = output->to = 0;
}
