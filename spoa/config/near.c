/* near.c - which of the allowed names somebody may have meant.
 *
 * Damerau-Levenshtein distance (without edits between swapped letters). A name
 * is near within 2 edits, or a third of its length when that is more; never when
 * nothing of it would remain. */
#include "spoa/config/near.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_MAX = 64 };

static char folded(char c)
{
	if (c == '_')
		return '-';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(const char *a, const char *b)
{
	size_t rows[3][LENGTH_MAX + 1];
	size_t la = strnlen(a, LENGTH_MAX + 1);
	size_t lb = strnlen(b, LENGTH_MAX + 1);

	if (la > LENGTH_MAX || lb > LENGTH_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *higher = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			char x = folded(a[i - 1]);
			char y = folded(b[j - 1]);

			row[j] =
			        smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2]))
				row[j] = smaller(row[j], higher[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

struct near near_to(const char *wanted)
{
	size_t len = strlen(wanted);
	size_t most = len / 3 > 2 ? len / 3 : 2;

	return (struct near){ .wanted = wanted, .distance = smaller(most + 1, len) };
}

void near_offer(struct near *near, const char *name)
{
	size_t distance = near_distance(near->wanted, name);

	if (distance < near->distance) {
		near->distance = distance;
		near->best = name;
	}
}

void near_hint(const struct near *near, char ret_hint[NEAR_HINT_MAX])
{
	ret_hint[0] = '\0';
	if (near->best)
		(void)snprintf(ret_hint, NEAR_HINT_MAX, " (did you mean \"%s\"?)", near->best);
}
