/* page.h - a text that grows, with the shapes of Prometheus' text format.
 *
 * Off the request path: it allocates. When memory runs out the page is marked as
 * failed and takes no more; the end is the place to ask. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policies/state/counters.h"

struct metric;

struct page {
	char *at; /* not NUL-terminated */
	size_t len, room;
	bool failed;
	const struct metric *metric; /* whose samples follow */
};

void page_done(struct page *page);
/* The text, malloced and given away; NULL if memory ran out. The page is empty then. */
char *page_give(struct page *page, size_t *ret_len);

void page_text(struct page *page, const char *text);
void page_bytes(struct page *page, const char *bytes, size_t len);
void page_print(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* HELP and TYPE of the metric; samples go below. */
void page_metric(struct page *page, const struct metric *metric);
/* values: one for each label of the metric, in its order; a NULL leaves the label
 * away. NULL for a metric without labels. */
void page_sample(struct page *page, const char *const *values, double value);
void page_histogram(struct page *page, const char *const *values, const struct histogram *histogram,
                    const struct bounds *bounds);
