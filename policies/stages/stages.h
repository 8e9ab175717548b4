/* stages.h - every stage there is. Their order is in policies/pipeline.c. */
#pragma once

#include "policies/stages/stage.h"

extern const struct stage stage_collect;
extern const struct stage stage_role;
extern const struct stage stage_health;
extern const struct stage stage_affinity;
extern const struct stage stage_retried;
extern const struct stage stage_limits;
extern const struct stage stage_measure;
extern const struct stage stage_adapter;
extern const struct stage stage_session;
extern const struct stage stage_prefix;
extern const struct stage stage_admission;
extern const struct stage stage_objective;
extern const struct stage stage_share;
extern const struct stage stage_serving;
extern const struct stage stage_imbalance;
extern const struct stage stage_deepest;
extern const struct stage stage_score;
