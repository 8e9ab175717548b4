/* page.c - the text of a page. */
#include "spoa/admin/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/admin/metrics.h"

static bool page_reserve(struct page *page, size_t more)
{
	size_t room = page->room ? page->room : 4096;
	char *at;

	if (page->failed)
		return false;
	while (room - page->len < more)
		room *= 2;
	if (room == page->room)
		return true;
	at = realloc(page->at, room);
	if (!at) {
		page->failed = true;
		return false;
	}
	page->at = at;
	page->room = room;
	return true;
}

void page_done(struct page *page)
{
	free(page->at);
	*page = (struct page){ 0 };
}

char *page_give(struct page *page, size_t *ret_len)
{
	char *at = page->at;

	if (page->failed || !at) {
		page_done(page);
		return NULL;
	}
	*ret_len = page->len;
	*page = (struct page){ 0 };
	return at;
}

void page_bytes(struct page *page, const char *bytes, size_t len)
{
	if (len == 0 || !page_reserve(page, len))
		return;
	memcpy(page->at + page->len, bytes, len);
	page->len += len;
}

void page_text(struct page *page, const char *text)
{
	page_bytes(page, text, strlen(text));
}

void page_print(struct page *page, const char *format, ...)
{
	char text[512];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len > 0)
		page_bytes(page, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void page_metric(struct page *page, const struct metric *metric)
{
	const char *prefix = metric_prefix(metric);

	page->metric = metric;
	page_print(page, "# HELP %s%s %s\n", prefix, metric->name, metric->help);
	page_print(page, "# TYPE %s%s %s\n", prefix, metric->name, metric->type);
}

/* Names come from a configuration: what would end the value, or is no plain
 * character, must not reach the reader as it is. */
static void page_label(struct page *page, const char *name, size_t len, const char *value)
{
	page_bytes(page, name, len);
	page_text(page, "=\"");
	for (; *value != '\0'; value++) {
		unsigned char letter = (unsigned char)*value;

		if (letter == '"' || letter == '\\')
			page_text(page, "\\");
		page_bytes(page, letter < 0x20 || letter > 0x7e ? "?" : value, 1);
	}
	page_text(page, "\"");
}

/* le: the bound of a bucket, or NULL. */
static void page_labels(struct page *page, const char *const *values, const char *le)
{
	const char *name = page->metric->labels;
	const char *between = "{";

	for (size_t i = 0; *name != '\0'; i++) {
		size_t len = strcspn(name, ",");

		if (values && values[i]) {
			page_text(page, between);
			page_label(page, name, len, values[i]);
			between = ",";
		}
		name += len + (name[len] == ',');
	}
	if (le) {
		page_text(page, between);
		page_label(page, "le", 2, le);
		between = ",";
	}
	if (between[0] == ',')
		page_text(page, "}");
}

/* Most values are small and whole; the others get the shorter of two spellings
 * that reads back as the same number. */
static void page_number(struct page *page, double value)
{
	char text[32];

	if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value) {
		uint64_t whole = (uint64_t)value;
		char *at = text + sizeof(text);

		*--at = '\n';
		do {
			*--at = (char)('0' + whole % 10);
			whole /= 10;
		} while (whole > 0);
		*--at = ' ';
		page_bytes(page, at, (size_t)(text + sizeof(text) - at));
		return;
	}
	(void)snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		(void)snprintf(text, sizeof(text), "%.17g", value);
	page_print(page, " %s\n", text);
}

static void page_line(struct page *page, const char *suffix, const char *const *values,
                      const char *le, double value)
{
	page_text(page, metric_prefix(page->metric));
	page_text(page, page->metric->name);
	page_text(page, suffix);
	page_labels(page, values, le);
	page_number(page, value);
}

void page_sample(struct page *page, const char *const *values, double value)
{
	page_line(page, "", values, NULL, value);
}

void page_histogram(struct page *page, const char *const *values, const struct histogram *histogram,
                    const struct bounds *bounds)
{
	uint64_t below = 0;
	char le[32];

	for (uint32_t i = 0; i < bounds->count; i++) {
		below += histogram->counts[i];
		(void)snprintf(le, sizeof(le), "%g", bounds->at[i]);
		page_line(page, "_bucket", values, le, (double)below);
	}
	below += histogram->counts[bounds->count];
	page_line(page, "_bucket", values, "+Inf", (double)below);
	page_line(page, "_sum", values, NULL, histogram->sum);
	page_line(page, "_count", values, NULL, (double)below);
}
