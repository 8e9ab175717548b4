/* policy_file.h - a loaded policy and what it was made of; for spoa/config only. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/arena.h"
#include "spoa/config/document.h"

struct policy_file {
	struct arena *arena; /* of all that the policy points at */
	struct document *document;
	char *name;
	uint64_t hash; /* of the text; 0: embedded */
	struct policy policy;
};
