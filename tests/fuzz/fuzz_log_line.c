/* fuzz_log_line.c - any text is a line of ours or is not; what is read lies inside
 * it, and a refused line changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "spoa/observe/log_line.h"
#include "tests/fuzz/fuzz.h"

static int inside(struct span part, const char *from, size_t size)
{
	return part.len == 0 ||
	       (part.at >= from && part.len <= size && (size_t)(part.at - from) <= size - part.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct log_line line, before;

	memset(&before, 0x5a, sizeof(before));
	line = before;
	if (log_line_read((struct span){ text, size }, &line) != LOG_LINE_OK) {
		if (memcmp(&line, &before, sizeof(line)) != 0)
			abort();
		return 0;
	}
	if (line.end.id.len == 0 || !inside(line.end.id, text, size) ||
	    !inside(line.process, text, size) || !inside(line.end.by.backend, text, size) ||
	    !inside(line.end.by.server, text, size) || !inside(line.end.instance, text, size) ||
	    !inside(line.end.replica, text, size) || !inside(line.end.reason, text, size))
		abort();
	if (!inside(line.end.by.address, text, size) &&
	    !inside(line.end.by.address, line.address, sizeof(line.address)))
		abort();
	if (line.end.total_ms < -1 || line.end.status < -1 || line.end.status > 999 ||
	    (line.end.applied && line.end.instance.len == 0))
		abort();
	return 0;
}
