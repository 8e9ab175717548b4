/* show_explain.c - a decision with all its reasons, for people (operators.md 3.1). */
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

static void candidate_row(struct table *table, const json_t *candidate, const char *reason)
{
	table_cell(table, "%s", text(candidate, "name"));
	cell(table, candidate, "share", 2);
	cell(table, candidate, "running", 1);
	cell(table, candidate, "pending", 0);
	cell(table, candidate, "prefill_tokens", 0);
	cell(table, candidate, "uncached_tokens", 0);
	cell(table, candidate, "ttft_ms", 0);
	cell(table, candidate, "e2e_ms", 0);
	cell(table, candidate, "kv_usage", 2);
	cell(table, candidate, "score", 3);
	if (json_is_true(json_object_get(candidate, "chosen")))
		table_cell(table, "<- chosen, reason %s", reason);
	else if (json_object_get(candidate, "dropped_by"))
		table_cell(table, "dropped by %s", text(candidate, "dropped_by"));
	else
		table_cell(table, "standing");
}

/* "collect 3, health 2, ...": how many stood after each stage, in its order. */
static void show_stages(const json_t *level, FILE *out)
{
	const char *separator = "";
	json_t *stage;
	size_t i;

	json_array_foreach(json_object_get(level, "stages"), i, stage)
	{
		(void)fprintf(out, "%s%s %.0f", separator, text(stage, "stage"),
		              number(stage, "stood"));
		separator = ", ";
	}
}

static void show_level(const json_t *level, const json_t *decision, FILE *out)
{
	bool instances = strcmp(text(level, "level"), "instance") == 0;
	json_t *candidates = json_object_get(level, "candidates");
	size_t shown = json_array_size(candidates);
	json_t *candidate;
	struct table table;
	size_t i;

	(void)fprintf(out, "\nlevel %d%s%s, strategy %s%s: ", instances ? 1 : 2,
	              instances ? "" : " of ", instances ? "" : text(decision, "instance"),
	              text(level, "strategy"),
	              json_is_true(json_object_get(level, "degraded")) ? " (lacked its data)" : "");
	show_stages(level, out);
	(void)fputc('\n', out);
	table_init(&table, instances ? "  INSTANCE|>SHARE|>RUNNING|>PENDING|>PREFILL|>UNCACHED|"
	                               ">TTFT|>E2E|>KV|>SCORE|STANDING"
	                             : "  REPLICA|>SHARE|>RUNNING|>PENDING|>PREFILL|>UNCACHED|"
	                               ">TTFT|>E2E|>KV|>SCORE|STANDING");
	json_array_foreach(candidates, i, candidate)
	        candidate_row(&table, candidate, text(decision, "reason"));
	table_print(&table, out);
	table_done(&table);
	if (number(level, "count") > (double)shown)
		(void)fprintf(out, "  and %.0f more\n", number(level, "count") - (double)shown);
}

static void tell_prefix(const json_t *prefix, FILE *out)
{
	const json_t *differs = json_object_get(prefix, "differs");
	json_t *chain = json_object_get(prefix, "chain");
	json_t *holder, *block;
	size_t i;

	(void)fprintf(out, "\nprefix: %.0f usable blocks, %zu holders now\n",
	              number(prefix, "usable"),
	              json_array_size(json_object_get(prefix, "holders")));
	json_array_foreach(json_object_get(prefix, "holders"), i, holder)(void) fprintf(
	        out, "  %s holds %.0f blocks, %.0f B%s\n", text(holder, "target"),
	        number(holder, "blocks"), number(holder, "bytes"),
	        json_is_true(json_object_get(holder, "continued")) ? ", and others went on from "
	                                                             "there"
	                                                           : "");
	if (json_is_object(differs))
		(void)fprintf(
		        out, "  first differing block: %.0f (bytes %.0f-%.0f of the prompt)\n",
		        number(differs, "block"), number(differs, "from"), number(differs, "to"));
	if (json_array_size(chain) == 0)
		return;
	(void)fputs("  chain:", out);
	json_array_foreach(chain, i, block)(void) fprintf(out, " %s", json_string_value(block));
	(void)fputc('\n', out);
}

static void show_request(const json_t *decision, FILE *out)
{
	(void)fprintf(out, "%s %s  model %s  tenant %s",
	              json_is_true(json_object_get(decision, "dry")) ? "dry run" : "request",
	              text(decision, "id"), text(decision, "model"), text(decision, "tenant"));
	(void)fprintf(out, "  prompt %.0f B  blocks %.0f of %.0f usable  session %s\n",
	              number(decision, "plen"),
	              number(json_object_get(decision, "prefix"), "usable"),
	              number(decision, "blocks"), text(decision, "session"));
}

static void show_outcome(const json_t *decision, FILE *out)
{
	(void)fprintf(out, "\n%s: ", text(decision, "action"));
	if (json_object_get(decision, "status"))
		(void)fprintf(out, "status %.0f, retry after %.0f s, ", number(decision, "status"),
		              number(decision, "retry_after"));
	else
		(void)fprintf(out, "%s/%s %s, ", text(decision, "instance"),
		              text(decision, "replica"), text(decision, "addr"));
	(void)fprintf(out, "reason %s, %.0f B of the prompt held", text(decision, "reason"),
	              number(decision, "matched"));
	if (json_object_get(decision, "upstream_model"))
		(void)fprintf(out, ", model %s there", text(decision, "upstream_model"));
	(void)fputc('\n', out);
}

static void show_end(const json_t *end, FILE *out)
{
	(void)fprintf(out, "served by %s/%s %s%s, status %.0f", text(end, "backend"),
	              text(end, "served"), text(end, "addr"),
	              json_is_true(json_object_get(end, "moved")) ? " (not the chosen one)" : "",
	              number(end, "status"));
	if (json_is_number(json_object_get(end, "ttft_ms")))
		(void)fprintf(out, ", ttft %.2f s", number(end, "ttft_ms") / 1000);
	if (json_is_number(json_object_get(end, "e2e_ms")))
		(void)fprintf(out, ", e2e %.2f s", number(end, "e2e_ms") / 1000);
	(void)fprintf(out, ", %.0f bytes\n", number(end, "bytes"));
}

void show_explain(const json_t *decision, FILE *out)
{
	const json_t *end = json_object_get(decision, "end");
	json_t *level;
	size_t i;

	show_request(decision, out);
	json_array_foreach(json_object_get(decision, "levels"), i, level)
	        show_level(level, decision, out);
	tell_prefix(json_object_get(decision, "prefix"), out);
	show_outcome(decision, out);
	if (end)
		show_end(end, out);
}
