/* show_adapters.c - LoRA adapters, for people. */
#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

/* "r1 r3"; as much as there is room for. */
static void names_of(const json_t *list, char *text, size_t room)
{
	json_t *name;
	size_t used = 0, i;

	text[0] = '\0';
	json_array_foreach(list, i, name)
	{
		int more = snprintf(text + used, room - used, "%s%s", i > 0 ? " " : "",
		                    json_string_value(name));

		if (more < 0 || (size_t)more >= room - used)
			return;
		used += (size_t)more;
	}
}

void show_adapters(const json_t *object, FILE *out)
{
	struct table table;
	char names[256];
	json_t *row;
	size_t i;

	table_init(&table, "ADAPTER|BASE|INSTANCE|>OPEN|>HEAT|THERE");
	json_array_foreach(json_object_get(object, "adapters"), i, row)
	{
		names_of(json_object_get(row, "there"), names, sizeof(names));
		table_cell(&table, "%s", field_text(row, "adapter"));
		table_cell(&table, "%s", field_text(row, "base"));
		table_cell(&table, "%s", field_text(row, "instance"));
		field_cell(&table, row, "open", 0);
		field_cell(&table, row, "heat", 1);
		table_cell(&table, "%s", names);
	}
	table_print(&table, out);
	table_done(&table);
}
