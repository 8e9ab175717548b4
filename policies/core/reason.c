/* reason.c - reasons in words. */
#include "policies/core/reason.h"

const char *reason_name(enum reason reason)
{
#define AS_NAME(id, name, help) name,
	static const char *const names[] = { REASONS(AS_NAME) };
#undef AS_NAME

	return (unsigned int)reason < REASON_COUNT ? names[reason] : "unknown";
}
