/* test_tables.c - every row of every table says what it must, so that a module
 * gets this test, the schema and its documentation by being listed. Proves R175, R176. */
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

#include "policies/pipeline.h"

static bool is_kebab_case(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name) &&
	       name[0] != '-' && name[strlen(name) - 1] != '-';
}

static bool is_sentence(const char *help)
{
	return help && *help >= 'A' && *help <= 'Z' && help[strlen(help) - 1] == '.';
}

static int choices_in(const char *choices)
{
	int count = 1;

	for (; *choices; choices++)
		count += *choices == '|';
	return count;
}

static void check_option(const struct option *option, size_t settings_size)
{
	assert_true(is_kebab_case(option->name));
	assert_true(is_sentence(option->help));
	assert_non_null(option->unit);
	assert_true(option->min <= option->otherwise && option->otherwise <= option->max);
	assert_true(option->offset < settings_size);
	if (option->type == OPTION_COUNT)
		assert_true(option->min >= 0 && option->max <= UINT32_MAX);
	if (option->type == OPTION_BOOL)
		assert_true(option->min == 0 && option->max == 1);
	/* A count may have a word for 0. */
	if (option->type != OPTION_COUNT)
		assert_true(!option->choices == (option->type != OPTION_CHOICE));
	if (option->choices && option->type == OPTION_COUNT)
		assert_true(option->min > 0 && choices_in(option->choices) == 1);
	else if (option->choices)
		assert_int_equal(choices_in(option->choices), (int)option->max + 1);
	if (option->type == OPTION_TEXT)
		assert_true(option->max < NAME_MAX_BYTES);
}

/* Names are found again, and differ from each other. */
static void check_options(const struct option *options, size_t settings_size)
{
	for (const struct option *option = options; option && option->name; option++) {
		check_option(option, settings_size);
		assert_ptr_equal(option_named(options, SPAN(option->name)), option);
	}
}

static void check_picker(const struct picker *picker)
{
	assert_true(is_kebab_case(picker->name));
	assert_true(is_sentence(picker->help));
	assert_non_null(picker->pick);
	assert_true(!picker->options == !picker->settings_size);
	assert_true(picker->settings_size <= PICKER_SETTINGS_MAX);
	assert_ptr_equal(picker_named(SPAN(picker->name)), picker);
	check_options(picker->options, picker->settings_size);
}

static void check_signal(const struct signal *signal)
{
	assert_true(is_kebab_case(signal->name));
	assert_true(is_sentence(signal->help));
	assert_true(!signal->read != !signal->read_all);
	assert_true(!signal->read_all || signal->level1 == LEVEL1_OWN);
	assert_true(signal->min_spread >= 0);
	assert_true(signal->scale == SCALE_MINMAX || signal->min_spread == 0);
	assert_ptr_equal(signal_named(SPAN(signal->name)), signal);
}

#define CHECK_PICKER(name) check_picker(&picker_##name);
#define CHECK_SIGNAL(name) check_signal(&signal_##name);

static void every_picker(void **state)
{
	(void)state;
	PICKERS(CHECK_PICKER)
	assert_null(picker_named(SPAN("no-such")));
}

static void every_signal(void **state)
{
	(void)state;
	SIGNALS(CHECK_SIGNAL)
	assert_null(signal_named(SPAN("no-such")));
}

static void every_stage(void **state)
{
	bool per_entry = false;

	(void)state;
	for (size_t i = 0; pipeline_stage(i); i++) {
		const struct stage *stage = pipeline_stage(i);

		assert_true(is_kebab_case(stage->name));
		assert_true(is_sentence(stage->help));
		assert_true(!stage->keep != !stage->run);
		assert_true(stage->per_entry || !per_entry); /* those of a level come first */
		per_entry = stage->per_entry;
	}
}

static void check_strategy(const struct strategy *strategy)
{
	assert_true(is_kebab_case(strategy->name));
	assert_true(is_sentence(strategy->help));
	assert_non_null(strategy->picker);
	assert_ptr_equal(strategy_named(SPAN(strategy->name)), strategy);
	for (size_t j = 0; j < WEIGHINGS_MAX && strategy->weighings[j].signal; j++)
		assert_true(strategy->weighings[j].weight > 0);
	if (!strategy->falls_to)
		return;
	assert_non_null(strategy->weighings[0].signal);
	assert_null(strategy->falls_to->falls_to);
	assert_int_equal(strategy->falls_to->picker->settings_size, 0);
	assert_false(strategy->falls_to->weighings[0].signal->reads_load);
}

static void every_strategy(void **state)
{
	(void)state;
	for (size_t i = 0; strategy_at(i); i++)
		check_strategy(strategy_at(i));
	assert_null(strategy_named(SPAN("no-such")));
	assert_null(strategy_named(SPAN("")));
}

static void names_of_the_two_public_designs_are_understood(void **state)
{
	(void)state;
	assert_ptr_equal(strategy_named(SPAN("default")), strategy_named(SPAN("least-work")));
	assert_ptr_equal(strategy_named(SPAN("least_gpu_cache")),
	                 strategy_named(SPAN("least-kv-cache")));
	assert_ptr_equal(strategy_named(SPAN("Soft_K_Choice")),
	                 strategy_named(SPAN("soft-k-choice")));
	assert_ptr_equal(strategy_named(SPAN("global_best")), strategy_named(SPAN("global-best")));
}

static void every_option_of_a_policy(void **state)
{
	(void)state;
	check_options(policy_options, sizeof(struct policy));
	check_options(prefix_options, sizeof(struct prefix_policy));
	check_options(health_options, sizeof(struct health_policy));
	check_options(entry_options, sizeof(struct entry_policy));
	check_options(limits_options, sizeof(struct limits));
	check_options(instance_options, sizeof(struct instance_policy));
	check_options(affinity_options, sizeof(struct affinity));
}

int main(void)
{
	const struct CMUnitTest tables[] = {
		cmocka_unit_test(every_picker),
		cmocka_unit_test(every_signal),
		cmocka_unit_test(every_stage),
		cmocka_unit_test(every_strategy),
		cmocka_unit_test(names_of_the_two_public_designs_are_understood),
		cmocka_unit_test(every_option_of_a_policy),
	};

	return cmocka_run_group_tests(tables, NULL, NULL);
}
