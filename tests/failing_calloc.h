/* failing_calloc.h - memory runs out when a test says so. The linker puts this in calloc()'s
 * place (tests/CMakeLists.txt) in programs that include it. */
#pragma once

#include <stddef.h>

/* The how manieth calloc() from now fails; 0 is none. */
static int failing;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return failing > 0 && --failing == 0 ? NULL : __real_calloc(count, size);
}
