/* docs.h - the reference page of the metrics. */
#pragma once

#include <stddef.h>

/* docs/metrics.md, malloced, without a NUL; NULL when memory ran out. */
char *metrics_document(size_t *ret_len);
