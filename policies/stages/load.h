/* load.h - what engines, HAProxy and averages say of the candidates. */
#pragma once

#include "policies/core/route.h"

/* Fills candidate->load of the whole pool. */
void load_read(struct walk *walk);

/* The reading is recent enough to refuse a request on its word. */
bool load_trusts_running(const struct walk *walk, const struct candidate *candidate);
bool load_trusts_ttft(const struct walk *walk, const struct candidate *candidate);
bool load_trusts_e2e(const struct walk *walk, const struct candidate *candidate);
