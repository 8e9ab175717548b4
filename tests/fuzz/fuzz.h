/* fuzz.h - what a fuzz target is, and how it says that something is wrong. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* One input; called by libFuzzer, or by replay.c with the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void expect(int condition)
{
	if (!condition)
		abort();
}

/* A span that is a literal. */
#define TEXT(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
