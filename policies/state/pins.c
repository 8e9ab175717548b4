/* pins.c - records in buckets by their key, and in one list by their last use.
 *
 * Every use moves a pin to the head of the list, so the tail is both what expires
 * first and what must go when there is no room. Forgetting a target only notes
 * the next serial: pins of it with an older one are dead, and unlinked when met. */
#include "policies/state/pins.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <xxhash.h>

#include "policies/core/bug.h"

enum { CHECK_SEED = 0x5e551047 }; /* any, but another than that of the hash */

/* Place 0 is nobody's. */
struct pin_record {
	struct pin_key key;
	uint32_t next; /* in the bucket, or of the free */
	uint32_t newer, older;
	uint32_t agreed; /* where it is by the entries that all agents read; TARGET_NONE: nowhere
	                    yet */
	uint32_t unread; /* entries that we wrote and did not read back; some may never come */
	uint32_t era;    /* of the two above */
	usec_t told_at;
	struct pin pin;
};

struct pins {
	uint32_t room, count, targets;
	uint32_t touched; /* records 1..touched were used at some time */
	uint32_t free;
	uint32_t newest, oldest;
	uint32_t mask; /* of heads */
	uint32_t *heads;
	struct pin_record *records;
	pin_serial *born; /* by target: pins with an older serial are dead */
	pin_serial serial;
	uint32_t era; /* entries began anew so often */
	usec_t ttl;
	struct pin_counts counts;
};

struct pin_key pin_key_of(struct span text, uint64_t owner)
{
	const char *at = text.at ? text.at : "";

	return (struct pin_key){
		.hash = XXH64(at, text.len, owner),
		.check = (uint32_t)XXH64(at, text.len, owner ^ CHECK_SEED),
	};
}

struct pins *pins_new(uint32_t room, uint32_t targets, usec_t ttl)
{
	struct pins *pins;
	uint32_t size = 1;

	BUG_ON(room == 0 || room > 1u << 24 || targets == 0);
	while (size < room)
		size *= 2;
	pins = calloc(1, sizeof(*pins));
	if (!pins)
		return NULL;
	*pins = (struct pins){ .room = room, .targets = targets, .mask = size - 1, .ttl = ttl };
	pins->heads = calloc(size, sizeof(*pins->heads));
	pins->records = calloc((size_t)room + 1, sizeof(*pins->records));
	pins->born = calloc(targets, sizeof(*pins->born));
	if (pins->heads && pins->records && pins->born)
		return pins;
	pins_free(pins);
	return NULL;
}

void pins_free(struct pins *pins)
{
	if (!pins)
		return;
	free(pins->born);
	free(pins->records);
	free(pins->heads);
	free(pins);
}

void pins_set_ttl(struct pins *pins, usec_t ttl)
{
	pins->ttl = ttl;
}

static bool is_key(const struct pin_record *record, struct pin_key key)
{
	return record->key.hash == key.hash && record->key.check == key.check;
}

static bool has_expired(const struct pins *pins, const struct pin *pin, usec_t now)
{
	return now > pin->used_at && now - pin->used_at > pins->ttl;
}

static bool is_forgotten(const struct pins *pins, const struct pin *pin)
{
	return pin->serial < pins->born[pin->target];
}

static uint32_t find(const struct pins *pins, struct pin_key key)
{
	uint32_t place = pins->heads[(uint32_t)key.hash & pins->mask];

	while (place != 0 && !is_key(&pins->records[place], key))
		place = pins->records[place].next;
	return place;
}

bool pins_find(const struct pins *pins, struct pin_key key, usec_t now, struct pin *ret_pin)
{
	const struct pin *pin = &pins->records[find(pins, key)].pin;

	if (pin->serial == 0 || has_expired(pins, pin, now) || is_forgotten(pins, pin))
		return false;
	*ret_pin = *pin;
	return true;
}

static void list_out(struct pins *pins, uint32_t place)
{
	struct pin_record *record = &pins->records[place];

	if (record->newer)
		pins->records[record->newer].older = record->older;
	else
		pins->newest = record->older;
	if (record->older)
		pins->records[record->older].newer = record->newer;
	else
		pins->oldest = record->newer;
}

static void list_in(struct pins *pins, uint32_t place)
{
	struct pin_record *record = &pins->records[place];

	record->newer = 0;
	record->older = pins->newest;
	if (pins->newest)
		pins->records[pins->newest].newer = place;
	else
		pins->oldest = place;
	pins->newest = place;
}

static void use(struct pins *pins, uint32_t place, usec_t now)
{
	list_out(pins, place);
	list_in(pins, place);
	pins->records[place].pin.used_at = now;
}

static void drop(struct pins *pins, uint32_t place)
{
	struct pin_record *record = &pins->records[place];
	uint32_t *link = &pins->heads[(uint32_t)record->key.hash & pins->mask];

	while (*link != place)
		link = &pins->records[*link].next;
	*link = record->next;
	list_out(pins, place);
	*record = (struct pin_record){ .next = pins->free };
	pins->free = place;
	pins->count--;
}

/* True if it had to go. */
static bool drop_if_dead(struct pins *pins, uint32_t place, usec_t now)
{
	const struct pin *pin = &pins->records[place].pin;

	if (is_forgotten(pins, pin))
		pins->counts.forgotten++;
	else if (has_expired(pins, pin, now))
		pins->counts.expired++;
	else
		return false;
	drop(pins, place);
	return true;
}

static uint32_t find_live(struct pins *pins, struct pin_key key, usec_t now)
{
	uint32_t place = find(pins, key);

	return place != 0 && !drop_if_dead(pins, place, now) ? place : 0;
}

static uint32_t take_place(struct pins *pins, usec_t now)
{
	uint32_t place = pins->free;

	if (place == 0 && pins->touched == pins->room) {
		if (!drop_if_dead(pins, pins->oldest, now)) {
			pins->counts.evicted++;
			drop(pins, pins->oldest);
		}
		place = pins->free;
	}
	if (place == 0)
		return ++pins->touched;
	pins->free = pins->records[place].next;
	return place;
}

static void settle(struct pins *pins, uint32_t place, uint32_t target)
{
	pins->records[place].pin.target = target;
	pins->records[place].pin.open = 0;
	pins->records[place].pin.serial = ++pins->serial;
}

/* What was known by entries that are lost is not known. */
static void renew(const struct pins *pins, struct pin_record *record)
{
	if (record->era == pins->era)
		return;
	record->era = pins->era;
	record->agreed = TARGET_NONE;
	record->unread = 0;
}

static void count_unread(const struct pins *pins, struct pin_record *record)
{
	renew(pins, record);
	record->unread += record->unread < UINT32_MAX;
}

static uint32_t make(struct pins *pins, struct pin_key key, uint32_t target, usec_t now)
{
	uint32_t place = take_place(pins, now);
	uint32_t *head = &pins->heads[(uint32_t)key.hash & pins->mask];

	pins->records[place] = (struct pin_record){ .key = key,
		                                    .next = *head,
		                                    .agreed = TARGET_NONE,
		                                    .unread = 1,
		                                    .era = pins->era,
		                                    .told_at = now };
	*head = place;
	list_in(pins, place);
	pins->records[place].pin.used_at = now;
	settle(pins, place, target);
	pins->count++;
	pins->counts.made++;
	return place;
}

pin_serial pins_hold(struct pins *pins, struct pin_key key, uint32_t target, usec_t now)
{
	uint32_t place = find_live(pins, key, now);
	struct pin *pin;

	BUG_ON(target >= pins->targets);
	if (place == 0)
		place = make(pins, key, target, now);
	else
		use(pins, place, now);
	pin = &pins->records[place].pin;
	if (pin->target != target)
		return 0;
	pin->open++;
	return pin->serial;
}

void pins_release(struct pins *pins, struct pin_key key, pin_serial serial)
{
	struct pin *pin = &pins->records[find(pins, key)].pin;

	if (serial != 0 && pin->serial == serial && pin->open > 0)
		pin->open--;
}

bool pins_move(struct pins *pins, struct pin_key key, uint32_t from, uint32_t to, usec_t now)
{
	uint32_t place = find_live(pins, key, now);

	BUG_ON(to >= pins->targets);
	if (place == 0) {
		(void)make(pins, key, to, now);
		return true;
	}
	use(pins, place, now);
	if (pins->records[place].pin.target != from || from == to)
		return false;
	settle(pins, place, to);
	count_unread(pins, &pins->records[place]);
	pins->counts.moved++;
	return true;
}

void pins_put(struct pins *pins, struct pin_key key, uint32_t target, usec_t now)
{
	uint32_t place = find_live(pins, key, now);

	BUG_ON(target >= pins->targets);
	if (place == 0) {
		(void)make(pins, key, target, now);
		return;
	}
	use(pins, place, now);
	if (pins->records[place].pin.target != target)
		settle(pins, place, target);
}

/* Where all agree that it is. */
static bool follow(struct pins *pins, uint32_t place)
{
	struct pin_record *record = &pins->records[place];

	if (record->agreed == TARGET_NONE || record->pin.target == record->agreed)
		return false;
	settle(pins, place, record->agreed);
	pins->counts.moved++;
	return true;
}

/* What our own requests did since an entry that we wrote stands until all that we wrote is read. */
static bool agree(struct pins *pins, uint32_t place, const struct pin_entry *entry)
{
	struct pin_record *record = &pins->records[place];
	bool counts;

	renew(pins, record);
	counts = record->agreed == entry->from || record->agreed == TARGET_NONE;
	record->unread -= entry->own && record->unread > 0;
	if (counts)
		record->agreed = entry->to;
	if (entry->own ? record->unread > 0 : !counts)
		return false;
	return follow(pins, place);
}

bool pins_heard(struct pins *pins, struct pin_key key, const struct pin_entry *entry, usec_t at,
                usec_t now)
{
	uint32_t place = find_live(pins, key, now);
	usec_t age = now - at;
	bool moved;

	BUG_ON(entry->to >= pins->targets);
	if (age > pins->ttl || (place == 0 && entry->own))
		return false;
	at = age < now ? now - age : 0;
	if (place == 0) {
		place = make(pins, key, entry->to, at);
		pins->records[place].agreed = entry->to;
		pins->records[place].unread = 0;
		return true;
	}
	moved = agree(pins, place, entry);
	if (at > pins->records[place].pin.used_at)
		use(pins, place, at);
	pins->records[place].told_at = now;
	return moved;
}

bool pins_untold(struct pins *pins, struct pin_key key, usec_t now)
{
	uint32_t place = find_live(pins, key, now);
	struct pin_record *record = &pins->records[place];

	if (place == 0 || now - record->told_at < pins->ttl / 8)
		return false;
	record->told_at = now;
	count_unread(pins, record);
	return true;
}

void pins_anew(struct pins *pins)
{
	pins->era++;
}

void pins_told_again(struct pins *pins, struct pin_key key)
{
	uint32_t place = find(pins, key);

	if (place != 0)
		count_unread(pins, &pins->records[place]);
}

void pins_forget(struct pins *pins, uint32_t target)
{
	BUG_ON(target >= pins->targets);
	pins->born[target] = pins->serial + 1;
}

void pins_sweep(struct pins *pins, usec_t now, uint32_t most)
{
	while (most-- > 0 && pins->oldest != 0 && drop_if_dead(pins, pins->oldest, now))
		;
}

uint32_t pins_count(const struct pins *pins)
{
	return pins->count;
}

uint32_t pins_room(const struct pins *pins)
{
	return pins->room;
}

const struct pin_counts *pins_counts(const struct pins *pins)
{
	return &pins->counts;
}

void pins_each(const struct pins *pins, usec_t now, uint32_t most,
               void (*visit)(void *data, struct pin_key key, const struct pin *pin), void *data)
{
	for (uint32_t place = pins->newest; place != 0 && most > 0;
	     place = pins->records[place].older) {
		const struct pin_record *record = &pins->records[place];

		if (has_expired(pins, &record->pin, now) || is_forgotten(pins, &record->pin))
			continue;
		visit(data, record->key, &record->pin);
		most--;
	}
}
