/* show_decisions.c - decisions as a list, or one of them with all its reasons. */
#include <string.h>

#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

static void decision_row(struct table *table, const json_t *decision)
{
	const json_t *end = json_object_get(decision, "end");

	table_cell(table, "%s", field_text(decision, "ts"));
	table_cell(table, "%s", field_text(decision, "id"));
	table_cell(table, "%s", field_text(decision, "model"));
	table_cell(table, "%s", field_text(decision, "action"));
	table_cell(table, "%s", field_text(decision, "reason"));
	table_cell(table, "%s", field_text(decision, "instance"));
	table_cell(table, "%s", field_text(decision, "replica"));
	field_cell(table, decision, "matched", 0);
	field_cell(table, decision, "plen", 0);
	table_cell(table, "%s", field_text(end, "served"));
	field_cell(table, end, "status", 0);
	field_cell(table, end, "ttft_ms", 0);
	field_cell(table, end, "e2e_ms", 0);
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
	char part[96];

	part_text(candidate, part, sizeof(part));
	table_cell(table, "%s", field_text(candidate, "name"));
	field_cell(table, candidate, "share", 2);
	field_cell(table, candidate, "running", 1);
	field_cell(table, candidate, "prefill_tokens", 0);
	field_cell(table, candidate, "uncached_tokens", 0);
	field_cell(table, candidate, "score", 3);
	if (json_is_true(json_object_get(candidate, "chosen")))
		table_cell(table, "<- chosen%s", part);
	else if (json_is_true(json_object_get(candidate, "prefill")))
		table_cell(table, "<- computes the prompt%s", part);
	else if (json_object_get(candidate, "dropped_by"))
		table_cell(table, "dropped by %s%s", field_text(candidate, "dropped_by"), part);
	else
		table_cell(table, "standing%s", part);
}

static void show_level(const json_t *level, FILE *out)
{
	json_t *dropped = json_object_get(level, "dropped");
	json_t *candidate;
	json_t *count;
	struct table table;
	const char *stage;
	size_t i;

	(void)fprintf(out, "\n%s by %s%s: %.0f candidates", field_text(level, "level"),
	              field_text(level, "strategy"),
	              json_is_true(json_object_get(level, "degraded")) ? " (lacked its data)" : "",
	              field_number(level, "count"));
	json_object_foreach(dropped, stage, count)(void) fprintf(
	        out, ", %s dropped %" JSON_INTEGER_FORMAT, stage, json_integer_value(count));
	(void)fprintf(out, ", %.0f standing\n", field_number(level, "standing"));
	table_init(&table, "  CANDIDATE|>SHARE|>RUNNING|>PREFILL|>UNCACHED|>SCORE|STANDING");
	json_array_foreach(json_object_get(level, "candidates"), i, candidate)
	        candidate_row(&table, candidate);
	table_print(&table, out);
	table_done(&table);
}

static void show_end(const json_t *end, FILE *out)
{
	(void)fprintf(out, "\nserved by %s/%s %s%s, status %.0f, %s", field_text(end, "backend"),
	              field_text(end, "served"), field_text(end, "addr"),
	              json_is_true(json_object_get(end, "moved")) ? " (not the chosen one)" : "",
	              field_number(end, "status"), field_text(end, "term"));
	if (json_is_number(json_object_get(end, "ttft_ms")))
		(void)fprintf(out, ", first byte after %.0f ms", field_number(end, "ttft_ms"));
	if (json_is_number(json_object_get(end, "e2e_ms")))
		(void)fprintf(out, ", end after %.0f ms", field_number(end, "e2e_ms"));
	(void)fprintf(out, ", %.0f bytes, %.0f retries\n", field_number(end, "bytes"),
	              field_number(end, "retries"));
}

static void show_one(const json_t *decision, FILE *out)
{
	const json_t *end = json_object_get(decision, "end");
	char part[96];
	json_t *level;
	size_t i;

	part_text(decision, part, sizeof(part));
	(void)fprintf(out, "request %s  %s  model %s  tenant %s  prompt %.0f B  blocks %.0f\n",
	              field_text(decision, "id"), field_text(decision, "ts"),
	              field_text(decision, "model"), field_text(decision, "tenant"),
	              field_number(decision, "plen"), field_number(decision, "blocks"));
	(void)fprintf(out,
	              "%s: %s/%s %s%s, reason %s, %.0f B of the prompt held, decided in %.0f us\n",
	              field_text(decision, "action"), field_text(decision, "instance"),
	              field_text(decision, "replica"), field_text(decision, "addr"), part,
	              field_text(decision, "reason"), field_number(decision, "matched"),
	              field_number(decision, "decide_us"));
	if (json_object_get(decision, "prefill"))
		(void)fprintf(out, "prompt computed by %s %s\n", field_text(decision, "prefill"),
		              field_text(decision, "prefill_addr"));
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
