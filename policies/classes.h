/* classes.h - classes of requests: who goes before whom in HAProxy's queue, and within
 * what a request is to be served. */
#pragma once

#include <stddef.h>

#include "policies/core/option.h"
#include "policies/core/policy.h"
#include "policies/core/span.h"

extern const struct option class_options[];     /* of struct class_policy */
extern const struct option objective_options[]; /* of struct objectives */

/* Built-in class i: interactive, default, batch; NULL after the last. The policy may
 * have its own of the same names. */
const struct class_policy *class_builtin(size_t i);

/* The policy's own, else the built-in one; NULL when there is none of that name. */
const struct class_policy *class_named(const struct policy *policy, struct span name);
