/* median.c - by selection (Hoare): linear, where sorting would not be. */
#include "policies/stages/median.h"

#include "policies/core/bug.h"

static void swap(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/* Puts what is below the pivot left of what is above it; the two ends of the gap
 * between them come back in *i and *j (*j < *i). */
static void split(double *numbers, double pivot, ptrdiff_t *i, ptrdiff_t *j)
{
	while (*i <= *j) {
		while (numbers[*i] < pivot)
			(*i)++;
		while (numbers[*j] > pivot)
			(*j)--;
		if (*i <= *j)
			swap(&numbers[(*i)++], &numbers[(*j)--]);
	}
}

/* Afterwards numbers[k] is the k-th smallest, and none before it is larger. */
static void select_kth(double *numbers, ptrdiff_t count, ptrdiff_t k)
{
	ptrdiff_t left = 0, right = count - 1;

	while (left < right) {
		ptrdiff_t i = left, j = right;

		split(numbers, numbers[k], &i, &j);
		if (j < k)
			left = i;
		if (k < i)
			right = j;
	}
}

double median(double *numbers, size_t count)
{
	size_t middle = count / 2;
	double below;

	BUG_ON(count == 0);
	select_kth(numbers, (ptrdiff_t)count, (ptrdiff_t)middle);
	if (count % 2 == 1)
		return numbers[middle];
	below = numbers[0];
	for (size_t i = 1; i < middle; i++)
		below = numbers[i] > below ? numbers[i] : below;
	return (below + numbers[middle]) / 2;
}
