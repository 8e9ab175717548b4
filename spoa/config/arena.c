/* arena.c - memory that is taken in pieces and given back as a whole. */
#include "spoa/config/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10 };

struct block {
	struct block *next;
	size_t size;
	size_t used;
	alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct block *blocks; /* the newest first */
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	struct block *next;

	if (!arena)
		return;
	for (struct block *block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(arena);
}

/* A large piece gets a block of its own, behind the one that still has room. */
static struct block *add_block(struct arena *arena, size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
	struct block *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	if (size == BLOCK_BYTES || !arena->blocks) {
		block->next = arena->blocks;
		arena->blocks = block;
	} else {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	}
	return block;
}

static size_t rounded(size_t bytes)
{
	return (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
	struct block *block = arena->blocks;
	size_t bytes;
	void *piece;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = rounded(bytes ? bytes : 1);
	if (!block || block->size - block->used < bytes)
		block = add_block(arena, bytes);
	if (!block)
		return NULL;
	piece = block->bytes + block->used;
	block->used += bytes;
	return piece;
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_take(arena, len + 1, 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}
