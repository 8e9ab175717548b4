/* tables.h - JSON values and the rows of option tables.
 *
 * Durations and sizes are texts with a unit; the bare number 0 needs none.
 * Names compare as in name.h. */
#pragma once

#include "policies/core/option.h"
#include "spoa/config/loading.h"
#include "spoa/config/near.h"

/* Complains when the value does not fit the row. */
void table_check(const struct loading *loading, const struct option *option,
                 const struct node *node);

/* Every row of the table that the object names, into the settings; what does
 * not fit is left alone, table_check() has told. object may be NULL. */
void table_load(const struct option *options, void *settings, const struct node *object);

/* NULL when the table has no row of the node's name. */
const struct option *table_row(const struct option *options, const struct node *node);

/* Offers the names of all rows. */
void table_offer(const struct option *options, struct near *near);

/* "a list", "a text": for messages. */
const char *json_kind(const json_t *value);
