/* session_id.h - what a client calls the replica that served it, and to whom a key
 * of its own falls.
 *
 * An id names an address: base64 of "ip:port", or the 16 hex digits of
 * XXH64("ip:port", a secret's seed), which tell nothing to who does not have the
 * secret. An id that comes back is compared with the ids of those who could be
 * chosen anyway, and never used as an address, so a forged one leads nowhere else.
 *
 * A key falls to the target of the highest XXH64(key, a zero byte, "ip:port"):
 * rendezvous hashing. Agents that see the same targets agree without a word, and
 * a target that goes takes only its own keys along. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/policy.h"
#include "policies/core/span.h"
#include "policies/core/target.h"

enum {
	SESSION_KEY_MAX = 256,                                /* bytes; a longer one is none */
	SESSION_ID_MAX = (ADDRESS_MAX_BYTES + 2) / 3 * 4 + 1, /* bytes of an id, with its NUL */
};

/* An id as a client sent it. */
struct session_id {
	bool opaque;
	uint64_t number;                 /* if opaque */
	char address[ADDRESS_MAX_BYTES]; /* else; it need not exist */
};

/* Of a secret: a number stands for itself, another text for its hash. */
uint64_t session_seed(const char *secret);

/* Its length; ret_text is terminated. */
size_t session_id_write(const struct session_policy *policy, const char *address,
                        char ret_text[SESSION_ID_MAX]);

/* False when the text has the form of no id, of neither kind: it is a key. */
bool session_id_read(struct span text, struct session_id *ret_id);
/* Whether it is the address's by this policy. */
bool session_id_names(const struct session_policy *policy, const struct session_id *id,
                      const char *address);

/* Room for a key and one address after the other. */
struct rendezvous {
	char text[SESSION_KEY_MAX + 1 + ADDRESS_MAX_BYTES];
	size_t key; /* bytes, with the zero byte */
};

/* Of the key's first SESSION_KEY_MAX bytes. */
void rendezvous_begin(struct rendezvous *rendezvous, struct span key);
uint64_t rendezvous_weight(struct rendezvous *rendezvous, const char *address);
