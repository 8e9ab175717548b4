/* show_fields.c - texts and numbers of a JSON object, for tables. */
#include "spoa/admin/show_fields.h"

#include <stdio.h>

#include "spoa/admin/table.h"

const char *field_text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value && value[0] != '\0' ? value : "-";
}

double field_number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

void part_text(const json_t *object, char *ret_text, size_t room)
{
	const char *role = json_string_value(json_object_get(object, "role"));
	const char *roleset = json_string_value(json_object_get(object, "roleset"));

	char rank[32] = "";

	if (json_is_integer(json_object_get(object, "rank")))
		(void)snprintf(rank, sizeof(rank), ", rank %.0f", field_number(object, "rank"));
	(void)snprintf(ret_text, room, "%s%s%s%s%s", rank, role ? ", " : "", role ? role : "",
	               role && roleset ? " of " : "", role && roleset ? roleset : "");
}

void field_cell(struct table *table, const json_t *object, const char *name, int digits)
{
	if (json_is_number(json_object_get(object, name)))
		table_cell(table, "%.*f", digits, field_number(object, name));
	else
		table_cell(table, "-");
}
