/* names.h - lists of names in a policy file. */
#pragma once

#include "policies/core/target.h"
#include "spoa/config/loading.h"

/* The texts of a list, in order; NULL and 0 when there are none. Complains about
 * those that occur twice. list may be NULL. */
char (*names_load(const struct loading *loading, const struct node *list,
                  uint32_t *ret_count))[NAME_MAX_BYTES];
/* Cuts what is too long: the check has told. */
void name_copy(char ret_name[NAME_MAX_BYTES], const char *name);
