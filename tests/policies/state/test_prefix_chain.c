/* test_prefix_chain.c - the vectors of docs/strategies.md. Proves B018, P062, P063. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "policies/state/prefix_index.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

enum { BLOCKS = 5 };

static uint64_t name_space(const char *model, const char *lora, const char *salt)
{
	struct span ladder = SPAN("4x1k,12x4k,8x8k,8x32k");

	return prefix_name_space(&ladder, &SPAN(model), &SPAN(lora), &SPAN(salt));
}

static void name_spaces_are_those_of_the_specification(void **state)
{
	(void)state;
	assert_true(name_space("demo", "", "") == 0xc1b9515d65fa3c28);
	assert_true(name_space("demo", "lora-a", "") == 0xdeae377c1eb4c88d);
	assert_true(name_space("demo", "", "lora-a") == 0x9e39e0a1a2df271d);
	assert_true(name_space("demo2", "", "") != name_space("demo", "2", ""));
}

static void chains_are_those_of_the_specification(void **state)
{
	static const uint64_t hashes[BLOCKS] = { 0x138e26c65048ce29, 0x3a564763e2e9359e,
		                                 0xc0963c5d3ac16216, 0x6a26576f94a215b2,
		                                 0x7f59f82b7d94eff7 };
	static const uint64_t chain[BLOCKS] = { 0xe2f11c2394449c8c, 0x00d27b02df0625f2,
		                                0xdda5ac401b7fafd9, 0x5be1c5b11f004355,
		                                0x390c5948f33a8a78 };
	static const uint32_t lengths[BLOCKS] = { 1024, 1024, 1024, 1024, 4096 };
	unsigned char prompt[8292];
	uint64_t found[BLOCKS];
	uint32_t offset = 0;

	(void)state;
	for (size_t k = 0; k < sizeof(prompt); k++)
		prompt[k] = (unsigned char)(k % 251);
	for (int i = 0; i < BLOCKS; offset += lengths[i], i++)
		assert_true(XXH64(prompt + offset, lengths[i], 0) == hashes[i]);
	prefix_chain(NULL, 0xc1b9515d65fa3c28, hashes, BLOCKS, found);
	assert_memory_equal(found, chain, sizeof(chain));
}

static uint32_t common(const uint64_t *a, const uint64_t *b, uint32_t blocks)
{
	uint64_t chains[2][BLOCKS];
	uint32_t same = 0;

	prefix_chain(NULL, 1, a, blocks, chains[0]);
	prefix_chain(NULL, 1, b, blocks, chains[1]);
	while (same < blocks && chains[0][same] == chains[1][same])
		same++;
	for (uint32_t i = same; i < blocks; i++)
		assert_true(chains[0][i] != chains[1][i]);
	return same;
}

static void order_and_repetition_count(void **state)
{
	(void)state;
	assert_int_equal(common((uint64_t[]){ 1, 2 }, (uint64_t[]){ 2, 1 }, 2), 0);
	assert_int_equal(common((uint64_t[]){ 1, 1 }, (uint64_t[]){ 2, 2 }, 2), 0);
	assert_int_equal(common((uint64_t[]){ 1, 2, 3 }, (uint64_t[]){ 1, 2, 4 }, 3), 2);
	assert_int_equal(common((uint64_t[]){ 1, 2, 3, 4 }, (uint64_t[]){ 1, 3, 2, 4 }, 4), 1);
}

/* Which is expected to be asked for it. */
static void an_index_changes_no_chain(void **state)
{
	const struct prefix_limits limits = { .records = 1024,
		                              .holders = 2,
		                              .ttl = SECOND,
		                              .provisional_ttl = SECOND,
		                              .holder_bytes = 1 };
	struct prefix_index *index = prefix_index_new(&limits);
	uint64_t hashes[LADDER_BLOCKS_MAX], plain[LADDER_BLOCKS_MAX], asked[LADDER_BLOCKS_MAX];

	(void)state;
	for (uint64_t i = 0; i < LADDER_BLOCKS_MAX; i++)
		hashes[i] = i * i;
	prefix_chain(NULL, 5, hashes, LADDER_BLOCKS_MAX, plain);
	for (uint32_t blocks = 0; blocks <= LADDER_BLOCKS_MAX; blocks++) {
		memset(asked, 0, sizeof(asked));
		prefix_chain(index, 5, hashes, blocks, asked);
		assert_memory_equal(asked, plain, blocks * sizeof(*asked));
		assert_true(blocks == LADDER_BLOCKS_MAX || asked[blocks] == 0);
	}
	prefix_index_free(index);
}

int main(void)
{
	const struct CMUnitTest chain[] = {
		cmocka_unit_test(name_spaces_are_those_of_the_specification),
		cmocka_unit_test(chains_are_those_of_the_specification),
		cmocka_unit_test(order_and_repetition_count),
		cmocka_unit_test(an_index_changes_no_chain),
	};

	return cmocka_run_group_tests(chain, NULL, NULL);
}
