/* messages.c - hear all that a NOTIFY says, then do it.
 *
 * Nothing is decided before the last byte has been read: a slot taken for a
 * frame that turns out broken would have nobody to give it back. */
#include "spoa/messages/messages.h"

#include "spoa/messages/answer.h"
#include "spoa/messages/response.h"
#include "spoa/messages/route.h"

struct heard {
	bool messages[MESSAGE_COUNT];
	struct route route;
	struct response response;
};

static enum message message_of(struct spop_text name)
{
#define AS_TEST(id, word, ...)                                                                     \
	if (text_is(name, word))                                                                   \
		return MESSAGE_##id;
	MESSAGES(AS_TEST)
#undef AS_TEST
	return MESSAGE_COUNT;
}

static enum spop_error skip(struct spop_input *in, uint32_t arguments)
{
	enum spop_error error = SPOP_NONE;

	for (uint32_t i = 0; error == SPOP_NONE && i < arguments; i++) {
		struct spop_text name;
		struct spop_value value;

		error = notify_read_argument(in, &name, &value);
	}
	return error;
}

static enum spop_error hear(struct message_context *context, struct spop_input *in,
                            struct heard *heard)
{
	struct notify_message message;
	enum spop_error error = notify_read_message(in, &message);
	enum message which;

	if (error != SPOP_NONE)
		return error;
	which = message_of(message.name);
	if (which == MESSAGE_COUNT || heard->messages[which]) {
		context->counters.unknown_messages++;
		return skip(in, message.arguments);
	}
	heard->messages[which] = true;
	context->counters.messages[which]++;
	if (which == MESSAGE_route)
		return route_read(context, in, message.arguments, &heard->route);
	return response_read(context, in, message.arguments, &heard->response);
}

struct message_result messages_run(struct message_context *context, uint32_t source,
                                   struct spop_input payload, struct spop_output *out)
{
	struct message_result result = { .error = SPOP_NONE };
	bool answered = false;
	struct heard heard; /* large: only its flags are cleared */

	for (int i = 0; i < MESSAGE_COUNT; i++)
		heard.messages[i] = false;
	while (payload.at < payload.end) {
		result.error = hear(context, &payload, &heard);
		if (result.error != SPOP_NONE)
			return result;
	}
	if (heard.messages[MESSAGE_response]) {
		heard.response.event.by.source = source;
		answered = response_run(context, &heard.response, out);
	}
	if (heard.messages[MESSAGE_route]) {
		heard.route.request.source = source;
		result.decided = route_run(context, &heard.route, out);
	} else if (!answered) {
		answer_write_nothing(out);
	}
	return result;
}

void messages_late(struct message_context *context, struct span id)
{
	feedback_late(context->facts, id, context->now());
}

const char *route_argument_name(enum route_argument argument)
{
#define AS_NAME(id, name, ...) name,
	static const char *const names[] = { ROUTE_ARGUMENTS(AS_NAME) "hash" };
#undef AS_NAME

	return names[argument];
}

const char *first_argument_name(enum first_argument argument)
{
#define AS_NAME(id, name, ...) name,
	static const char *const names[] = { FIRST_ARGUMENTS(AS_NAME) };
#undef AS_NAME

	return names[argument];
}
