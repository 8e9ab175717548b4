/* metrics_page.h - the engine's metric page, with the names of a real one. */
#pragma once

#include <stdbool.h>

#include "tests/sim/bytes.h"

struct engine;

/* False when it has no page. */
bool metrics_page_write(struct engine *engine, struct bytes *out);
