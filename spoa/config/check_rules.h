/* check_rules.h - what is looked at in a haproxy.cfg, in this order.
 *
 * CHECK(name): a function over the facts of one filter; each reports under one
 * or several rules. Words in braces of a text are what was found. */
#pragma once

#include "spoa/config/check_facts.h"

#define CHECKS(CHECK)                                                                              \
	CHECK(global)                                                                              \
	CHECK(limits)                                                                              \
	CHECK(asking)                                                                              \
	CHECK(arguments)                                                                           \
	CHECK(answering)                                                                           \
	CHECK(first_byte)                                                                          \
	CHECK(spoe)                                                                                \
	CHECK(headers)                                                                             \
	CHECK(sessions)                                                                            \
	CHECK(hand_over)                                                                           \
	CHECK(roles)                                                                               \
	CHECK(messages)                                                                            \
	CHECK(log)                                                                                 \
	CHECK(log_format)                                                                          \
	CHECK(agent)                                                                               \
	CHECK(pulling)                                                                             \
	CHECK(agent_check)                                                                         \
	CHECK(backends)

#define AS_FUNCTION(name) void check_##name(const struct facts *facts);
CHECKS(AS_FUNCTION)
#undef AS_FUNCTION
