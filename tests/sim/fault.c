/* fault.c - a word or a number, perhaps a colon and a number. */
#include "tests/sim/fault.h"

#include <string.h>

#include "tests/sim/http.h"

static const struct {
	const char *name;
	enum fault_kind kind;
} faults[] = {
#define X(kind, name, help) { name, FAULT_##kind },
	FAULTS(X)
#undef X
};

bool fault_parse(struct span text, struct fault *ret_fault)
{
	const char *colon = text.len > 0 ? memchr(text.at, ':', text.len) : NULL;
	struct span word = { text.at, colon ? (size_t)(colon - text.at) : text.len };
	int64_t status = span_number(word);
	int64_t argument = -1;

	if (colon) {
		argument = span_number((struct span){ colon + 1, text.len - word.len - 1 });
		if (argument < 0 || argument > 3600000)
			return false;
	}
	if (status >= 400 && status <= 599) {
		*ret_fault = (struct fault){ FAULT_STATUS, (int)status, (int)argument, 0 };
		return true;
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (!span_is(word, faults[i].name) ||
		    (faults[i].kind == FAULT_SLOW) != (colon != NULL))
			continue;
		*ret_fault = (struct fault){ faults[i].kind, 0, -1, colon ? (int)argument : 0 };
		return true;
	}
	return false;
}
