/* check_ours.h - which requests and backends are ours, where HAProxy serves others, too. */
#pragma once

#include "spoa/config/check_facts.h"

/* The acl of the frontend that tells ours from others'; NULL where all are ours. Of facts the
 * proxies, the frontend and the engine must be known. */
const struct haproxy_line *check_ours(const struct facts *facts);

/* True if the acl lists backends, and not this one. */
bool ours_leave_out(const struct haproxy_line *ours, const char *backend);

/* True if the rule holds of all that are ours: it has no condition, or just that acl. */
bool ours_are_all(const struct haproxy_line *ours, const struct haproxy_line *line);
