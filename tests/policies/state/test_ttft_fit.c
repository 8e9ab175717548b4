/* test_ttft_fit.c - time to first byte as a line over tokens. Proves B031 in part:
 * predicted-ttft on the specification's numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/ttft_fit.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

/* An instance (target 2) of two replicas (0 and 1). */
struct scene {
	struct ttft_fits *fits;
	struct target targets[3];
	struct replica replicas[2];
	struct instance instance;
};

static int open_scene(void **state)
{
	static struct scene scene;

	scene = (struct scene){ .fits = ttft_fits_new(3) };
	for (uint32_t i = 0; i < 3; i++)
		scene.targets[i].id = i;
	scene.replicas[0].target = &scene.targets[0];
	scene.replicas[1].target = &scene.targets[1];
	scene.instance.target = &scene.targets[2];
	scene.instance.replicas = scene.replicas;
	scene.instance.replica_count = 2;
	*state = &scene;
	return scene.fits ? 0 : -1;
}

static int close_scene(void **state)
{
	struct scene *scene = *state;

	ttft_fits_free(scene->fits);
	return 0;
}

static struct ttft_sample add(struct scene *scene, uint32_t target, double tokens, double seconds)
{
	return ttft_fit_add(scene->fits, &scene->instance, target, tokens, seconds);
}

static struct ttft_line line(struct scene *scene, uint32_t target)
{
	return ttft_fit_line(scene->fits, &scene->instance, target);
}

static void eight_samples_on_a_line_are_that_line(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 8; i++)
		(void)add(scene, 0, 1000 * i, 0.05 + 1000 * i / 8000.0);
	assert_within(line(scene, 0).slope, 0.000125, 1e-9);
	assert_within(line(scene, 0).base, 0.05, 1e-6);
	assert_true(line(scene, 0).trusted);
	assert_within(ttft_line_ms(line(scene, 0), 4000 + 1000), 675, 1e-3);
	assert_within(ttft_line_ms(line(scene, 0), 9000), 1175, 1e-3);
	assert_within(ttft_line_prefill_rate(line(scene, 0)), 8000, 1e-2);
}

static const double noisy[][2] = {
	{ 500, .12 }, { 4000, .50 }, { 1000, .20 }, { 8000, 1.10 }, { 2000, .30 },
	{ 0, .05 },   { 6000, .80 }, { 3000, .45 }, { 500, .10 },   { 7000, .95 },
};

static void make_noisy(struct scene *scene, uint32_t target, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)add(scene, target, noisy[i][0], noisy[i][1]);
}

static void noise_is_fitted_with_a_fading_memory(void **state)
{
	struct scene *scene = *state;

	make_noisy(scene, 0, 10);
	assert_within(line(scene, 0).slope, 1.283083880e-4, 1e-11);
	assert_within(line(scene, 0).base, 0.046560235, 1e-6);
	assert_within(ttft_line_ms(line(scene, 0), 5000), 688.1022, 1e-2);
	assert_within(ttft_line_prefill_rate(line(scene, 0)), 7793.72, 1e-1);
	assert_true(line(scene, 0).trusted);
}

static void seven_samples_are_none(void **state)
{
	struct scene *scene = *state;

	assert_within(ttft_line_ms(line(scene, 0), 5000), 675, 1e-9);
	make_noisy(scene, 0, 7);
	assert_within(ttft_line_ms(line(scene, 0), 5000), 675, 1e-9);
	assert_false(line(scene, 0).trusted);
}

/* No spread, and nothing of the others: the slope is the default, the base its own. */
static void without_spread_only_the_base_is_learnt(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 10; i++)
		(void)add(scene, 0, 1000, 0.3);
	assert_within(line(scene, 0).slope, 1.0 / 8000, 1e-12);
	assert_within(line(scene, 0).base, 0.175, 1e-6);
	assert_true(line(scene, 0).trusted);
}

/* 0 and 2 x 256 in turn have a spread of just 256. */
static void a_spread_of_256_tokens_is_enough(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 400; i++)
		(void)add(scene, 0, i % 2 * 500, 0.1 + i % 2 * 500 / 1000.0);
	assert_within(line(scene, 0).slope, 1.0 / 8000, 1e-12);
	for (int i = 0; i < 400; i++)
		(void)add(scene, 0, i % 2 * 530, 0.1 + i % 2 * 530 / 1000.0);
	assert_within(line(scene, 0).slope, 1.0 / 1000, 1e-6);
}

static void the_others_of_the_instance_lend_theirs(void **state)
{
	struct scene *scene = *state;

	make_noisy(scene, 1, 10);
	assert_within(line(scene, 0).slope, 1.283083880e-4, 1e-11);
	assert_within(line(scene, 0).base, 0.046560235, 1e-6);
	assert_false(line(scene, 0).trusted);
	assert_within(line(scene, 2).slope, 1.283083880e-4, 1e-11); /* the instance itself */
	assert_false(line(scene, 2).trusted);
	for (int i = 0; i < 10; i++)
		(void)add(scene, 0, 1000, 0.3);
	/* Now the pool is both. */
	assert_true(line(scene, 0).slope < 1.283083880e-4);
	assert_within(line(scene, 0).base, 0.3 - 1000 * line(scene, 0).slope, 1e-6);
	ttft_fits_forget(scene->fits, 1);
	(void)add(scene, 0, 1000, 0.3);
	assert_within(line(scene, 0).slope, 1.0 / 8000, 1e-12);
}

/* Four of each: together they are eight. */
static void few_samples_of_each_are_enough_together(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 4; i++) {
		(void)add(scene, 0, 1000 * i, 0.1 + 1000 * i / 4000.0);
		(void)add(scene, 1, 1000 * i, 0.1 + 1000 * i / 4000.0);
	}
	assert_within(line(scene, 0).slope, 1.0 / 4000, 1e-8);
	assert_within(line(scene, 1).base, 0.1, 1e-6);
	assert_false(line(scene, 0).trusted);
}

/* From eight on: 5 x what was predicted, or 5 x 50 ms. */
static void one_that_is_far_off_is_clipped(void **state)
{
	struct scene *scene = *state;
	struct ttft_sample sample;

	for (int i = 0; i < 7; i++)
		(void)add(scene, 0, 1000 * i, 0.05 + 1000 * i / 8000.0);
	sample = add(scene, 0, 7000, 0.05 + 7000 / 8000.0);
	assert_within((double)sample.y, 0.925, 1e-6);
	sample = add(scene, 0, 2000, 60);
	assert_within((double)sample.y, 5 * 0.3, 1e-5);
	assert_within((double)sample.error, 59.7 / 60, 1e-5);
	ttft_fits_forget(scene->fits, 0);
	for (int i = 0; i < 8; i++)
		(void)add(scene, 0, 1000 * i, 1e-3 + 1e-3 * i);
	sample = add(scene, 0, 0, 60);
	assert_within((double)sample.y, 0.25, 1e-6);
}

static void slope_and_base_stay_within_what_engines_can_do(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 8; i++)
		(void)add(scene, 0, 1000 * i, 20 - i); /* faster with more tokens */
	assert_within(line(scene, 0).slope, 1.0 / 200000, 1e-12);
	assert_within(line(scene, 0).base, 10, 1e-12);
	for (int i = 0; i < 8; i++)
		(void)add(scene, 1, 1000 * i, 1 + 100 * i);
	assert_within(line(scene, 1).slope, 1.0 / 50, 1e-12);
	ttft_fits_forget(scene->fits, 1);
	for (int i = 0; i < 8; i++)
		(void)add(scene, 1, 10000 + 1000 * i, i);
	assert_true(line(scene, 1).base == 0);
}

static void a_sample_that_was_none_leaves_no_trace(void **state)
{
	struct scene *scene = *state;
	struct ttft_sample odd;

	make_noisy(scene, 0, 4);
	odd = add(scene, 0, 9000, 0.01);
	for (size_t i = 4; i < 10; i++)
		(void)add(scene, 0, noisy[i][0], noisy[i][1]);
	assert_true(line(scene, 0).slope < 1.1e-4);
	ttft_fit_remove(scene->fits, &scene->instance, 0, &odd);
	/* Those before it have faded once more than without it. */
	assert_within(line(scene, 0).slope, 1.283083880e-4, 2e-7);
	ttft_fit_remove(scene->fits, &scene->instance, 0, &(struct ttft_sample){ .x = 5 });
	assert_within(line(scene, 0).slope, 1.283083880e-4, 2e-7);
}

static void what_is_forgotten_cannot_be_taken_back(void **state)
{
	struct scene *scene = *state;
	struct ttft_sample odd = add(scene, 0, 9000, 0.01);

	ttft_fits_forget(scene->fits, 0);
	make_noisy(scene, 0, 10);
	ttft_fit_remove(scene->fits, &scene->instance, 0, &odd);
	assert_within(line(scene, 0).slope, 1.283083880e-4, 1e-11);
	assert_within(line(scene, 0).base, 0.046560235, 1e-6);
}

static void the_only_sample_taken_back_is_no_sample(void **state)
{
	struct scene *scene = *state;
	struct ttft_sample odd = add(scene, 0, 9000, 0.01);

	ttft_fit_remove(scene->fits, &scene->instance, 0, &odd);
	make_noisy(scene, 0, 10);
	assert_within(line(scene, 0).slope, 1.283083880e-4, 1e-11);
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(ttft_fits_new(2));
	}
	assert_int_equal(failing, 0);
	ttft_fits_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest fits[] = {
		TEST(eight_samples_on_a_line_are_that_line),
		TEST(noise_is_fitted_with_a_fading_memory),
		TEST(seven_samples_are_none),
		TEST(without_spread_only_the_base_is_learnt),
		TEST(a_spread_of_256_tokens_is_enough),
		TEST(the_others_of_the_instance_lend_theirs),
		TEST(few_samples_of_each_are_enough_together),
		TEST(one_that_is_far_off_is_clipped),
		TEST(slope_and_base_stay_within_what_engines_can_do),
		TEST(a_sample_that_was_none_leaves_no_trace),
		TEST(what_is_forgotten_cannot_be_taken_back),
		TEST(the_only_sample_taken_back_is_no_sample),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(fits, NULL, NULL);
}
