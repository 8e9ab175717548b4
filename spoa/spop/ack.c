/* ack.c - an action is its type, its number of arguments, and these. */
#include "spoa/spop/ack.h"

enum { SET_VAR = 1, UNSET_VAR = 2, SET_ARGUMENTS = 3, UNSET_ARGUMENTS = 2, HEAD_BYTES = 3 };

static bool head_write(struct spop_output *out, uint8_t action, uint8_t arguments,
                       enum ack_scope scope)
{
	if (out->end - out->at < HEAD_BYTES)
		return false;
	*out->at++ = action;
	*out->at++ = arguments;
	*out->at++ = (uint8_t)scope;
	return true;
}

bool ack_set(struct spop_output *out, enum ack_scope scope, const char *name,
             const struct spop_value *value)
{
	struct spop_output rest = *out;

	if (value->type == SPOP_TYPE_NULL || !head_write(&rest, SET_VAR, SET_ARGUMENTS, scope) ||
	    !pair_write(&rest, name, value))
		return false;
	*out = rest;
	return true;
}

bool ack_unset(struct spop_output *out, enum ack_scope scope, const char *name)
{
	struct spop_output rest = *out;

	if (!head_write(&rest, UNSET_VAR, UNSET_ARGUMENTS, scope) ||
	    !spop_text_write(&rest, text_of(name)))
		return false;
	*out = rest;
	return true;
}

enum spop_error ack_read(struct spop_input *in, struct ack_action *ret_action)
{
	struct spop_input rest = *in;
	struct ack_action action = { .set = false };
	enum spop_error error;

	if (rest.end - rest.at < HEAD_BYTES)
		return SPOP_INVALID;
	action.set = rest.at[0] == SET_VAR;
	if (rest.at[0] != (action.set ? SET_VAR : UNSET_VAR) ||
	    rest.at[1] != (action.set ? SET_ARGUMENTS : UNSET_ARGUMENTS) ||
	    rest.at[2] > ACK_SCOPE_RESPONSE)
		return SPOP_INVALID;
	action.scope = rest.at[2];
	rest.at += HEAD_BYTES;
	if (action.set)
		error = pair_read(&rest, &action.name, &action.value);
	else
		error = spop_text_read(&rest, &action.name);
	if (error != SPOP_NONE)
		return error;
	*in = rest;
	*ret_action = action;
	return SPOP_NONE;
}
