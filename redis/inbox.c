/* inbox.c - XREAD's reply, taken apart.
 *
 * An entry whose id cannot be read ends it: where it stands could not be told, so the
 * reader would ask for it again for ever. */
#include "redis/inbox.h"

#include <stdlib.h>
#include <string.h>

void inbox_done(struct inbox *inbox)
{
	free(inbox->bytes);
	free(inbox->places);
	*inbox = (struct inbox){ .bytes = NULL };
}

static bool is_same(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Doubles the room until there is enough. */
static bool make_room(void **memory, size_t *room, size_t needed, size_t each)
{
	size_t more = *room > 0 ? *room : 64;
	void *grown;

	while (more < needed)
		more *= 2;
	if (more == *room)
		return true;
	grown = realloc(*memory, more * each);
	if (!grown)
		return false;
	*memory = grown;
	*room = more;
	return true;
}

/* The value of the field, in [field, value, ...]; NULL: it has none. */
static const struct redis_reply *value_of(const struct redis_reply *fields)
{
	const struct span field = { KEYS_FIELD, strlen(KEYS_FIELD) };

	for (uint32_t i = 0; fields && fields->kind == REDIS_ARRAY && i + 1 < fields->count;
	     i += 2) {
		if (is_same(redis_reply_text(redis_reply_at(fields, i)), field))
			return redis_reply_at(fields, i + 1);
	}
	return NULL;
}

static bool keep(struct inbox *inbox, enum keys_stream stream, struct entry_id id,
                 const struct redis_reply *value)
{
	struct span batch = value ? redis_reply_text(value) : (struct span){ NULL, 0 };
	size_t places = inbox->places_room;
	void *bytes = inbox->bytes, *list = inbox->places;

	if (!make_room(&bytes, &inbox->room, inbox->size + batch.len, 1))
		return false;
	inbox->bytes = bytes;
	if (!make_room(&list, &places, inbox->count + 1, sizeof(*inbox->places)))
		return false;
	inbox->places = list;
	inbox->places_room = (uint32_t)places;
	if (batch.len > 0)
		memcpy(inbox->bytes + inbox->size, batch.at, batch.len);
	inbox->places[inbox->count++] =
	        (struct inbox_place){ stream, id, inbox->size, batch.len, value != NULL };
	inbox->size += batch.len;
	return true;
}

static bool keep_entries(struct inbox *inbox, enum keys_stream stream,
                         const struct redis_reply *entries)
{
	if (!entries || entries->kind != REDIS_ARRAY)
		return false;
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct redis_reply *entry = redis_reply_at(entries, i);
		const struct redis_reply *text = entry ? redis_reply_at(entry, 0) : NULL;
		struct entry_id id;

		if (!text || !entry_id_read(redis_reply_text(text), &id) ||
		    !keep(inbox, stream, id, value_of(redis_reply_at(entry, 1))))
			return false;
	}
	return true;
}

static bool keep_stream(struct inbox *inbox, const struct redis_reply *stream,
                        const struct keys *keys)
{
	const struct redis_reply *key = stream ? redis_reply_at(stream, 0) : NULL;

	for (int i = 0; key && i < KEYS_STREAMS; i++) {
		if (is_same(redis_reply_text(key), keys_of(keys, (enum keys_stream)i)))
			return keep_entries(inbox, (enum keys_stream)i, redis_reply_at(stream, 1));
	}
	return false;
}

bool inbox_take(struct inbox *inbox, const struct redis_reply *reply, const struct keys *keys)
{
	inbox->size = inbox->count = inbox->next = 0;
	if (reply->kind != REDIS_ARRAY)
		return false;
	for (uint32_t i = 0; i < reply->count; i++) {
		if (!keep_stream(inbox, redis_reply_at(reply, i), keys)) {
			inbox->count = 0;
			return false;
		}
	}
	return true;
}

bool inbox_next(struct inbox *inbox, struct inbox_item *ret_item)
{
	const struct inbox_place *place;

	if (inbox->next == inbox->count)
		return false;
	place = &inbox->places[inbox->next++];
	*ret_item = (struct inbox_item){ .stream = place->stream, .id = place->id };
	if (place->whole)
		ret_item->batch = (struct span){ inbox->bytes + place->at, place->len };
	return true;
}

uint32_t inbox_left(const struct inbox *inbox)
{
	return inbox->count - inbox->next;
}
