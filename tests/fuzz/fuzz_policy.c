/* fuzz_policy.c - any text is a policy or has a problem, and nothing is left behind. */
#include <stdio.h>
#include <stdlib.h>

#include "spoa/config/policy.h"
#include "tests/fuzz/fuzz.h"

static void say(void *context, const struct policy_change *change)
{
	size_t *count = context;

	if (!change->before && !change->after)
		abort();
	(*count)++;
}

/* A good policy differs from itself in nothing, from the default in what it says. */
static void check_good(const struct policy_file *file, struct problems *problems)
{
	const struct policy *policy = policy_file_policy(file);
	struct policy_file *standard = policy_load(NULL, problems);
	size_t count = 0;

	if (policy->default_rule.chain_count < 1 || policy->default_instance.chain_count < 1 ||
	    !standard || policy_diff(file, file, say, &count) != 0)
		abort();
	for (uint32_t i = 0; i < policy->rule_count; i++) {
		if (policy->rules[i].chain_count < 1 || !policy->rules[i].chain[0].strategy)
			abort();
	}
	(void)policy_diff(standard, file, say, &count);
	policy_file_free(standard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_new();
	struct policy_file *file;

	if (!problems)
		return 0;
	file = policy_parse("policy.json", (const char *)data, size, problems);
	if (!file == (problems_count(problems, SEVERITY_ERROR) == 0))
		abort();
	if (file)
		check_good(file, problems);
	for (size_t i = 0; problems_at(problems, i); i++) {
		if (!problems_at(problems, i)->text[0])
			abort();
	}
	policy_file_free(file);
	problems_free(problems);
	return 0;
}
