/* notify.c - messages and their arguments, one after the other. */
#include "spoa/spop/notify.h"

enum { ARGUMENTS_MAX = 255 };

enum spop_error notify_read_message(struct spop_input *in, struct notify_message *ret_message)
{
	struct spop_input rest = *in;
	struct spop_text name;
	enum spop_error error = spop_text_read(&rest, &name);

	if (error != SPOP_NONE)
		return error;
	if (rest.at == rest.end)
		return SPOP_INVALID;
	*ret_message = (struct notify_message){ name, *rest.at++ };
	*in = rest;
	return SPOP_NONE;
}

enum spop_error notify_read_argument(struct spop_input *in, struct spop_text *ret_name,
                                     struct spop_value *ret_value)
{
	return pair_read(in, ret_name, ret_value);
}

enum spop_error notify_verify(struct spop_input in)
{
	while (in.at < in.end) {
		struct notify_message message;
		enum spop_error error = notify_read_message(&in, &message);

		for (uint32_t i = 0; error == SPOP_NONE && i < message.arguments; i++) {
			struct spop_text name;
			struct spop_value value;

			error = notify_read_argument(&in, &name, &value);
		}
		if (error != SPOP_NONE)
			return error;
	}
	return SPOP_NONE;
}

bool notify_write_message(struct spop_output *out, const char *name, uint32_t arguments)
{
	struct spop_output rest = *out;

	if (arguments > ARGUMENTS_MAX || !spop_text_write(&rest, text_of(name)) ||
	    rest.at == rest.end)
		return false;
	*rest.at++ = (uint8_t)arguments;
	*out = rest;
	return true;
}
