/* show_limits.c - callers, models and what they use, as tables. */
#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

/* "12.5 of 50", "-" where there is no such limit. */
static void used_cell(struct table *table, const json_t *limit, const char *unit)
{
	const json_t *of = json_object_get(limit, unit);

	if (json_is_object(of))
		table_cell(table, "%.0f of %.0f", field_number(of, "used"),
		           field_number(of, "limit"));
	else
		table_cell(table, "-");
}

static void reset_cell(struct table *table, const json_t *limit)
{
	double requests = field_number(json_object_get(limit, "requests"), "reset_s");
	double tokens = field_number(json_object_get(limit, "tokens"), "reset_s");
	double s = requests > tokens ? requests : tokens;

	table_cell(table, s < 10 ? "%.2fs" : "%.0fs", s);
}

void show_limits(const json_t *object, FILE *out)
{
	const json_t *list = json_object_get(object, "limits");
	struct table table;
	json_t *limit;
	size_t i;

	(void)fprintf(out, "%.0f in use, %.0f known of %.0f, %.0f times there was no place\n\n",
	              field_number(object, "in_use"), field_number(object, "keys"),
	              field_number(object, "capacity"), field_number(object, "not_limited"));
	table_init(&table, "TENANT|MODEL|>REQUESTS|>TOKENS|>FREE IN|>INFLIGHT|>MOST");
	json_array_foreach(list, i, limit)
	{
		table_cell(&table, "%s", field_text(limit, "tenant"));
		table_cell(&table, "%s", field_text(limit, "model"));
		used_cell(&table, limit, "requests");
		used_cell(&table, limit, "tokens");
		reset_cell(&table, limit);
		field_cell(&table, limit, "inflight", 0);
		field_cell(&table, limit, "max_inflight", 0);
	}
	table_print(&table, out);
	table_done(&table);
	if (field_number(object, "in_use") > (double)json_array_size(list))
		(void)fprintf(out, "and %.0f more\n",
		              field_number(object, "in_use") - (double)json_array_size(list));
}

void show_tenants(const json_t *object, FILE *out)
{
	struct table table;
	json_t *tenant;
	size_t i;

	(void)fprintf(out,
	              "%.0f active with %.0f to %.0f tokens, %.0f known of %.0f, %.0f dropped\n\n",
	              field_number(object, "active"), field_number(object, "least"),
	              field_number(object, "most"), field_number(object, "known"),
	              field_number(object, "capacity"), field_number(object, "dropped"));
	table_init(&table, "TENANT|POLICY|>WEIGHT|>TOKENS|>REQUESTS|>SEEN");
	json_array_foreach(json_object_get(object, "tenants"), i, tenant)
	{
		table_cell(&table, "%s", field_text(tenant, "tenant"));
		table_cell(&table, "%s", field_text(tenant, "policy"));
		table_cell(&table, "%g", field_number(tenant, "weight"));
		field_cell(&table, tenant, "tokens", 0);
		field_cell(&table, tenant, "requests", 0);
		table_cell(&table, "%.0fs ago", field_number(tenant, "seen_s"));
	}
	table_print(&table, out);
	table_done(&table);
}
