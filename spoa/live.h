/* live.h - asks what runs right now, once: HAProxy's runtime sockets, and each engine for the
 * models it serves and its version. For `check --live`; it waits for the answers. */
#pragma once

#include "policies/state/fleet.h"
#include "spoa/observe/credential.h"

struct json_t;

enum { LIVE_TEXT_MAX = 96 };

struct live_haproxy {
	const char *address;
	char version[LIVE_TEXT_MAX];
	char error[LIVE_TEXT_MAX]; /* "" = it answered */
};

struct live_engine {
	uint32_t target;
	int status;                  /* of /v1/models; 0: no answer */
	char error[LIVE_TEXT_MAX];   /* then why */
	char version[LIVE_TEXT_MAX]; /* "" = it does not say */
	uint32_t count;              /* of names; only with status 200 */
	char names[INSTANCE_MODELS_MAX][NAME_MAX_BYTES];
};

struct live {
	struct fleet *fleet;
	struct live_haproxy haproxy[SOURCES_MAX];
	uint32_t haproxy_count;
	struct live_engine *engines; /* by place, each target once */
	uint32_t engine_count;
};

/* policy: for names; must outlive it. credential: for engines; NULL: none. NULL when out of
 * memory, or with an address that cannot be (then *error says which). */
MUST_CHECK struct live *live_new(const struct policy *policy, const char *const *sockets,
                                 size_t socket_count, const struct credential *credential,
                                 struct error *error);
void live_free(struct live *live);
/* NULL when it was not asked. */
const struct live_engine *live_engine_at(const struct live *live, uint32_t target);
bool live_serves(const struct live_engine *engine, const char *model);
