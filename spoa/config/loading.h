/* loading.h - what every part of the loader is handed: where to complain, and
 * where to take memory. */
#pragma once

#include "spoa/config/arena.h"
#include "spoa/config/document.h"
#include "spoa/config/problems.h"

struct policy; /* policies/core/policy.h */

struct loading {
	const char *file;
	struct problems *problems;
	struct arena *arena; /* of the policy that is being made */
	const struct node *root;
	const struct policy *policy; /* the one that is being made */
	struct recipe *recipes;      /* made so far: spoa/config/recipe.h */
	struct named *named;         /* ... and spoa/config/strategy.h */
};

/* An error at the value of the node, or at its key. */
void loading_error(const struct loading *loading, const struct node *node, const char *rule,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void loading_key_error(const struct loading *loading, const struct node *node, const char *rule,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Nothing is wrong, but the operator should know. */
void loading_note(const struct loading *loading, const struct node *node, const char *rule,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same at the value, but the policy can be used. */
void loading_warning(const struct loading *loading, const struct node *node, const char *rule,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* count pieces of memory for the policy; a problem when there is none. */
void *loading_take(const struct loading *loading, size_t count, size_t size);
