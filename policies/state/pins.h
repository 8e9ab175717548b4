/* pins.h - which target a key is pinned to: a session's replica, or the replica
 * of somebody's failed try.
 *
 * A key is kept as 96 bits of its hash, never as text, and compared for equality
 * only. A pin lives until it has not been used for a time to live, until its
 * target is forgotten (its id is free, or its engine began anew), or until it is
 * the one used longest ago and there is no room.
 *
 * What is read for a decision is read by pins_find(), which changes nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "policies/core/target.h"
#include "policies/core/time.h"

struct pins;

struct pin_key {
	uint64_t hash;
	uint32_t check;
};

/* owner: a hash of what else belongs to the key. At NULL: of that alone. */
struct pin_key pin_key_of(struct span text, uint64_t owner);

/* A number of this pin at this target, never given twice; 0 = none. */
typedef uint64_t pin_serial;

struct pin {
	uint32_t target;
	uint32_t open; /* requests that hold it (pins_hold) */
	usec_t used_at;
	pin_serial serial;
};

struct pin_counts {
	uint64_t made, moved;
	uint64_t expired, evicted, forgotten; /* forgotten: its target was */
};

/* room: most pins, 1..2^24. targets: ids are below. NULL when out of memory. */
MUST_CHECK struct pins *pins_new(uint32_t room, uint32_t targets, usec_t ttl);
void pins_free(struct pins *pins);
/* Of pins that are there already, too. */
void pins_set_ttl(struct pins *pins, usec_t ttl);

/* False, and nothing stored, when it is pinned nowhere. */
bool pins_find(const struct pins *pins, struct pin_key key, usec_t now, struct pin *ret_pin);

/* It is used now. Where it is pinned nowhere it is pinned to the target. The
 * serial if that is where it is pinned, 0 if it is elsewhere; with a serial,
 * pins_release() must follow once. */
pin_serial pins_hold(struct pins *pins, struct pin_key key, uint32_t target, usec_t now);
/* Nothing happens if the pin is another by now. */
void pins_release(struct pins *pins, struct pin_key key, pin_serial serial);

/* To `to`, if it still is where it was, `from`; TARGET_NONE: nowhere. True if it
 * is at `to` now and was not. */
bool pins_move(struct pins *pins, struct pin_key key, uint32_t from, uint32_t to, usec_t now);
/* To the target, wherever it is. */
void pins_put(struct pins *pins, struct pin_key key, uint32_t target, usec_t now);

/* Between agents: all read the same entries, (from, to), in the same order, and each keeps
 * where a pin is by these, beside where it is by its own requests. An entry counts if the pin
 * is at `from` by the entries before it, or nothing is known of it; so of two claims of a key, or
 * two moves of a pin, the first counts and the other does not, at every agent alike, whatever they
 * thought meanwhile.
 *
 * own: we wrote it; what our own requests did since stays until the last of ours is read. An entry
 * of somebody else that counts moves the pin. Each pin made, moved or untold is taken for one that
 * is written. from TARGET_NONE: it is claimed; from == to: it is used, and
 * there. at: now less its age. True if the pin is at `to` now and was not. */
struct pin_entry {
	uint32_t from, to;
	bool own;
};
bool pins_heard(struct pins *pins, struct pin_key key, const struct pin_entry *entry, usec_t at,
                usec_t now);
/* The pin was not told of for an eighth of the time to live, so that others may think it is
 * unused. From then on it was. False if there is none. */
bool pins_untold(struct pins *pins, struct pin_key key, usec_t now);
/* The entries begin anew, for the store has lost them: nothing is known by them, and none of ours
 * is still to be read. Pins stay where they are. */
void pins_anew(struct pins *pins);
/* An entry of ours is written once more. */
void pins_told_again(struct pins *pins, struct pin_key key);

/* All pins to this target are void from now on. */
void pins_forget(struct pins *pins, uint32_t target);
/* Frees what is too old; call it every few seconds. At most `most` pins are looked at. */
void pins_sweep(struct pins *pins, usec_t now, uint32_t most);

uint32_t pins_count(const struct pins *pins);
uint32_t pins_room(const struct pins *pins);
const struct pin_counts *pins_counts(const struct pins *pins);

/* From the one used last to the one used longest ago, at most `most`. */
void pins_each(const struct pins *pins, usec_t now, uint32_t most,
               void (*visit)(void *data, struct pin_key key, const struct pin *pin), void *data);
