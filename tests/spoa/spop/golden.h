/* golden.h - frames as HAProxy sends them, and how to read hex. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/spop/varint.h"

#define GOLDEN_HELLO                                                                               \
	"0000005f0100000001000012737570706f727465642d76657273696f6e730803322e300e6d61782d6672616d" \
	"652d73697a6503fcf0060c6361706162696c69746965730810706970656c696e696e672c6173796e63"       \
	"09656e67696e652d696408026531"
#define GOLDEN_HEALTH                                                                              \
	"0000004e0100000001000012737570706f727465642d76657273696f6e730803322e300e6d61782d6672616d" \
	"652d73697a6503fcf0060c6361706162696c697469657308000b6865616c7468636865636b11"
#define GOLDEN_BYE                                                                                 \
	"00000025020000000100000b7374617475732d636f64650300076d65737361676508066e6f726d616c"
#define GOLDEN_ACK "000000146700000001010101030206616374696f6e080178"

static inline unsigned int hex_digit(char digit)
{
	return (unsigned int)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Bytes of the hex text into room; how many. */
static inline size_t hex_read(const char *hex, uint8_t *room, size_t max)
{
	size_t length = strlen(hex) / 2;

	assert_true(length <= max);
	for (size_t i = 0; i < length; i++)
		room[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	return length;
}

static inline void assert_hex(const uint8_t *from, const uint8_t *to, const char *hex)
{
	uint8_t expected[512];
	size_t length = hex_read(hex, expected, sizeof(expected));

	assert_int_equal(to - from, length);
	assert_memory_equal(from, expected, length);
}
