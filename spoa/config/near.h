/* near.h - which of the allowed names somebody may have meant.
 *
 *     struct near near = near_to("prefix-cach");
 *
 *     near_offer(&near, "prefix-cache");
 *     near_hint(&near, hint);         // " (did you mean \"prefix-cache\"?)"
 */
#pragma once

#include <stddef.h>

enum { NEAR_HINT_MAX = 96 };

struct near {
	const char *wanted;
	const char *best; /* NULL as long as nothing is near */
	size_t distance;  /* of the best; or one more than the largest that counts */
};

/* Borrows the text. */
struct near near_to(const char *wanted);
/* Borrows the name. The first of several equally near ones stays. */
void near_offer(struct near *near, const char *name);
/* Empty when nothing is near. */
void near_hint(const struct near *near, char ret_hint[NEAR_HINT_MAX]);

/* Edits from one to the other: a letter more, less, other, or two swapped; case
 * and _ for - are no edit. SIZE_MAX when either is too long to be a name. */
size_t near_distance(const char *a, const char *b);
