/* trace_lines.h - one line of a recorded file at a time; for trace.c. */
#pragma once

#include "spoa/replay/trace.h"

enum trace_kind { TRACE_PUBLIC, TRACE_DECISIONS, TRACE_ENDS, TRACE_UNKNOWN };

enum line_result {
	LINE_TAKEN,
	LINE_PASSED, /* well formed, and no request */
	LINE_BAD,
	LINE_NO_MEMORY,
};

/* The end of a request that another line told of. */
struct trace_answer {
	uint64_t id; /* hash of the unique-id */
	uint64_t bytes;
};

struct line_reader {
	struct trace *trace;
	const struct ladder *ladder;
	enum trace_kind kind;
	const char *expected; /* set with LINE_BAD: what should have been there */
	uint64_t *ids;        /* of decisions: one for each request, malloced */
	struct trace_answer *answers;
	size_t id_room, answer_count, answer_room;
};

/* What a file with this first line is. */
enum trace_kind trace_kind_of(const char *line);
/* The line has no newline any more. */
enum line_result trace_line(struct line_reader *reader, const char *line);
/* Behind the last line: answers find their requests. */
void trace_lines_join(struct line_reader *reader);
