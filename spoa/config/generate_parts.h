/* generate_parts.h - pieces of a haproxy.cfg that only generate_*.c put together. */
#pragma once

#include <stdio.h>

#include "spoa/config/generate.h"

/* The http-request return rules, a status and a dialect each. */
void generate_refusals(FILE *out);
/* The headers that tell a caller what is left of its limits. */
void generate_quotas(FILE *out);

/* HAProxy's own errors as JSON. */
void generate_own_errors(FILE *out);

/* One instance; servers named A0.. are the addresses of the environment. */
void generate_backends(const struct generate *generate, FILE *out);
