/* show_sessions.c - where sessions are pinned, for people. */
#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

static void show_numbers(json_t *object, const char *title, FILE *out)
{
	const char *separator = "";
	const char *name;
	json_t *value;

	(void)fprintf(out, "%s ", title);
	json_object_foreach(object, name, value)
	{
		(void)fprintf(out, "%s%lld %s", separator, json_integer_value(value), name);
		separator = ", ";
	}
	(void)fputc('\n', out);
}

void show_sessions(const json_t *object, FILE *out)
{
	struct table table;
	json_t *row;
	size_t i;

	(void)fprintf(out, "%.0f of %.0f sessions pinned, for %.0f s, ids by %s\n",
	              field_number(object, "pins"), field_number(object, "capacity"),
	              field_number(object, "ttl_s"), field_text(object, "format"));
	show_numbers(json_object_get(object, "lookups"), "found:", out);
	show_numbers(json_object_get(object, "moves"), "moved:", out);
	show_numbers(json_object_get(object, "dropped"), "dropped:", out);
	(void)fprintf(out, "too busy to be kept: %.0f\n\n", field_number(object, "spilled"));
	table_init(&table, "TARGET|>PINS");
	json_array_foreach(json_object_get(object, "targets"), i, row)
	{
		table_cell(&table, "%s", field_text(row, "target"));
		field_cell(&table, row, "pins", 0);
	}
	table_print(&table, out);
	table_done(&table);
	if (json_array_size(json_object_get(object, "last")) == 0)
		return;
	(void)fputs("\nused last:\n", out);
	table_init(&table, "SESSION|TARGET|>OPEN|>IDLE s");
	json_array_foreach(json_object_get(object, "last"), i, row)
	{
		table_cell(&table, "%s", field_text(row, "session"));
		table_cell(&table, "%s", field_text(row, "target"));
		field_cell(&table, row, "open", 0);
		field_cell(&table, row, "idle_s", 1);
	}
	table_print(&table, out);
	table_done(&table);
}
