/* messages.h - what HAProxy asks and tells us: the list, and what each is for.
 *
 * MESSAGE(id, name, help): one file each, one function each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/route.h"
#include "policies/feedback.h"
#include "spoa/messages/contract.h"
#include "spoa/spop/value.h"

struct decider;

#define MESSAGES(MESSAGE)                                                                          \
	MESSAGE(route, CONTRACT_ROUTE, "asks where a request shall go")                            \
	MESSAGE(response, CONTRACT_FIRST, "tells that the first byte of an answer is there")

#define AS_ENUM(id, ...) MESSAGE_##id,
enum message { MESSAGES(AS_ENUM) MESSAGE_COUNT };
#undef AS_ENUM

/* Arguments by number, for counting: those of infer-route, then all its hashes as
 * one, then those of infer-first. */
#define AS_ENUM(id, ...) ROUTE_##id,
enum route_argument { ROUTE_ARGUMENTS(AS_ENUM) ROUTE_HASH, ROUTE_ARGUMENT_COUNT };
#undef AS_ENUM
#define AS_ENUM(id, ...) FIRST_##id,
enum first_argument { FIRST_ARGUMENTS(AS_ENUM) FIRST_ARGUMENT_COUNT };
#undef AS_ENUM

/* What the metric page shows; pulled, never pushed. */
struct message_counters {
	uint64_t messages[MESSAGE_COUNT];
	uint64_t unknown_messages;  /* other names, and repeats in a frame */
	uint64_t unknown_arguments; /* other names */
	uint64_t bad_route_arguments[ROUTE_ARGUMENT_COUNT]; /* of another type, or no number */
	uint64_t bad_first_arguments[FIRST_ARGUMENT_COUNT];
};

/* Filled by the agent; facts, decider and what the hooks need must outlive it. */
struct message_context {
	struct facts *facts;
	struct decider *decider;
	bool observe;        /* decide and report, answer nothing but action=observe */
	usec_t (*now)(void); /* monotonic */

	/* Either may be NULL. All arguments are good for the call only. took: from
	 * decoded arguments to the decision, by now(). */
	void (*on_decision)(void *data, const struct request *request,
	                    const struct decision *decision, usec_t took);
	void (*on_first_byte)(void *data, const struct first_byte *event,
	                      const struct feedback *feedback);
	void *data;

	struct message_counters counters;
};

/* What a NOTIFY was about. */
struct message_result {
	enum spop_error error; /* the payload is broken; nothing was decided or written */
	struct span decided;   /* id of the decision made, in the payload; at NULL: none */
};

enum { MESSAGES_ANSWER_MAX = 1536 }; /* bytes of actions a NOTIFY can be answered with */

/* Does what the messages of a NOTIFY ask, and writes the actions of its ACK, at
 * least one. source: which HAProxy asked. out must have MESSAGES_ANSWER_MAX bytes.
 * Each message of the list is heard once a frame. */
struct message_result messages_run(struct message_context *context, uint32_t source,
                                   struct spop_input payload, struct spop_output *out);

/* The answer to this id left later than HAProxy waits for it. */
void messages_late(struct message_context *context, struct span id);

/* "hash" for ROUTE_HASH. */
const char *route_argument_name(enum route_argument argument);
const char *first_argument_name(enum first_argument argument);
