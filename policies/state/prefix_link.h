/* prefix_link.h - what ties a block to those before it: the step of a chain. */
#pragma once

#include <stdint.h>

static inline uint64_t turned(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

/* A chain's next hash, of the one before and the block's own. XXH64 with seed 0 of the two as 16
 * bytes, little end first: the library's steps for this length, without its questions about length
 * and alignment. */
static inline uint64_t prefix_link(uint64_t first, uint64_t second)
{
	const uint64_t p1 = 0x9e3779b185ebca87u, p2 = 0xc2b2ae3d27d4eb4fu, p3 = 0x165667b19e3779f9u,
	               p4 = 0x85ebca77c2b2ae63u, p5 = 0x27d4eb2f165667c5u;
	uint64_t hash = p5 + 16;

	hash = turned(hash ^ turned(first * p2, 31) * p1, 27) * p1 + p4;
	hash = turned(hash ^ turned(second * p2, 31) * p1, 27) * p1 + p4;
	hash = (hash ^ hash >> 33) * p2;
	hash = (hash ^ hash >> 29) * p3;
	return hash ^ hash >> 32;
}
