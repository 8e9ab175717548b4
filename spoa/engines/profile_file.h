/* profile_file.h - from JSON to a profile. Of profiles.c only. */
#pragma once

#include "spoa/config/loading.h"
#include "spoa/engines/profile.h"

struct terms {
	struct term *at; /* room */
	uint32_t count, room;
};

/* Texts are copied to loading's arena. False when something is wrong with it: the problems
 * say what, and what was added to the terms is meaningless. index: of the profile. */
bool profile_file_read(const struct loading *loading, uint32_t index, struct terms *terms,
                       struct engine_profile *ret_profile);

/* The part "metrics", and helpers of both. */
void profile_metrics_read(const struct loading *loading, const struct node *metrics, uint32_t index,
                          struct terms *terms);
/* Every key must be one of these; names end in NULL. */
void profile_keys(const struct loading *loading, const struct node *object,
                  const char *const *names);
/* A copy; NULL, with a problem, when it is no text of 1..127 bytes. */
const char *profile_text(const struct loading *loading, const struct node *node);
