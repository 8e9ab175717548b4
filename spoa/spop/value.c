/* value.c - one byte of type and flags, then what the type needs.
 *
 * All four integer types are the same varint; a negative one is its 64 bits as
 * an unsigned number, ten bytes long. The only flag in use is that of true. */
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
	struct spop_input rest = *in;
	uint64_t length;
	enum spop_error error = varint_read(&rest, &length);

	if (error != SPOP_NONE)
		return error;
	if (length > left(&rest))
		return SPOP_INVALID;
	*ret_text = (struct spop_text){ (const char *)rest.at, (size_t)length };
	in->at = rest.at + length;
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

static enum spop_error integer_read(struct spop_input *in, struct spop_value *value)
{
	enum spop_error error = varint_read(in, &value->number);

	if (error != SPOP_NONE)
		return error;
	if (value->type == SPOP_TYPE_UINT32 && value->number > UINT32_MAX)
		return SPOP_INVALID;
	if (value->type == SPOP_TYPE_INT32 &&
	    (value->integer < INT32_MIN || value->integer > INT32_MAX))
		return SPOP_INVALID;
	return SPOP_NONE;
}

static enum spop_error address_read(struct spop_input *in, size_t bytes, struct spop_value *value)
{
	if (left(in) < bytes)
		return SPOP_INVALID;
	memcpy(value->address, in->at, bytes);
	in->at += bytes;
	return SPOP_NONE;
}

static enum spop_error content_read(struct spop_input *in, uint8_t head, struct spop_value *value)
{
	switch (value->type) {
	case SPOP_TYPE_NULL:
		return SPOP_NONE;
	case SPOP_TYPE_BOOL:
		value->boolean = (head & FLAG_TRUE) != 0;
		return SPOP_NONE;
	case SPOP_TYPE_INT32:
	case SPOP_TYPE_UINT32:
	case SPOP_TYPE_INT64:
	case SPOP_TYPE_UINT64:
		return integer_read(in, value);
	case SPOP_TYPE_IPV4:
		return address_read(in, IPV4_BYTES, value);
	case SPOP_TYPE_IPV6:
		return address_read(in, IPV6_BYTES, value);
	case SPOP_TYPE_STRING:
	case SPOP_TYPE_BINARY:
		return spop_text_read(in, &value->text);
	}
	return SPOP_INVALID;
}

enum spop_error value_read(struct spop_input *in, struct spop_value *ret_value)
{
	struct spop_input rest = *in;
	struct spop_value value;
	enum spop_error error;
	uint8_t head;

	if (left(&rest) == 0)
		return SPOP_INVALID;
	head = *rest.at++;
	value.type = head & TYPE_MASK;
	value.number = 0;
	error = content_read(&rest, head, &value);
	if (error != SPOP_NONE)
		return error;
	*in = rest;
	*ret_value = value;
	return SPOP_NONE;
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
	struct spop_input rest = *in;
	struct spop_text name;
	enum spop_error error = spop_text_read(&rest, &name);

	if (error == SPOP_NONE)
		error = value_read(&rest, ret_value);
	if (error != SPOP_NONE)
		return error;
	*in = rest;
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
