/* defaults.h - what can be configured, and the policy without any configuration.
 *
 * The option tables name every knob of struct policy and of its parts; the
 * loader, the schema, the reference page and policy_default() read them. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/policy.h"

extern const struct option policy_options[];   /* of struct policy: process-wide */
extern const struct option prefix_options[];   /* of struct prefix_policy */
extern const struct option blend_options[];    /* of struct blend_policy */
extern const struct option health_options[];   /* of struct health_policy */
extern const struct option session_options[];  /* of struct session_policy */
extern const struct option entry_options[];    /* of struct entry_policy: a chain entry */
extern const struct option limits_options[];   /* of struct limits: admit and hard */
extern const struct option instance_options[]; /* of struct instance_policy */
extern const struct option replica_options[];  /* of struct replica_policy */
extern const struct option affinity_options[]; /* of struct affinity: one rule of affinity */
extern const struct option tenant_options[];   /* of struct tenant_policy */
extern const struct option sharing_options[];  /* of struct sharing_policy */
extern const struct option quota_options[];    /* of struct quota: limits of a caller or model */

/* The session headers that HAProxy sends, as arguments s0, s1...; NULL after the last. */
const char *session_header_at(size_t i);

/* Another strategy for the entry, with its picker's settings. */
void entry_use(struct entry_policy *entry, const struct strategy *strategy);
/* The embedded default: no rules, no instances named, least-work at both levels. */
void policy_default(struct policy *ret_policy);
/* A level 1 entry as this recipe wants it (the picker's own settings at their defaults). */
void entry_default(struct entry_policy *ret_entry, const struct strategy *strategy);
/* The same for level 2, where prefer-serving-below is off unless it is asked for. */
void entry_default_replicas(struct entry_policy *ret_entry, const struct strategy *strategy);
