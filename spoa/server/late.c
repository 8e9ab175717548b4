/* late.c - a pool of records, and queues that borrow from it. */
#include "spoa/server/late.h"

#include <stdlib.h>
#include <string.h>

bool late_pool_init(struct late_pool *pool, uint32_t answers)
{
	pool->unused = NULL;
	pool->all = calloc(answers, sizeof(*pool->all));
	if (!pool->all)
		return false;
	for (uint32_t i = 0; i < answers; i++) {
		pool->all[i].next = pool->unused;
		pool->unused = &pool->all[i];
	}
	return true;
}

void late_pool_done(struct late_pool *pool)
{
	free(pool->all);
	pool->all = pool->unused = NULL;
}

bool late_keep(struct late_pool *pool, struct late_queue *queue, struct span id, uint64_t end,
               usec_t read_at)
{
	struct late_answer *answer = pool->unused;

	if (!answer || id.len > LATE_ID_MAX)
		return false;
	pool->unused = answer->next;
	answer->next = NULL;
	answer->end = end;
	answer->read_at = read_at;
	answer->id_length = (uint32_t)id.len;
	memcpy(answer->id, id.at, id.len);
	if (queue->last)
		queue->last->next = answer;
	else
		queue->first = answer;
	queue->last = answer;
	return true;
}

const struct late_answer *late_take(struct late_pool *pool, struct late_queue *queue,
                                    uint64_t written)
{
	struct late_answer *answer = queue->first;

	if (!answer || answer->end > written)
		return NULL;
	queue->first = answer->next;
	if (!queue->first)
		queue->last = NULL;
	answer->next = pool->unused;
	pool->unused = answer;
	return answer;
}
