/* classes.h - what a policy file says of classes and of HAProxy's queue. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* Before whatever names a class. */
void classes_load(const struct loading *loading, struct policy *policy);
/* The class that the text names; NULL, after a complaint, when there is none, and without
 * one when node is NULL. */
const struct class_policy *class_load(const struct loading *loading, const struct policy *policy,
                                      const struct node *node);
