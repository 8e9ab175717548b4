/* haproxy_condition.h - whether HAProxy would read what follows an .if.
 *
 * Terms are joined by && and ||, each may have a ! before it; && binds tighter.
 * Known are numbers, true, false, version_atleast(), version_before(),
 * feature(), streq(), strneq() and defined(). A term we do not know, one with
 * parentheses included, counts as true: better a rule too many than one too few. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spoa/config/haproxy_words.h"

/* 2.6.12 as one number; a part that is missing is 0. */
uint32_t haproxy_condition_version(struct span text);

/* words: of the line, the .if among them, each with a NUL. PCRE2 counts as a
 * feature that is there, all others do not. */
bool haproxy_condition_holds(const char *const *words, uint32_t count, uint32_t version,
                             const struct haproxy_environment *environment);
