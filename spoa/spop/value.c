/* value.c - one byte of type and flags, then what the type needs.
 *
 * All four integer types are the same varint; a negative one is its 64 bits as
 * an unsigned number, ten bytes long. The only flag in use is that of true.
 *
 * A frame has some sixty values, so the readers move the caller's input and put
 * it back on failure: copies of small structs made this several times slower. */
#include "spoa/spop/value.h"

#include <string.h>

enum { TYPE_MASK = 0x0f, FLAG_TRUE = 0x10 };

static size_t left(const struct spop_input *in)
{
	return (size_t)(in->end - in->at);
}

static size_t room(const struct spop_output *out)
{
	return (size_t)(out->end - out->at);
}

enum spop_error spop_text_read(struct spop_input *in, struct spop_text *ret_text)
{
	const uint8_t *start = in->at;
	uint64_t length;
	enum spop_error error = varint_read(in, &length);

	if (error != SPOP_NONE)
		return error;
	if (length > left(in)) {
		in->at = start;
		return SPOP_INVALID;
	}
	ret_text->at = (const char *)in->at;
	ret_text->length = (size_t)length;
	in->at += length;
	return SPOP_NONE;
}

bool spop_text_write(struct spop_output *out, struct spop_text text)
{
	struct spop_output rest = *out;

	if (!varint_write(&rest, text.length) || text.length > room(&rest))
		return false;
	if (text.length > 0)
		memcpy(rest.at, text.at, text.length);
	out->at = rest.at + text.length;
	return true;
}

bool text_is(struct spop_text text, const char *word)
{
	return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

struct spop_text text_of(const char *word)
{
	return (struct spop_text){ word, strlen(word) };
}

/* The readers of each type fill in the value last, and may leave the input moved
 * when they fail. */
static enum spop_error integer_read(struct spop_input *in, enum spop_type type,
                                    struct spop_value *value)
{
	uint64_t number;
	enum spop_error error = varint_read(in, &number);

	if (error != SPOP_NONE)
		return error;
	if (type == SPOP_TYPE_UINT32 && number > UINT32_MAX)
		return SPOP_INVALID;
	if (type == SPOP_TYPE_INT32 && (int64_t)number != (int32_t)number)
		return SPOP_INVALID;
	value->type = type;
	value->number = number;
	return SPOP_NONE;
}

static enum spop_error address_read(struct spop_input *in, enum spop_type type,
                                    struct spop_value *value)
{
	size_t bytes = type == SPOP_TYPE_IPV4 ? IPV4_BYTES : IPV6_BYTES;

	if (left(in) < bytes)
		return SPOP_INVALID;
	value->type = type;
	memcpy(value->address, in->at, bytes);
	in->at += bytes;
	return SPOP_NONE;
}

static enum spop_error bytes_read(struct spop_input *in, enum spop_type type,
                                  struct spop_value *value)
{
	enum spop_error error = spop_text_read(in, &value->text);

	if (error == SPOP_NONE)
		value->type = type;
	return error;
}

static enum spop_error content_read(struct spop_input *in, uint8_t head, struct spop_value *value)
{
	enum spop_type type = head & TYPE_MASK;

	switch (type) {
	case SPOP_TYPE_NULL:
		value->type = type;
		return SPOP_NONE;
	case SPOP_TYPE_BOOL:
		value->type = type;
		value->boolean = (head & FLAG_TRUE) != 0;
		return SPOP_NONE;
	case SPOP_TYPE_INT32:
	case SPOP_TYPE_UINT32:
	case SPOP_TYPE_INT64:
	case SPOP_TYPE_UINT64:
		return integer_read(in, type, value);
	case SPOP_TYPE_IPV4:
	case SPOP_TYPE_IPV6:
		return address_read(in, type, value);
	case SPOP_TYPE_STRING:
	case SPOP_TYPE_BINARY:
		return bytes_read(in, type, value);
	}
	return SPOP_INVALID;
}

enum spop_error value_read(struct spop_input *in, struct spop_value *ret_value)
{
	const uint8_t *start = in->at;
	enum spop_error error;

	if (in->at == in->end)
		return SPOP_INVALID;
	in->at++;
	error = content_read(in, *start, ret_value);
	if (error != SPOP_NONE)
		in->at = start;
	return error;
}

static bool bytes_write(struct spop_output *out, const uint8_t *bytes, size_t length)
{
	if (length > room(out))
		return false;
	memcpy(out->at, bytes, length);
	out->at += length;
	return true;
}

static bool content_write(struct spop_output *out, const struct spop_value *value)
{
	switch (value->type) {
	case SPOP_TYPE_NULL:
	case SPOP_TYPE_BOOL:
		return true;
	case SPOP_TYPE_INT32:
	case SPOP_TYPE_UINT32:
	case SPOP_TYPE_INT64:
	case SPOP_TYPE_UINT64:
		return varint_write(out, value->number);
	case SPOP_TYPE_IPV4:
		return bytes_write(out, value->address, IPV4_BYTES);
	case SPOP_TYPE_IPV6:
		return bytes_write(out, value->address, IPV6_BYTES);
	case SPOP_TYPE_STRING:
	case SPOP_TYPE_BINARY:
		return spop_text_write(out, value->text);
	}
	return false;
}

bool value_write(struct spop_output *out, const struct spop_value *value)
{
	struct spop_output rest = *out;
	bool is_true = value->type == SPOP_TYPE_BOOL && value->boolean;

	if (room(&rest) == 0)
		return false;
	*rest.at++ = (uint8_t)(value->type | (is_true ? FLAG_TRUE : 0));
	if (!content_write(&rest, value))
		return false;
	*out = rest;
	return true;
}

enum spop_error pair_read(struct spop_input *in, struct spop_text *ret_name,
                          struct spop_value *ret_value)
{
	const uint8_t *start = in->at;
	struct spop_text name;
	enum spop_error error = spop_text_read(in, &name);

	if (error == SPOP_NONE)
		error = value_read(in, ret_value);
	if (error != SPOP_NONE) {
		in->at = start;
		return error;
	}
	*ret_name = name;
	return SPOP_NONE;
}

bool pair_write(struct spop_output *out, const char *name, const struct spop_value *value)
{
	struct spop_output rest = *out;

	if (!spop_text_write(&rest, text_of(name)) || !value_write(&rest, value))
		return false;
	*out = rest;
	return true;
}

struct spop_value value_string(struct spop_text text)
{
	return (struct spop_value){ .type = SPOP_TYPE_STRING, .text = text };
}

struct spop_value value_uint32(uint32_t number)
{
	return (struct spop_value){ .type = SPOP_TYPE_UINT32, .number = number };
}

struct spop_value value_int64(int64_t integer)
{
	return (struct spop_value){ .type = SPOP_TYPE_INT64, .integer = integer };
}

struct spop_value value_bool(bool boolean)
{
	return (struct spop_value){ .type = SPOP_TYPE_BOOL, .boolean = boolean };
}
