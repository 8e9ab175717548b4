/* check_live.h - does what runs fit the policy: backends, engines, and above all the names of
 * models. A client's name stands in the body, which HAProxy cannot change; so each engine has
 * to serve that name, whatever it calls the model itself. */
#pragma once

#include "spoa/config/policy.h"
#include "spoa/live.h"

/* file: the policy, the embedded default at least. */
void check_live(const struct policy_file *file, const struct live *live, struct problems *problems);
