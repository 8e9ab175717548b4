/* state.h - what the agent knows, as JSON: the objects behind `show`.
 *
 * Each gives a new object, NULL when memory ran out. Field names are stable; what
 * is not known is null, never 0. */
#pragma once

#include <jansson.h>

#include "spoa/admin/sources.h"

json_t *state_agent(const struct sources *sources);
json_t *state_instances(const struct sources *sources);
/* Of one instance; of all when instance is NULL. */
json_t *state_replicas(const struct sources *sources, const char *instance);
/* Parts of these: the engine's own page, null without one; what was learnt of the replica,
 * and of the instance's answers. */
json_t *state_engine_json(const struct sources *sources, uint32_t target);
json_t *state_learnt_json(const struct sources *sources, const struct instance *instance,
                          uint32_t target);
json_t *state_answers_json(const struct sources *sources, uint32_t instance);
json_t *state_prefix(const struct sources *sources);
json_t *state_sessions(const struct sources *sources);
json_t *state_adapters(const struct sources *sources);
json_t *state_haproxy(const struct sources *sources);
/* "pinned", "new"... */
const char *session_result_name(enum session_result result);
/* What is used of limits, of those who use something. */
json_t *state_limits(const struct sources *sources);
/* The callers that had most lately. */
json_t *state_tenants(const struct sources *sources);
/* The store by which agents share, and who else is heard. */
json_t *state_store(const struct sources *sources);
/* Every option of the policy by its name, and its instances, rules and aliases. */
json_t *state_config(const struct sources *sources);
