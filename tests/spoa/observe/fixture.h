/* fixture.h - texts recorded from HAProxy, and pages made of engines' names. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/span.h"

/* The file beside this one; to be freed by its .at. */
static inline struct span fixture(const char *name)
{
	static const char here[] = __FILE__;
	const char *slash = strrchr(here, '/');
	char path[1024], *text = malloc(1 << 20);
	FILE *file;
	size_t size;

	(void)snprintf(path, sizeof(path), "%.*s/fixtures/%s", (int)(slash - here), here, name);
	file = fopen(path, "rb");
	if (!file || !text) {
		perror(path);
		abort();
	}
	size = fread(text, 1, 1 << 20, file);
	(void)fclose(file);
	return (struct span){ text, size };
}

static inline struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static inline bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}
