/* ttft_fit.c - fading sums of each target; those of an instance are added up when one
 * of its replicas needs them, once after each sample. */
#include "policies/state/ttft_fit.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"

static const double memory = 0.98;
static const uint32_t samples_to_fit = 8;
static const double spread_to_fit = 256; /* tokens */
static const double slope_least = 1.0 / 200000, slope_most = 1.0 / 50;
static const double base_most = 10;
static const double clip_factor = 5, clip_least_s = 0.05;
static const struct ttft_line unknown = { .slope = 1.0 / 8000, .base = 0.05 };

struct sums {
	double n, x, y, xx, xy;
	uint32_t samples;
};

struct fit {
	struct sums sums; /* of a replica; of an instance: of all its replicas, as of when summed */
	uint32_t added;   /* never starts anew, so that a sample of before is known as such */
	uint32_t forgotten; /* samples up to this one count no more */
	bool summed;
};

struct ttft_fits {
	uint32_t targets;
	struct fit *of;
};

struct ttft_fits *ttft_fits_new(uint32_t targets)
{
	struct ttft_fits *fits = calloc(1, sizeof(*fits));

	BUG_ON(targets == 0);
	if (!fits)
		return NULL;
	fits->targets = targets;
	fits->of = calloc(targets, sizeof(*fits->of));
	if (!fits->of) {
		ttft_fits_free(fits);
		return NULL;
	}
	return fits;
}

void ttft_fits_free(struct ttft_fits *fits)
{
	if (!fits)
		return;
	free(fits->of);
	free(fits);
}

static struct fit *fit_of(const struct ttft_fits *fits, uint32_t target)
{
	BUG_ON(target >= fits->targets);
	return &fits->of[target];
}

static double within(double value, double least, double most)
{
	if (!(value >= least))
		return least;
	return value < most ? value : most;
}

/* What is missing of its own comes from the next level. */
static struct ttft_line line_of(const struct sums *sums, struct ttft_line next)
{
	double spread = sums->n * sums->xx - sums->x * sums->x; /* x n squared */
	double slope = next.slope;

	if (sums->samples < samples_to_fit)
		return next;
	if (spread >= spread_to_fit * spread_to_fit * sums->n * sums->n)
		slope = within((sums->n * sums->xy - sums->x * sums->y) / spread, slope_least,
		               slope_most);
	return (struct ttft_line){
		.slope = slope,
		.base = within((sums->y - slope * sums->x) / sums->n, 0, base_most),
	};
}

static void sum_up(const struct ttft_fits *fits, const struct instance *instance, struct fit *all)
{
	all->sums = (struct sums){ 0 };
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct sums *sums = &fit_of(fits, instance->replicas[i].target->id)->sums;

		all->sums.n += sums->n;
		all->sums.x += sums->x;
		all->sums.y += sums->y;
		all->sums.xx += sums->xx;
		all->sums.xy += sums->xy;
		all->sums.samples += sums->samples;
	}
	all->summed = true;
}

static struct ttft_line line_of_all(const struct ttft_fits *fits, const struct instance *instance)
{
	struct fit *all = fit_of(fits, instance->target->id);

	if (!all->summed)
		sum_up(fits, instance, all);
	return line_of(&all->sums, unknown);
}

static bool has_own(const struct sums *sums)
{
	return sums->samples >= samples_to_fit &&
	       sums->n * sums->xx - sums->x * sums->x >=
	               spread_to_fit * spread_to_fit * sums->n * sums->n;
}

struct ttft_line ttft_fit_line(struct ttft_fits *fits, const struct instance *instance,
                               uint32_t target)
{
	const struct sums *own = &fit_of(fits, target)->sums;
	struct ttft_line line;

	if (target == instance->target->id)
		return line_of_all(fits, instance);
	line = line_of(own, has_own(own) ? unknown : line_of_all(fits, instance));
	line.trusted = own->samples >= samples_to_fit;
	return line;
}

static void add(struct sums *sums, double x, double y, double weight)
{
	sums->n += weight;
	sums->x += weight * x;
	sums->y += weight * y;
	sums->xx += weight * x * x;
	sums->xy += weight * x * y;
}

struct ttft_sample ttft_fit_add(struct ttft_fits *fits, const struct instance *instance,
                                uint32_t target, double tokens, double seconds)
{
	struct fit *fit = fit_of(fits, target);
	struct ttft_line line = ttft_fit_line(fits, instance, target);
	double predicted = ttft_line_ms(line, tokens) / 1e3;
	double most = clip_factor * (predicted > clip_least_s ? predicted : clip_least_s);
	struct ttft_sample sample = { .x = (float)tokens, .y = (float)seconds };

	if (seconds > 0)
		sample.error = (float)(fabs(predicted - seconds) / seconds);
	if (line.trusted && seconds > most)
		sample.y = (float)most;
	fit->sums.n *= memory;
	fit->sums.x *= memory;
	fit->sums.y *= memory;
	fit->sums.xx *= memory;
	fit->sums.xy *= memory;
	add(&fit->sums, (double)sample.x, (double)sample.y, 1);
	fit->sums.samples++;
	sample.number = ++fit->added;
	fit_of(fits, instance->target->id)->summed = false;
	return sample;
}

/* Sums are linear, so one can be taken out with the weight it has by now. */
void ttft_fit_remove(struct ttft_fits *fits, const struct instance *instance, uint32_t target,
                     const struct ttft_sample *sample)
{
	struct fit *fit = fit_of(fits, target);

	if (sample->number == 0 || sample->number <= fit->forgotten)
		return;
	add(&fit->sums, (double)sample->x, (double)sample->y,
	    -exp(log(memory) * (fit->added - sample->number)));
	fit->sums.samples--;
	if (fit->sums.samples == 0)
		fit->sums = (struct sums){ 0 };
	fit_of(fits, instance->target->id)->summed = false;
}

void ttft_fits_forget(struct ttft_fits *fits, uint32_t target)
{
	struct fit *fit = fit_of(fits, target);

	fit->sums = (struct sums){ 0 };
	fit->forgotten = fit->added;
	fit->summed = false;
}
