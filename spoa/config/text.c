/* text.c - a whole file in memory.
 *
 * Read in pieces instead of asking for the size: what is mounted or piped has
 * none worth believing. */
#include "spoa/config/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PIECE = 16 << 10 };

static char *read_all(FILE *file, size_t max, size_t *ret_len, struct error *error)
{
	size_t capacity = FIRST_PIECE;
	size_t len = 0;
	char *text = malloc(capacity + 1);
	char *larger;

	while (text) {
		len += fread(text + len, 1, capacity - len, file);
		if (len < capacity || len > max)
			break;
		capacity *= 2;
		larger = realloc(text, capacity + 1);
		if (!larger)
			free(text);
		text = larger;
	}
	if (!text || ferror(file) || len > max) {
		if (text && len > max)
			(void)error_set(error, "more than %zu bytes", max);
		else
			(void)error_set(error, "cannot read: %s", strerror(errno));
		free(text);
		return NULL;
	}
	text[len] = '\0';
	*ret_len = len;
	return text;
}

char *text_read(const char *path, size_t max, size_t *ret_len, struct error *error)
{
	FILE *file = fopen(path, "rbe");
	char *text;

	if (!file) {
		(void)error_set(error, "cannot open: %s", strerror(errno));
		return NULL;
	}
	text = read_all(file, max, ret_len, error);
	(void)fclose(file);
	return text;
}
