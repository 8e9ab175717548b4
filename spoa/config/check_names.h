/* check_names.h - does what a policy names exist in HAProxy's configuration? */
#pragma once

#include "spoa/config/policy.h"

enum { CHECK_CONFIGS_MAX = 16 };

/* Instances must be backends of one of the files, replicas servers in them, by
 * name or address. version as HAProxy says it; NULL: the newest. Files that
 * cannot be read are somebody else's problem: then nothing is checked. */
void check_names(const struct policy_file *file, const char *const *configs, size_t count,
                 const char *version, struct problems *problems);
