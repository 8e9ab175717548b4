/* signals.c - the table of signals. */
#include "policies/signals/signals.h"

#include "policies/core/name.h"

#define AS_ENTRY(name) &signal_##name,
static const struct signal *const signals[] = { SIGNALS(AS_ENTRY) };
#undef AS_ENTRY

const struct signal *signal_named(struct span name)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (name_is(signals[i]->name, name))
			return signals[i];
	}
	return NULL;
}
