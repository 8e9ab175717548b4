/* writer_look.c - whether the store still has what it said it had: one that was restarted without
 * its memory, or failed over to one that had not heard all, has not.
 *
 * Ids are the store's time, so new ones look as if nothing had happened; only the entry
 * itself tells. One that was trimmed is taken for lost, too: then what others know
 * already is told once more, with its age. */
#include "redis/writer_parts.h"

static void on_looked(struct writer *writer, enum keys_stream stream, enum redis_result result,
                      const struct redis_reply *reply)
{
	struct under_way *way = &writer->streams[stream];

	writer_note(writer, OP_RANGE, result, way->looked_at, reply);
	if (result != REDIS_RESULT_OK || !reply || reply->kind != REDIS_ARRAY)
		return; /* what is told meanwhile is answered later than this, if at all */
	if (reply->count > 0)
		return;
	way->last = (struct entry_id){ 0, 0 };
	writer_rewind(writer, stream);
	outbox_again(writer->outbox, stream);
	writer->options.on_lost(writer->options.data, stream);
}

static void on_looked_live(void *data, enum redis_result result, const struct redis_reply *reply)
{
	on_looked(data, KEYS_LIVE, result, reply);
}

static void on_looked_kept(void *data, enum redis_result result, const struct redis_reply *reply)
{
	on_looked(data, KEYS_KEPT, result, reply);
}

static void look(struct writer *writer, enum keys_stream stream)
{
	struct under_way *way = &writer->streams[stream];
	char text[ENTRY_ID_TEXT_MAX];
	struct span id = entry_id_write(way->last, text);
	const struct span words[] = { REDIS_WORD("XREVRANGE"),
		                      keys_of(&writer->options.keys, stream),
		                      id,
		                      id,
		                      REDIS_WORD("COUNT"),
		                      REDIS_WORD("1") };

	way->looked_at = writer->options.now();
	if (way->last.ms > 0)
		(void)!writer_send(writer, words, sizeof(words) / sizeof(words[0]),
		                   stream == KEYS_LIVE ? on_looked_live : on_looked_kept);
}

void writer_look(struct writer *writer)
{
	for (int i = 0; i < KEYS_STREAMS; i++)
		look(writer, (enum keys_stream)i);
}
