/* text_json.c - texts of strangers as JSON strings. */
#include "spoa/admin/text_json.h"

#include <stdlib.h>
#include <string.h>

json_t *text_json(struct span text)
{
	json_t *string = json_stringn(text.len > 0 ? text.at : "", text.len);
	char *tamed;

	if (string)
		return string;
	tamed = malloc(text.len + 1);
	if (!tamed)
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		tamed[i] = (char)((unsigned char)text.at[i] < 0x80 ? text.at[i] : '?');
	string = json_stringn(tamed, text.len);
	free(tamed);
	return string;
}

json_t *name_json(const char *name)
{
	return text_json((struct span){ name, name ? strlen(name) : 0 });
}

json_t *known_json(double value)
{
	return value < 0 ? json_null() : json_real(value);
}
