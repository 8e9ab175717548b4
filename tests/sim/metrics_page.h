/* metrics_page.h - the engine's metric page, with vLLM's names. */
#pragma once

#include "tests/sim/bytes.h"

struct engine;

void metrics_page_write(struct engine *engine, struct bytes *out);
