/* classes.h - classes of requests: who goes before whom in HAProxy's queue. */
#pragma once

#include <stddef.h>

#include "policies/core/policy.h"
#include "policies/core/span.h"

/* Built-in class i: interactive, default, batch; NULL after the last. The policy may
 * have its own of the same names. */
const struct class_policy *class_builtin(size_t i);

/* The policy's own, else the built-in one; NULL when there is none of that name. */
const struct class_policy *class_named(const struct policy *policy, struct span name);
