/* model_names.h - what the model of a request is called. */
#pragma once

#include "policies/core/span.h"

struct model_names {
	struct span own;  /* by the policy and the engines; by the client, if they know it not */
	struct span base; /* of a LoRA adapter: the model that it changes; else empty */
};
