/* held.h - a prefix index whose holders and prompts are numbers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/prefix_index.h"

enum { ANNA, BERT, CARL, HOLDERS = 8, CHAIN = 10 };

static const struct prefix_limits limits = { .records = 1024,
	                                     .holders = HOLDERS,
	                                     .ttl = 600 * SECOND,
	                                     .provisional_ttl = 30 * SECOND,
	                                     .holder_bytes = 1e9 };

/* 64 blocks of 1000 bytes. */
static inline struct ladder even_ladder(void)
{
	struct ladder ladder = { .id = "64x1000", .count = 64 };

	for (uint32_t i = 0; i < ladder.count; i++) {
		ladder.offset[i] = i * 1000;
		ladder.length[i] = 1000;
	}
	return ladder;
}

struct bench {
	struct prefix_index *index;
	struct ladder ladder;
};

static struct bench bench;

static inline struct prefix_index *made(uint32_t records, double holder_bytes)
{
	struct prefix_limits own = limits;

	own.records = records;
	own.holder_bytes = holder_bytes;
	return prefix_index_new(&own);
}

static inline int open_index(void **state)
{
	(void)state;
	bench.index = prefix_index_new(&limits);
	bench.ladder = even_ladder();
	return bench.index ? 0 : -1;
}

static inline int close_index(void **state)
{
	(void)state;
	prefix_index_free(bench.index);
	return 0;
}

static inline void replace_index(struct prefix_index *index)
{
	assert_non_null(index);
	prefix_index_free(bench.index);
	bench.index = index;
}

/* A prompt of its own, CHAIN blocks long, after which others may branch. */
static const uint64_t *chain_of(uint64_t prompt)
{
	static uint64_t chain[64];
	static uint64_t last = UINT64_MAX;
	uint64_t hashes[64];

	if (prompt == last)
		return chain;
	last = prompt;
	for (uint32_t i = 0; i < 64; i++)
		hashes[i] = prompt;
	prefix_chain(NULL, 7, hashes, 64, chain);
	return chain;
}

static inline void bind(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	prefix_index_bind(bench.index, holder, chain_of(prompt), blocks, &bench.ladder, now);
}

static inline void confirm(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	prefix_index_confirm(bench.index, holder, chain_of(prompt), blocks, &bench.ladder, now);
}

/* How many blocks of the prompt the holder has, from the root. */
static inline uint32_t held(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	struct prefix_match matches[HOLDERS];
	size_t count =
	        prefix_index_match(bench.index, chain_of(prompt), blocks, now, matches, HOLDERS);

	for (size_t i = 0; i < count; i++)
		if (matches[i].holder == holder)
			return matches[i].blocks;
	return 0;
}

static inline uint32_t records(void)
{
	return prefix_index_counts(bench.index).records;
}

/* What a holder has of a prompt, it has from the root on. */
static inline void assert_no_orphans(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	uint32_t until = held(holder, prompt, blocks, now);
	struct prefix_match match[HOLDERS];

	for (uint32_t i = until; i < blocks; i++) {
		size_t count = prefix_index_match(bench.index, chain_of(prompt) + i, 1, now, match,
		                                  HOLDERS);

		for (size_t j = 0; j < count; j++)
			assert_int_not_equal(match[j].holder, holder);
	}
}
