/* value.h - the typed values of SPOP, and its texts.
 *
 * Texts and bytes are borrowed from the frame they were read from. Readers move
 * the input behind what they read, and change nothing on failure; writers return
 * false and write nothing when there is no room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spoa/spop/varint.h"

#define SPOP_CHECK __attribute__((warn_unused_result))

/* TYPE(id, number). */
#define SPOP_TYPES(TYPE)                                                                           \
	TYPE(NULL, 0)                                                                              \
	TYPE(BOOL, 1)                                                                              \
	TYPE(INT32, 2)                                                                             \
	TYPE(UINT32, 3)                                                                            \
	TYPE(INT64, 4)                                                                             \
	TYPE(UINT64, 5)                                                                            \
	TYPE(IPV4, 6)                                                                              \
	TYPE(IPV6, 7)                                                                              \
	TYPE(STRING, 8)                                                                            \
	TYPE(BINARY, 9)

#define AS_ENUM(id, number) SPOP_TYPE_##id = (number),
enum spop_type { SPOP_TYPES(AS_ENUM) };
#undef AS_ENUM

enum { IPV4_BYTES = 4, IPV6_BYTES = 16 };

struct spop_text {
	const char *at; /* not NUL-terminated */
	size_t length;
};

struct spop_value {
	enum spop_type type;
	union {
		bool boolean;
		int64_t integer;             /* INT32, INT64 */
		uint64_t number;             /* UINT32, UINT64; also the 64 bits of INT64 */
		uint8_t address[IPV6_BYTES]; /* network order; IPV4 uses the first four */
		struct spop_text text;       /* STRING, BINARY */
	};
};

/* A length and that many bytes. */
SPOP_CHECK enum spop_error spop_text_read(struct spop_input *in, struct spop_text *ret_text);
SPOP_CHECK bool spop_text_write(struct spop_output *out, struct spop_text text);
bool text_is(struct spop_text text, const char *word);
/* A text for a NUL-terminated word. */
struct spop_text text_of(const char *word);

/* An INT32 or UINT32 beyond 32 bits, and an unknown type, is SPOP_INVALID. */
SPOP_CHECK enum spop_error value_read(struct spop_input *in, struct spop_value *ret_value);
SPOP_CHECK bool value_write(struct spop_output *out, const struct spop_value *value);
/* A name and its value: an entry of a HELLO or DISCONNECT, an argument of a message. */
SPOP_CHECK enum spop_error pair_read(struct spop_input *in, struct spop_text *ret_name,
                                     struct spop_value *ret_value);
SPOP_CHECK bool pair_write(struct spop_output *out, const char *name,
                           const struct spop_value *value);

struct spop_value value_string(struct spop_text text);
struct spop_value value_uint32(uint32_t number);
struct spop_value value_int64(int64_t integer);
struct spop_value value_bool(bool boolean);
