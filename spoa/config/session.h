/* session.h - what a policy file says of sessions, beside its table of options. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* object: "session"; may be NULL. Reads the secret's file. */
void session_load(const struct loading *loading, const struct node *object,
                  struct session_policy *session);
