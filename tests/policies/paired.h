/* paired.h - a small world whose instance a has prefill and decode replicas.
 *
 *     struct paired *pair = paired_new("p1:r1 p1:r2 d:r1 d:r2 c");
 *
 * makes servers s1, s2, ... with the roles (first letter: p prefill, d decode, c
 * combined) and rolesets (behind the colon) of the words; what stands between is for
 * the reader. */
#pragma once

#include "tests/policies/sent.h"

enum { PAIRED_MAX = 16 };

struct paired {
	struct world *world;
	struct instance_policy a;
	struct replica_policy replicas[PAIRED_MAX];
	uint32_t count;
};

static inline enum role role_of_letter(char letter)
{
	return letter == 'p' ? ROLE_PREFILL : letter == 'd' ? ROLE_DECODE : ROLE_COMBINED;
}

/* After a change of the policy. */
static inline void paired_apply(struct paired *paired)
{
	facts_set_policy(paired->world->facts, &paired->world->policy);
}

static inline void paired_name(struct paired *paired, const char *word, size_t len)
{
	struct replica_policy *replica = &paired->replicas[paired->count++];
	const char *colon = memchr(word, ':', len);

	assert_true(paired->count <= PAIRED_MAX);
	*replica = (struct replica_policy){ .weight = 1, .role = role_of_letter(word[0]) };
	snprintf(replica->name, sizeof(replica->name), "s%u", paired->count);
	if (colon)
		memcpy(replica->roleset, colon + 1, len - (size_t)(colon + 1 - word));
}

static inline struct paired *paired_new(const char *words)
{
	struct paired *paired = calloc(1, sizeof(*paired));

	assert_non_null(paired);
	while (*words) {
		size_t len = strcspn(words, " ");

		paired_name(paired, words, len);
		words += len + (words[len] == ' ');
	}
	paired->world = world_new(1, paired->count);
	paired->a = paired->world->policy.default_instance;
	memcpy(paired->a.name, "a", 2);
	paired->a.replicas = paired->replicas;
	paired->a.replica_count = paired->count;
	paired->world->policy.instances = &paired->a;
	paired->world->policy.instance_count = 1;
	paired_apply(paired);
	return paired;
}

static inline void paired_free(struct paired *paired)
{
	world_free(paired->world);
	free(paired);
}

/* Of instance a. */
static inline struct entry_policy *paired_entry(struct paired *paired)
{
	return &paired->a.chain[0];
}

static inline void paired_strategy(struct paired *paired, const char *name)
{
	entry_default_replicas(paired_entry(paired), strategy_named(SPAN(name)));
	paired->a.chain_count = 1;
}
