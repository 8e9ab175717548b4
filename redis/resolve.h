/* resolve.h - the addresses of a name, without the loop waiting for them.
 *
 * An address in numbers is read at once. A name is looked up by a thread that lives as
 * long as the look-up; there is at most one of them. A resolver that does not answer
 * holds up nobody but this name. */
#pragma once

#include <ev.h>
#include <stdint.h>
#include <sys/socket.h>

#include "policies/core/error.h"

enum { REDIS_ADDRESSES_MAX = 4 };

struct redis_address {
	struct sockaddr_storage storage;
	socklen_t length;
};

struct redis_addresses {
	unsigned count;
	struct redis_address at[REDIS_ADDRESSES_MAX];
};

/* False: it is a name, not an address. */
bool redis_address_read(const char *host, uint16_t port, struct redis_addresses *ret_addresses);
/* A unix socket; the path must fit (sun_path). */
void redis_address_of_path(const char *path, struct redis_addresses *ret_addresses);

struct redis_resolve;

/* NULL: out of memory. */
struct redis_resolve *redis_resolve_new(struct ev_loop *loop);
/* No callback after this; a look-up under way ends by itself. */
void redis_resolve_free(struct redis_resolve *resolve);

/* Calls back once, never from inside this call: with addresses, or with none and why.
 * While a look-up of the same name is under way its result is taken; one of another name
 * is forgotten first. False, and no callback: no thread can be had. */
MUST_CHECK bool redis_resolve_ask(struct redis_resolve *resolve, const char *host, uint16_t port,
                                  void (*on_resolved)(void *data,
                                                      const struct redis_addresses *addresses,
                                                      const char *problem),
                                  void *data);
/* No callback for what was asked; its result may serve the next. */
void redis_resolve_leave(struct redis_resolve *resolve);
