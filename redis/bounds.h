/* bounds.h - may these bytes be unpacked at all: is it one msgpack value, and no larger
 * than it looks?
 *
 * msgpack-c believes a header: five bytes that promise 16 million elements make it ask for
 * 400 MB before it finds that there are none. So headers are walked first: an element takes
 * at least a byte, hence no array or map may promise more than there are bytes left, and
 * what promises nothing false costs at most a fixed number of bytes per byte read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One value, all of the bytes, at most so deep: arrays within arrays (1: a plain value). */
bool bounds_hold(const void *bytes, size_t size, unsigned depth);
