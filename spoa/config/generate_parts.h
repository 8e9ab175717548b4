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

/* Where an ingress' pod finds the SPOE file: a directory of ours, mounted as one. */
#define GENERATE_INGRESS_ETC  "/etc/inference-spoa/haproxy"
#define GENERATE_INGRESS_SPOE GENERATE_INGRESS_ETC "/spoe.cfg"

/* Who is told of each end, and how it is written. */
void generate_loggers(const struct generate *generate, FILE *out);
void generate_filter(const struct generate *generate, FILE *out);

/* One instance; servers named A0.. are the addresses of the environment. */
void generate_backends(const struct generate *generate, FILE *out);

/* The agent's backends and the ring of end lines; of the reference configuration, or of the
 * ingress' auxiliary file. */
void generate_agents(const struct generate *generate, FILE *out);

/* Keeps what the first try said, where HAProxy tries again. */
void generate_first_try(const struct generate *generate, FILE *out);
/* Pins a request to the replica that was answered. */
void generate_pin(FILE *out);

/* True where the end line is a log profile beside the frontend's own log-format. */
bool generate_has_profile(const struct generate *generate);
