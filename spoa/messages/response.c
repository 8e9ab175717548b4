/* response.c - the first byte is there: its arrival here is the time it came.
 *
 * The address is written as the fleet writes it, "ip:port" or "[ip6]:port", so
 * that it can be looked up; a server's name is only a name. */
#include "spoa/messages/response.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "spoa/messages/answer.h"
#include "spoa/messages/arguments.h"

enum { PORT_MAX = 65535, STATUS_MAX = 999 };

#define AS_NAME(id, name, ...) { name, sizeof(name) - 1 },
static const struct argument_name names[] = { FIRST_ARGUMENTS(AS_NAME) };
#undef AS_NAME

static enum spop_error values_read(struct message_counters *counters, struct spop_input *in,
                                   uint32_t arguments, struct spop_value *values)
{
	size_t expected = 0;

	for (uint32_t i = 0; i < arguments; i++) {
		struct spop_text name;
		struct spop_value value;
		enum spop_error error = notify_read_argument(in, &name, &value);

		if (error != SPOP_NONE)
			return error;
		expected = argument_find(names, FIRST_ARGUMENT_COUNT, name, expected);
		if (expected < FIRST_ARGUMENT_COUNT)
			values[expected++] = value;
		else
			counters->unknown_arguments++;
	}
	return SPOP_NONE;
}

static struct span text_at(struct message_counters *counters, const struct spop_value *values,
                           enum first_argument argument)
{
	struct span text;

	if (!argument_text(&values[argument], &text))
		counters->bad_first_arguments[argument]++;
	return text;
}

/* 0 where nothing was sent. */
static uint32_t number_at(struct message_counters *counters, const struct spop_value *values,
                          enum first_argument argument, uint32_t max)
{
	uint64_t number;

	if (argument_number(&values[argument], &number) && number <= max)
		return (uint32_t)number;
	counters->bad_first_arguments[argument] += values[argument].type != SPOP_TYPE_NULL;
	return 0;
}

/* A server on a unix socket has no address: then its name must do. */
static struct span address_of(struct message_counters *counters, const struct spop_value *values,
                              char text[ADDRESS_MAX_BYTES])
{
	const struct spop_value *address = &values[FIRST_ADDRESS];
	uint32_t port = number_at(counters, values, FIRST_PORT, PORT_MAX);
	bool is_ipv6 = address->type == SPOP_TYPE_IPV6;
	char host[INET6_ADDRSTRLEN];
	int length;

	if (!is_ipv6 && address->type != SPOP_TYPE_IPV4) {
		counters->bad_first_arguments[FIRST_ADDRESS] += address->type != SPOP_TYPE_NULL;
		return (struct span){ NULL, 0 };
	}
	if (port == 0 ||
	    !inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, address->address, host, sizeof(host)))
		return (struct span){ NULL, 0 };
	length = snprintf(text, ADDRESS_MAX_BYTES, is_ipv6 ? "[%s]:%u" : "%s:%u", host, port);
	return (struct span){ text, (size_t)length };
}

enum spop_error response_read(struct message_context *context, struct spop_input *in,
                              uint32_t arguments, struct response *ret_response)
{
	struct message_counters *counters = &context->counters;
	struct spop_value values[FIRST_ARGUMENT_COUNT] = { 0 };
	struct first_byte *event = &ret_response->event;
	struct spop_input rest = *in;
	enum spop_error error = values_read(counters, &rest, arguments, values);

	if (error != SPOP_NONE)
		return error;
	*event = (struct first_byte){ .status = 0 };
	event->id = text_at(counters, values, FIRST_ID);
	counters->bad_first_arguments[FIRST_ID] += values[FIRST_ID].type == SPOP_TYPE_NULL;
	event->by.backend = text_at(counters, values, FIRST_BACKEND);
	event->by.server = text_at(counters, values, FIRST_SERVER);
	event->by.address = address_of(counters, values, ret_response->address);
	event->status = number_at(counters, values, FIRST_STATUS, STATUS_MAX);
	if (number_at(counters, values, FIRST_VERSION, UINT32_MAX) != CONTRACT_VERSION)
		context->facts->counters->bad_contract++;
	*in = rest;
	return SPOP_NONE;
}

bool response_run(struct message_context *context, const struct response *response,
                  struct spop_output *out)
{
	struct feedback feedback;

	if (!response->event.id.at)
		return false;
	feedback = feedback_first_byte(context->facts, &response->event, context->now());
	if (context->on_first_byte)
		context->on_first_byte(context->data, &response->event, &feedback);
	/* HAProxy waits with the headers: in time for another id. */
	if (!feedback.session_at || context->observe)
		return false;
	answer_write_session(out, &context->facts->policy->session, feedback.session_at);
	return true;
}
