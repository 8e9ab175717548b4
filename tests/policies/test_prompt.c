/* test_prompt.c - bytes, tokens and blocks of a request. Proves P038, P062, P063, R005;
 * docs/strategies.md. */
#include "policies/prompt.h"
#include "tests/policies/world.h"

static struct policy policy;
static struct prompt prompt;

static int fresh(void **state)
{
	(void)state;
	policy_default(&policy);
	return 0;
}

static void read(const struct request *request, const char *model)
{
	prompt_of(request, &policy, NULL, &(struct model_names){ .own = SPAN(model) }, &prompt);
}

static void four_bytes_make_a_token(void **state)
{
	struct request request = { 0 };

	(void)state;
	prompt_set(&request, 40000, 40000, 1, 1);
	read(&request, "m");
	assert_int_equal(prompt.total_bytes, 40000);
	assert_true(prompt.tokens == 10000);
	assert_true(prompt.output_tokens == 256);
	assert_int_equal(prompt.blocks, 12);
}

static void what_did_not_fit_the_buffer_counts_as_prompt(void **state)
{
	struct request request = { 0 };

	(void)state;
	prompt_set(&request, 40000, 40000, 1, 1);
	request.body_bytes = 45000;
	request.body_total = 145000;
	read(&request, "m");
	assert_int_equal(prompt.total_bytes, 140000);
	assert_int_equal(prompt.blocks, 12);
	request.body_total = 1000; /* nonsense: less than was seen */
	read(&request, "m");
	assert_int_equal(prompt.total_bytes, 40000);
}

static void without_a_prompt_the_body_is_all_that_is_known(void **state)
{
	struct request request = { 0 };

	(void)state;
	prompt_set(&request, 40000, 40000, 1, 1);
	request.has_prompt = false;
	request.body_total = 5000;
	read(&request, "m");
	assert_int_equal(prompt.total_bytes, 5000);
	assert_int_equal(prompt.blocks, 0);
}

static void hashes_beyond_the_prompt_are_not_believed(void **state)
{
	struct request request = { 0 };

	(void)state;
	prompt_set(&request, 1024, 1024, 1, 1);
	read(&request, "m");
	assert_int_equal(request.hash_count, 32);
	assert_int_equal(prompt.blocks, 1);
	request.prompt_bytes = 40000;
	request.hash_count = 3;
	read(&request, "m");
	assert_int_equal(prompt.blocks, 3);
}

static void models_do_not_share_bindings(void **state)
{
	struct request request = { 0 };
	uint64_t first;

	(void)state;
	prompt_set(&request, 9000, 9000, 1, 1);
	read(&request, "m1");
	first = prompt.chain[4];
	read(&request, "m2");
	assert_true(prompt.chain[4] != first);
	read(&request, "m1");
	assert_true(prompt.chain[4] == first);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(four_bytes_make_a_token),
		TEST(what_did_not_fit_the_buffer_counts_as_prompt),
		TEST(without_a_prompt_the_body_is_all_that_is_known),
		TEST(hashes_beyond_the_prompt_are_not_believed),
		TEST(models_do_not_share_bindings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
