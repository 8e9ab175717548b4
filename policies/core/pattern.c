/* pattern.c - names that may end in a star. */
#include "policies/core/pattern.h"

#include <stdint.h>
#include <string.h>

size_t pattern_fit(const char *pattern, struct span name)
{
	size_t len = strlen(pattern);

	if (len == 0 || pattern[len - 1] != '*')
		return name.len == len && len > 0 && memcmp(pattern, name.at, len) == 0 ? SIZE_MAX
		                                                                        : 0;
	len--;
	if (name.len < len || (len > 0 && memcmp(pattern, name.at, len) != 0))
		return 0;
	return len + 1;
}
