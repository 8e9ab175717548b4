/* file_watch.h - notices that a file is another one than it was.
 *
 * By looking at it now and then, through every link on the way: a mounted ConfigMap
 * changes by a link two levels above the file, of which a watch of the file itself
 * is told nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What tells one content of a file from another. All zero: there is none. */
struct file_mark {
	uint64_t device, inode, size;
	int64_t changed_ns;
};

struct file_watch {
	struct file_mark known; /* the content that was taken last */
	struct file_mark seen;  /* by the last look */
};

/* What is there now is known. */
void file_watch_init(struct file_watch *watch, const char *path);
/* True once for each new content, when two looks in a row saw the same: a file that is
 * being written is not read half. A file that is gone is no new content. */
bool file_watch_look(struct file_watch *watch, const char *path);
