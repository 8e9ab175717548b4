/* pickers.c - the table of pickers. */
#include "policies/pickers/pickers.h"

#include "policies/core/name.h"

#define AS_ENTRY(name) &picker_##name,
static const struct picker *const pickers[] = { PICKERS(AS_ENTRY) };
#undef AS_ENTRY

const struct picker *picker_named(struct span name)
{
	if (name_is("global-best", name))
		return &picker_best;
	for (size_t i = 0; i < sizeof(pickers) / sizeof(pickers[0]); i++) {
		if (name_is(pickers[i]->name, name))
			return pickers[i];
	}
	return NULL;
}
