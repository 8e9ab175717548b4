/* page.h - an engine's page was read: what it says of now, and what it teaches. */
#pragma once

#include <stdbool.h>

#include "policies/state/facts.h"

/* Replaces all that the last page of the target said; sets the page's own counts. The
 * instances that list the engine learn how long answers are. True when it turns out that
 * the engine has restarted: what was known of its cache and its speed is gone then. */
bool page_read(struct facts *facts, uint32_t target, struct engine_page *page);
