/* log_line.h - reads HAProxy's end-of-stream line (END_FIELDS of
 * spoa/messages/contract.h).
 *
 * Pure: text in, plain data out, no I/O. The fields come in one fixed order; a
 * contract's later fields and an operator's own text stand behind ours and are
 * not looked at. */
#pragma once

#include "policies/core/error.h"
#include "policies/feedback.h"

/* LOG_LINE_RESULT(id, text): what can be said of a line. */
#define LOG_LINE_RESULTS(LOG_LINE_RESULT)                                                          \
	LOG_LINE_RESULT(OK, "ok")                                                                  \
	LOG_LINE_RESULT(FOREIGN, "not a line of ours")                                             \
	LOG_LINE_RESULT(EVENT, "an event that is not the end")                                     \
	LOG_LINE_RESULT(FIELD, "a field is missing or not in its place")                           \
	LOG_LINE_RESULT(VALUE, "a value is not what its field holds")                              \
	LOG_LINE_RESULT(EARLY, "logged before the stream ended")

#define AS_ENUM(id, text) LOG_LINE_##id,
enum log_line_result { LOG_LINE_RESULTS(AS_ENUM) LOG_LINE_RESULT_COUNT };
#undef AS_ENUM

/* In words, for logs and metrics. */
const char *log_line_text(enum log_line_result result);

/* Spans borrow the line; end.by.address may borrow `address` instead, so this is
 * not to be copied while it is in use. end.by.source is 0: who knows the process
 * fills it in. */
struct log_line {
	struct stream_end end;
	struct span process; /* "host/pid"; at NULL when not said */
	char address[ADDRESS_MAX_BYTES];
};

/* The line has no newline any more. On anything but LOG_LINE_OK *ret_line is as it
 * was. */
MUST_CHECK enum log_line_result log_line_read(struct span line, struct log_line *ret_line);
