/* runtime_text.h - reads what HAProxy answers to the questions of discovery.
 *
 * Pure. Columns are found by the names in the header, so that another version's
 * columns, more or fewer, do no harm: what is not there is not known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "policies/core/target.h"

/* What discovery asks, in one connection. */
#define RUNTIME_QUESTIONS "show info;show servers state;show stat -1 6 -1"

struct runtime_info {
	uint32_t pid;
	struct span version; /* "2.6.12-1+deb12u4"; empty when not said */
	struct span node;    /* the host's name, as %H logs it */
	uint64_t dropped_logs;
	bool stopping;
};

/* One server. Spans borrow the text. */
struct runtime_server {
	struct span backend, name;
	char address[ADDRESS_MAX_BYTES]; /* "ip:port", "[ip6]:port"; "" = has none */
	uint8_t operation;      /* srv_op_state: 0 stopped 1 starting 2 running 3 stopping */
	uint8_t administration; /* srv_admin_state, bits */
	double weight;          /* as set now, or as configured where an agent-check sets it */
	bool counted;           /* show stat has it, and so the next three */
	uint32_t current;       /* scur */
	uint32_t queued;        /* qcur */
	uint32_t waiting;       /* qcur of its backend: requests that wait for any server */
	uint32_t limit;         /* slim; 0 = none */
};

bool runtime_server_up(const struct runtime_server *server);
bool runtime_server_maintenance(const struct runtime_server *server);
bool runtime_server_draining(const struct runtime_server *server);

struct runtime_facts {
	struct runtime_info info;
	struct runtime_server *servers; /* the caller's array */
	size_t room;                    /* of it */
	size_t count;                   /* that were read */
	size_t left_out;                /* that found no room */
};

/* The whole answer to RUNTIME_QUESTIONS. servers and room are given. False when it
 * is not one: no pid, or no table of servers; then only count may have changed. */
MUST_CHECK bool runtime_text_read(struct span answer, struct runtime_facts *facts);
