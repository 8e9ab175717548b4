/* disconnect.c - why a connection ends, in a number and in words. */
#include "spoa/spop/disconnect.h"

#define KEY_STATUS  "status-code"
#define KEY_MESSAGE "message"

bool disconnect_write(struct spop_output *out, enum frame_type type, enum spop_error status)
{
	struct spop_output rest = *out;
	struct spop_value code = value_uint32(status);
	struct spop_value words = value_string(text_of(spop_error_text(status)));
	uint8_t *mark;

	if (!frame_begin(&rest, type, 0, 0, &mark) || !pair_write(&rest, KEY_STATUS, &code) ||
	    !pair_write(&rest, KEY_MESSAGE, &words))
		return false;
	frame_end(&rest, mark);
	*out = rest;
	return true;
}

enum spop_error disconnect_read(struct spop_input payload, struct disconnect *ret_disconnect)
{
	struct disconnect disconnect = { .status = SPOP_UNKNOWN };

	while (payload.at < payload.end) {
		struct spop_text name;
		struct spop_value value;
		enum spop_error error = pair_read(&payload, &name, &value);

		if (error != SPOP_NONE)
			return error;
		if (text_is(name, KEY_STATUS) && value.type == SPOP_TYPE_UINT32)
			disconnect.status = (uint32_t)value.number;
		else if (text_is(name, KEY_MESSAGE) && value.type == SPOP_TYPE_STRING)
			disconnect.message = value.text;
	}
	*ret_disconnect = disconnect;
	return SPOP_NONE;
}
