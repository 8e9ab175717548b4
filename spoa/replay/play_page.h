/* play_page.h - what a scrape of a simulated engine tells the facts. */
#pragma once

#include "policies/state/facts.h"
#include "spoa/replay/play.h"

void play_page(struct facts *facts, uint32_t target, const struct play *play, uint32_t replica,
               usec_t now);
