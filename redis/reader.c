/* reader.c - hiredis' reader, with replies of our own in one block of memory.
 *
 * The reader asks for an object for each thing that it finds, and says where in which
 * array it belongs. Elements of an array lie side by side, so that an object is its
 * place in its parent. The reader's own objects would be one allocation each, and it
 * believes any length: it takes memory for `*1000000000` at once and waits for
 * `$1000000000` as long as bytes come. The block refuses the first; for the second we
 * look at the header of what is not whole yet. */
#include "redis/reader.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE_MAX_BYTES = 16 * 1024, /* a status, an error, a number */
	HEADER_MAX_BYTES = 32,      /* "$" and a length */
};

struct redis_reader {
	redisReader *splitter;
	redisReplyObjectFunctions objects;
	char *block;
	size_t used, room;
	bool full;  /* the block could not take it */
	bool alien; /* a type that RESP2 does not have */
	struct redis_reply root;
};

/* Rounded up, so that the next is aligned. NULL: full. */
static char *take(struct redis_reader *reader, size_t size)
{
	size_t wanted = (size + 7) & ~(size_t)7;
	char *place = reader->block + reader->used;

	if (size > reader->room || wanted > reader->room - reader->used) {
		reader->full = true;
		return NULL;
	}
	reader->used += wanted;
	return place;
}

/* Where the reply of a task goes. */
static struct redis_reply *place_of(const redisReadTask *task)
{
	struct redis_reader *reader = task->privdata;
	const struct redis_reply *parent;
	size_t from;

	if (!task->parent)
		return &reader->root;
	parent = task->parent->obj;
	from = (size_t)((const char *)parent->elements - reader->block);
	return (struct redis_reply *)(void *)(reader->block + from) + task->idx;
}

static void *make(const redisReadTask *task, struct redis_reply reply)
{
	struct redis_reply *place = place_of(task);

	*place = reply;
	return place;
}

static void *refuse(const redisReadTask *task)
{
	struct redis_reader *reader = task->privdata;

	reader->alien = true;
	return NULL;
}

static void *make_string(const redisReadTask *task, char *text, size_t len)
{
	enum redis_reply_kind kind = task->type == REDIS_REPLY_STATUS  ? REDIS_STATUS
	                             : task->type == REDIS_REPLY_ERROR ? REDIS_ERROR
	                                                               : REDIS_STRING;
	char *copy;

	if (kind == REDIS_STRING && task->type != REDIS_REPLY_STRING)
		return refuse(task);
	copy = take(task->privdata, len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return make(task, (struct redis_reply){ .kind = kind, .text = { copy, len } });
}

static bool too_deep(const redisReadTask *task)
{
	int depth = 0;

	for (; task; task = task->parent)
		depth++;
	return depth > REDIS_DEPTH_MAX;
}

static void *lay_array(const redisReadTask *task, size_t count)
{
	struct redis_reader *reader = task->privdata;
	char *elements;

	if (task->type != REDIS_REPLY_ARRAY || too_deep(task))
		return refuse(task);
	if (count > reader->room / sizeof(struct redis_reply)) {
		reader->full = true;
		return NULL;
	}
	elements = take(reader, count * sizeof(struct redis_reply));
	if (!elements)
		return NULL;
	memset(elements, 0, count * sizeof(struct redis_reply));
	return make(task, (struct redis_reply){
	                          .kind = REDIS_ARRAY,
	                          .count = (uint32_t)count,
	                          .elements = (const struct redis_reply *)(void *)elements,
	                  });
}

static void *make_integer(const redisReadTask *task, long long value)
{
	return make(task, (struct redis_reply){ .kind = REDIS_INTEGER, .integer = value });
}

static void *make_nil(const redisReadTask *task)
{
	return make(task, (struct redis_reply){ .kind = REDIS_NIL });
}

static void leave(void *object)
{
	(void)object;
}

#if HIREDIS_MAJOR >= 1
static void *make_array(const redisReadTask *task, size_t count)
{
	return lay_array(task, count);
}

static void *make_double(const redisReadTask *task, double value, char *text, size_t len)
{
	(void)value;
	(void)text;
	(void)len;
	return refuse(task);
}

static void *make_bool(const redisReadTask *task, int value)
{
	(void)value;
	return refuse(task);
}
#else
static void *make_array(const redisReadTask *task, int count)
{
	return count < 0 ? refuse(task) : lay_array(task, (size_t)count);
}
#endif

static const redisReplyObjectFunctions makers = {
	.createString = make_string,
	.createArray = make_array,
	.createInteger = make_integer,
	.createNil = make_nil,
#if HIREDIS_MAJOR >= 1
	.createDouble = make_double,
	.createBool = make_bool,
#endif
	.freeObject = leave,
};

bool redis_reader_clear(struct redis_reader *reader)
{
	if (reader->splitter)
		redisReaderFree(reader->splitter);
	reader->splitter = redisReaderCreateWithFunctions(&reader->objects);
	reader->used = 0;
	reader->full = false;
	reader->alien = false;
	if (!reader->splitter)
		return false;
	reader->splitter->privdata = reader;
	return true;
}

struct redis_reader *redis_reader_new(size_t reply_max)
{
	struct redis_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->objects = makers; /* hiredis wants them writable */
	reader->room = reply_max;
	reader->block = calloc(1, reply_max);
	if (!reader->block || !redis_reader_clear(reader)) {
		redis_reader_free(reader);
		return NULL;
	}
	return reader;
}

void redis_reader_free(struct redis_reader *reader)
{
	if (!reader)
		return;
	if (reader->splitter)
		redisReaderFree(reader->splitter);
	free(reader->block);
	free(reader);
}

bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len)
{
	return redisReaderFeed(reader->splitter, bytes, len) == REDIS_OK;
}

/* What kind of thing is not whole yet; its first byte has been taken already, and may be
 * gone from the buffer. 0: not even that has come. */
static int kind_of_rest(const redisReader *splitter)
{
	if (splitter->ridx < 0)
		return 0;
#if HIREDIS_MAJOR >= 1
	return splitter->task[splitter->ridx]->type;
#else
	return splitter->rstack[splitter->ridx].type;
#endif
}

/* Whether it may go on waiting. */
static enum redis_reading judge_rest(const struct redis_reader *reader)
{
	const redisReader *splitter = reader->splitter;
	const char *at = splitter->buf + splitter->pos;
	size_t len = splitter->len - splitter->pos;
	int kind = kind_of_rest(splitter);
	bool sized = kind == REDIS_REPLY_STRING || kind == REDIS_REPLY_ARRAY;

	if (len == 0)
		return REDIS_READ_MORE;
	if (!memchr(at, '\n', len))
		return len > (sized ? HEADER_MAX_BYTES : LINE_MAX_BYTES) ? REDIS_READ_TOO_BIG
		                                                         : REDIS_READ_MORE;
	if (kind == REDIS_REPLY_STRING && strtoull(at, NULL, 10) > reader->room)
		return REDIS_READ_TOO_BIG;
	return REDIS_READ_MORE;
}

enum redis_reading redis_reader_next(struct redis_reader *reader,
                                     const struct redis_reply **ret_reply)
{
	void *reply = NULL;

	/* Only a new reply may use the memory of the last one. */
	if (reader->splitter->ridx == -1)
		reader->used = 0;
	if (redisReaderGetReply(reader->splitter, &reply) != REDIS_OK) {
		if (reader->full)
			return REDIS_READ_TOO_BIG;
		return reader->splitter->err == REDIS_ERR_OOM && !reader->alien ? REDIS_READ_MEMORY
		                                                                : REDIS_READ_BROKEN;
	}
	if (!reply)
		return judge_rest(reader);
	*ret_reply = reply;
	return REDIS_READ_REPLY;
}

const char *redis_reader_problem(const struct redis_reader *reader)
{
	if (reader->alien)
		return "a type of reply that was not asked for";
	return reader->splitter->errstr;
}
