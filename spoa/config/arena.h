/* arena.h - memory that is taken in pieces and given back as a whole.
 *
 * A policy and the text it came from are made of many small things that die
 * together. Pieces are zeroed and aligned for anything. */
#pragma once

#include <stddef.h>

struct arena;

/* NULL when there is no memory. */
struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* count pieces of size bytes in a row, zeroed; count 0 gives one byte to point at.
 * NULL when there is no memory or the product does not fit. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* A copy that ends in NUL. NULL when there is no memory. */
char *arena_text(struct arena *arena, const char *text, size_t len);
