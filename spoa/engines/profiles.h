/* profiles.h - all kinds of engines that are known: those of the program, and the
 * operator's, which add to them or replace one of the same name. */
#pragma once

#include "policies/core/span.h"
#include "spoa/config/problems.h"
#include "spoa/engines/profile.h"

enum { PROFILES_MAX = 64, PROFILE_TERMS_MAX = 2048 };

struct engine_profiles;

/* directory: with files *.json; NULL: none. NULL when a file is wrong or cannot be read,
 * or there is no memory: the problems say why. */
struct engine_profiles *engine_profiles_load(const char *directory, struct problems *problems);
/* One file's text, for tests and fuzzing: nothing but it is known. */
struct engine_profiles *engine_profiles_parse(const char *file, const char *text, size_t bytes,
                                              struct problems *problems);
void engine_profiles_free(struct engine_profiles *profiles);

size_t engine_profiles_count(const struct engine_profiles *profiles);
const struct engine_profile *engine_profiles_at(const struct engine_profiles *profiles, size_t i);
/* NULL: none. */
const struct engine_profile *engine_profiles_named(const struct engine_profiles *profiles,
                                                   const char *name);
/* By the owner of its models. NULL: none. */
const struct engine_profile *engine_profiles_owner(const struct engine_profiles *profiles,
                                                   struct span owner);
/* Where engines have their page: all paths of all profiles, each once. */
struct texts engine_profiles_pages(const struct engine_profiles *profiles);

const struct term *engine_profiles_terms(const struct engine_profiles *profiles,
                                         uint32_t *ret_count);
/* The first term of this name, the others follow by next; TERM_NONE: no profile asks for it. */
uint32_t engine_profiles_term(const struct engine_profiles *profiles, struct span name);
