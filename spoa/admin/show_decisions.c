/* show_decisions.c - decisions as a list, or one of them with all its reasons. */
#include <string.h>

#include "spoa/admin/show.h"
#include "spoa/admin/table.h"

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value && value[0] != '\0' ? value : "-";
}

static double number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static void cell(struct table *table, const json_t *object, const char *name, int digits)
{
	if (json_is_number(json_object_get(object, name)))
		table_cell(table, "%.*f", digits, number(object, name));
	else
		table_cell(table, "-");
}

static void decision_row(struct table *table, const json_t *decision)
{
	const json_t *end = json_object_get(decision, "end");

	table_cell(table, "%s", text(decision, "ts"));
	table_cell(table, "%s", text(decision, "id"));
	table_cell(table, "%s", text(decision, "model"));
	table_cell(table, "%s", text(decision, "action"));
	table_cell(table, "%s", text(decision, "reason"));
	table_cell(table, "%s", text(decision, "instance"));
	table_cell(table, "%s", text(decision, "replica"));
	cell(table, decision, "matched", 0);
	cell(table, decision, "plen", 0);
	table_cell(table, "%s", text(end, "served"));
	cell(table, end, "status", 0);
	cell(table, end, "ttft_ms", 0);
	cell(table, end, "e2e_ms", 0);
}

static void show_list(const json_t *list, FILE *out)
{
	struct table table;
	json_t *decision;
	size_t i;

	table_init(&table, "TIME|ID|MODEL|ACTION|REASON|INSTANCE|REPLICA|>MATCHED|>PROMPT|SERVED|"
	                   ">STATUS|>TTFT ms|>E2E ms");
	json_array_foreach(list, i, decision) decision_row(&table, decision);
	table_print(&table, out);
	table_done(&table);
}

static void candidate_row(struct table *table, const json_t *candidate)
{
	table_cell(table, "%s", text(candidate, "name"));
	cell(table, candidate, "share", 2);
	cell(table, candidate, "running", 1);
	cell(table, candidate, "prefill_tokens", 0);
	cell(table, candidate, "uncached_tokens", 0);
	cell(table, candidate, "score", 3);
	if (json_is_true(json_object_get(candidate, "chosen")))
		table_cell(table, "<- chosen");
	else if (json_object_get(candidate, "dropped_by"))
		table_cell(table, "dropped by %s", text(candidate, "dropped_by"));
	else
		table_cell(table, "standing");
}

static void show_level(const json_t *level, FILE *out)
{
	json_t *dropped = json_object_get(level, "dropped");
	json_t *candidate;
	json_t *count;
	struct table table;
	const char *stage;
	size_t i;

	(void)fprintf(out, "\n%s by %s%s: %.0f candidates", text(level, "level"),
	              text(level, "strategy"),
	              json_is_true(json_object_get(level, "degraded")) ? " (lacked its data)" : "",
	              number(level, "count"));
	json_object_foreach(dropped, stage, count)(void) fprintf(
	        out, ", %s dropped %" JSON_INTEGER_FORMAT, stage, json_integer_value(count));
	(void)fprintf(out, ", %.0f standing\n", number(level, "standing"));
	table_init(&table, "  CANDIDATE|>SHARE|>RUNNING|>PREFILL|>UNCACHED|>SCORE|STANDING");
	json_array_foreach(json_object_get(level, "candidates"), i, candidate)
	        candidate_row(&table, candidate);
	table_print(&table, out);
	table_done(&table);
}

static void show_end(const json_t *end, FILE *out)
{
	(void)fprintf(out, "\nserved by %s/%s %s%s, status %.0f, %s", text(end, "backend"),
	              text(end, "served"), text(end, "addr"),
	              json_is_true(json_object_get(end, "moved")) ? " (not the chosen one)" : "",
	              number(end, "status"), text(end, "term"));
	if (json_is_number(json_object_get(end, "ttft_ms")))
		(void)fprintf(out, ", first byte after %.0f ms", number(end, "ttft_ms"));
	if (json_is_number(json_object_get(end, "e2e_ms")))
		(void)fprintf(out, ", end after %.0f ms", number(end, "e2e_ms"));
	(void)fprintf(out, ", %.0f bytes, %.0f retries\n", number(end, "bytes"),
	              number(end, "retries"));
}

static void show_one(const json_t *decision, FILE *out)
{
	const json_t *end = json_object_get(decision, "end");
	json_t *level;
	size_t i;

	(void)fprintf(out, "request %s  %s  model %s  tenant %s  prompt %.0f B  blocks %.0f\n",
	              text(decision, "id"), text(decision, "ts"), text(decision, "model"),
	              text(decision, "tenant"), number(decision, "plen"),
	              number(decision, "blocks"));
	(void)fprintf(out,
	              "%s: %s/%s %s, reason %s, %.0f B of the prompt held, decided in %.0f us\n",
	              text(decision, "action"), text(decision, "instance"),
	              text(decision, "replica"), text(decision, "addr"), text(decision, "reason"),
	              number(decision, "matched"), number(decision, "decide_us"));
	json_array_foreach(json_object_get(decision, "levels"), i, level) show_level(level, out);
	if (end)
		show_end(end, out);
	else
		(void)fprintf(out, "\nnot ended yet, as far as we know\n");
}

void show_decisions(const json_t *object, FILE *out)
{
	const json_t *list = json_object_get(object, "decisions");

	if (list)
		show_list(list, out);
	else
		show_one(object, out);
}
