/* results.h - how a command ends and why a link is lost: the words of counters and logs. */
#pragma once

#include "policies/core/span.h"

/* How a command ended: name, label, what it means. The first line is the only good
 * one; those up to `error` are replies of the store, those after it are none. */
#define REDIS_RESULTS(X)                                                                           \
	X(OK, "ok", "the store did it")                                                            \
	X(LOADING, "loading", "it reads its file after a start")                                   \
	X(READONLY, "readonly", "it is a replica")                                                 \
	X(MASTERDOWN, "masterdown", "it is a replica without its primary")                         \
	X(MOVED, "moved", "another node of the cluster has the key")                               \
	X(ASK, "ask", "the key is on its way to another node")                                     \
	X(TRYAGAIN, "tryagain", "the keys are on two nodes for now")                               \
	X(CLUSTERDOWN, "clusterdown", "the cluster does not serve this key")                       \
	X(OOM, "oom", "its memory is full")                                                        \
	X(NOAUTH, "noauth", "no password, or a wrong one")                                         \
	X(NOPERM, "noperm", "the user may not do this")                                            \
	X(BUSY, "busy", "a script holds it up")                                                    \
	X(MISCONF, "misconf", "it cannot write its file, and refuses changes")                     \
	X(NOREPLICAS, "noreplicas", "too few replicas to take changes")                            \
	X(ERROR, "error", "any other error")                                                       \
	X(LATE, "late", "no reply before the deadline")                                            \
	X(LOST, "lost", "the link went down first")

enum redis_result {
#define X(name, label, meaning) REDIS_RESULT_##name,
	REDIS_RESULTS(X)
#undef X
	        REDIS_RESULT_COUNT
};

/* Why a link is not up: name, label, what it means. */
#define REDIS_FAULTS(X)                                                                            \
	X(NAME, "name", "the host's name has no address")                                          \
	X(REFUSED, "refused", "nobody listens there")                                              \
	X(UNREACHABLE, "unreachable", "the connection cannot be made")                             \
	X(CONNECT_LATE, "connect-late", "not connected, or not greeted, in time")                  \
	X(SILENT, "silent", "a command's deadline passed")                                         \
	X(CLOSED, "closed", "the store closed the connection")                                     \
	X(RESET, "reset", "the connection broke")                                                  \
	X(PROTOCOL, "protocol", "what came is no reply")                                           \
	X(TOO_BIG, "too-big", "a reply is larger than is taken")                                   \
	X(STRAY, "stray", "a reply that nobody asked for")                                         \
	X(LOADING, "loading", "the store reads its file after a start")                            \
	X(NOT_PRIMARY, "not-primary", "it is a replica")                                           \
	X(MOVED, "moved", "another node of the cluster has the keys")                              \
	X(AUTH, "auth", "the store does not take the user or the password")                        \
	X(REFUSES, "refuses", "the store answers the greeting with an error")                      \
	X(PASSWORD_FILE, "password-file", "the password cannot be read")                           \
	X(SENTINEL, "sentinel", "no sentinel names a primary")                                     \
	X(CHANGED, "changed", "the sentinels name another primary")                                \
	X(TLS, "tls", "no TLS with the other side")                                                \
	X(MEMORY, "memory", "out of memory")

enum redis_fault {
#define X(name, label, meaning) REDIS_FAULT_##name,
	REDIS_FAULTS(X)
#undef X
	        REDIS_FAULT_COUNT
};

/* Labels: lower case, with dashes. */
const char *redis_result_label(enum redis_result result);
const char *redis_result_meaning(enum redis_result result);
const char *redis_fault_label(enum redis_fault fault);
const char *redis_fault_meaning(enum redis_fault fault);

/* Which error a reply beginning with '-' is; its text without the dash. Never OK, LATE, LOST. */
enum redis_result redis_result_of_error(struct span text);
