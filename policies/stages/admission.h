/* admission.h - whether a target may take one more request, and when it could. */
#pragma once

#include "policies/core/route.h"

/* Over a hard limit by a number to be trusted, or its engine said it is busy:
 * only then a request may be refused for its sake. */
bool admission_over_hard(const struct walk *walk, const struct candidate *candidate);

/* The candidate may take this request, its limits stretched by relax; where a part
 * of the prompt that it holds stretches them further, by that. */
bool admission_admits(const struct walk *walk, const struct candidate *candidate, double relax);

/* Seconds until it may be below its hard limits; 0 when nothing tells. */
double admission_wait_s(const struct walk *walk, const struct candidate *candidate);
