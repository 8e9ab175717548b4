/* arguments.c - the guess first, then the list from its start. */
#include "spoa/messages/arguments.h"

#include <string.h>

static bool is(const struct argument_name *name, struct spop_text text)
{
	return name->length == text.length && memcmp(name->at, text.at, text.length) == 0;
}

size_t argument_find(const struct argument_name *names, size_t count, struct spop_text name,
                     size_t expected)
{
	if (expected < count && is(&names[expected], name))
		return expected;
	for (size_t i = 0; i < count; i++)
		if (is(&names[i], name))
			return i;
	return count;
}

bool argument_text(const struct spop_value *value, struct span *ret_text)
{
	*ret_text = (struct span){ NULL, 0 };
	if (value->type == SPOP_TYPE_NULL)
		return true;
	if (value->type != SPOP_TYPE_STRING && value->type != SPOP_TYPE_BINARY)
		return false;
	if (value->text.length > 0)
		*ret_text = (struct span){ value->text.at, value->text.length };
	return true;
}

bool argument_bits(const struct spop_value *value, uint64_t *ret_bits)
{
	if (value->type < SPOP_TYPE_INT32 || value->type > SPOP_TYPE_UINT64)
		return false;
	*ret_bits = value->number;
	return true;
}

bool argument_number(const struct spop_value *value, uint64_t *ret_number)
{
	bool is_signed = value->type == SPOP_TYPE_INT32 || value->type == SPOP_TYPE_INT64;

	return !(is_signed && value->integer < 0) && argument_bits(value, ret_number);
}
