/* pattern.c - names with a star in them. */
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

bool pattern_fits(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t before = star ? (size_t)(star - pattern) : 0, after, len;

	if (!star)
		return name[0] != '\0' && strcmp(pattern, name) == 0;
	after = strlen(star + 1);
	len = strlen(name);
	return len > 0 && len >= before + after && memcmp(pattern, name, before) == 0 &&
	       memcmp(star + 1, name + len - after, after) == 0;
}
