/* reply.c - looking into a reply without having to check it first. */
#include "redis/reply.h"

struct span redis_reply_text(const struct redis_reply *reply)
{
	if (!reply || (reply->kind != REDIS_STRING && reply->kind != REDIS_STATUS))
		return (struct span){ 0 };
	return reply->text;
}

const struct redis_reply *redis_reply_at(const struct redis_reply *reply, size_t i)
{
	if (!reply || reply->kind != REDIS_ARRAY || i >= reply->count)
		return NULL;
	return &reply->elements[i];
}
