/* show_explain.c - a decision with all its reasons, for people. */
#include <string.h>

#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

static void candidate_row(struct table *table, const json_t *candidate, const char *reason)
{
	char part[96];

	part_text(candidate, part, sizeof(part));
	table_cell(table, "%s", field_text(candidate, "name"));
	field_cell(table, candidate, "share", 2);
	field_cell(table, candidate, "running", 1);
	field_cell(table, candidate, "pending", 0);
	field_cell(table, candidate, "prefill_tokens", 0);
	field_cell(table, candidate, "uncached_tokens", 0);
	field_cell(table, candidate, "ttft_ms", 0);
	field_cell(table, candidate, "e2e_ms", 0);
	field_cell(table, candidate, "kv_usage", 2);
	field_cell(table, candidate, "score", 3);
	if (json_is_true(json_object_get(candidate, "chosen")))
		table_cell(table, "<- chosen, reason %s%s", reason, part);
	else if (json_is_true(json_object_get(candidate, "prefill")))
		table_cell(table, "<- computes the prompt%s", part);
	else if (json_object_get(candidate, "dropped_by"))
		table_cell(table, "dropped by %s%s", field_text(candidate, "dropped_by"), part);
	else
		table_cell(table, "standing%s", part);
}

/* "collect 3, health 2, ...": how many stood after each stage, in its order. */
static void show_stages(const json_t *level, FILE *out)
{
	const char *separator = "";
	json_t *stage;
	size_t i;

	json_array_foreach(json_object_get(level, "stages"), i, stage)
	{
		(void)fprintf(out, "%s%s %.0f", separator, field_text(stage, "stage"),
		              field_number(stage, "stood"));
		separator = ", ";
	}
}

/* " (prefix 56 %, load-balance 44 %): ", where there are several. */
static void show_effective(json_t *effective, FILE *out)
{
	const char *separator = " (";
	const char *name;
	json_t *share;

	if (json_object_size(effective) > 1) {
		json_object_foreach(effective, name, share)
		{
			(void)fprintf(out, "%s%s %.0f %%", separator, name,
			              100 * json_number_value(share));
			separator = ", ";
		}
		(void)fputc(')', out);
	}
	(void)fputs(": ", out);
}

/* Nothing where no session was looked for. */
static void show_session(const json_t *session, FILE *out)
{
	if (!session)
		return;
	(void)fprintf(out, "  session: %s, target %s%s%s\n", field_text(session, "found"),
	              field_text(session, "target"),
	              json_is_true(json_object_get(session, "kept")) ? ", kept" : "",
	              json_is_true(json_object_get(session, "spilled")) ? ", too busy" : "");
}

/* Nothing where no adapter is asked for, or it may go anywhere. */
static void show_adapter(const json_t *adapter, const json_t *decision, FILE *out)
{
	double wanted = field_number(adapter, "wanted");

	if (!adapter)
		return;
	(void)fprintf(out, "  adapter of %s: heat %.1f, on %.0f replica%s%s\n",
	              field_text(decision, "adapter_of"), field_number(adapter, "heat"), wanted,
	              wanted > 1 ? "s" : "",
	              json_is_true(json_object_get(adapter, "spilled")) ? ", too busy" : "");
}

static void show_level(const json_t *level, const json_t *decision, FILE *out)
{
	bool instances = strcmp(field_text(level, "level"), "instance") == 0;
	json_t *candidates = json_object_get(level, "candidates");
	size_t shown = json_array_size(candidates);
	json_t *candidate;
	struct table table;
	size_t i;

	(void)fprintf(out, "\nlevel %d%s%s, strategy %s%s", instances ? 1 : 2,
	              instances ? "" : " of ", instances ? "" : field_text(decision, "instance"),
	              field_text(level, "strategy"),
	              json_is_true(json_object_get(level, "degraded")) ? " (lacked its data)" : "");
	show_effective(json_object_get(level, "effective"), out);
	show_stages(level, out);
	(void)fputc('\n', out);
	show_session(json_object_get(level, "session"), out);
	show_adapter(json_object_get(level, "adapter"), decision, out);
	table_init(&table, instances ? "  INSTANCE|>SHARE|>RUNNING|>PENDING|>PREFILL|>UNCACHED|"
	                               ">TTFT|>E2E|>KV|>SCORE|STANDING"
	                             : "  REPLICA|>SHARE|>RUNNING|>PENDING|>PREFILL|>UNCACHED|"
	                               ">TTFT|>E2E|>KV|>SCORE|STANDING");
	json_array_foreach(candidates, i, candidate)
	        candidate_row(&table, candidate, field_text(decision, "reason"));
	table_print(&table, out);
	table_done(&table);
	if (field_number(level, "count") > (double)shown)
		(void)fprintf(out, "  and %.0f more\n",
		              field_number(level, "count") - (double)shown);
}

static void tell_prefix(const json_t *prefix, FILE *out)
{
	const json_t *differs = json_object_get(prefix, "differs");
	json_t *chain = json_object_get(prefix, "chain");
	json_t *holder, *block;
	size_t i;

	(void)fprintf(out, "\nprefix: %.0f usable blocks, %zu holders now\n",
	              field_number(prefix, "usable"),
	              json_array_size(json_object_get(prefix, "holders")));
	json_array_foreach(json_object_get(prefix, "holders"), i, holder)(void) fprintf(
	        out, "  %s holds %.0f blocks, %.0f B%s\n", field_text(holder, "target"),
	        field_number(holder, "blocks"), field_number(holder, "bytes"),
	        json_is_true(json_object_get(holder, "continued")) ? ", and others went on from "
	                                                             "there"
	                                                           : "");
	if (json_is_object(differs))
		(void)fprintf(out,
		              "  first differing block: %.0f (bytes %.0f-%.0f of the prompt)\n",
		              field_number(differs, "block"), field_number(differs, "from"),
		              field_number(differs, "to"));
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
	              field_text(decision, "id"), field_text(decision, "model"),
	              field_text(decision, "tenant"));
	(void)fprintf(out, "  prompt %.0f B  blocks %.0f of %.0f usable  session %s\n",
	              field_number(decision, "plen"),
	              field_number(json_object_get(decision, "prefix"), "usable"),
	              field_number(decision, "blocks"), field_text(decision, "session"));
}

/* Of a strategy that makes pairs. */
static void show_pair(const json_t *decision, FILE *out)
{
	json_t *levels = json_object_get(decision, "levels");
	json_t *level;
	size_t i;

	json_array_foreach(levels, i, level)
	{
		if (json_object_get(level, "pair"))
			(void)fprintf(out, "pair %s, ", field_text(level, "pair"));
	}
	if (json_object_get(decision, "prefill"))
		(void)fprintf(out, "prompt computed by %s %s, ", field_text(decision, "prefill"),
		              field_text(decision, "prefill_addr"));
}

/* Of a request that is before or behind others in HAProxy's queue. */
static void show_queue(const json_t *decision, FILE *out)
{
	if (json_object_get(decision, "priority"))
		(void)fprintf(out, "queue: class %s, priority %.0f\n",
		              field_text(decision, "class"), field_number(decision, "priority"));
	else if (json_object_get(decision, "priority_offset_ms"))
		(void)fprintf(out, "queue: class %s, as if it had come %.0f ms later\n",
		              field_text(decision, "class"),
		              field_number(decision, "priority_offset_ms"));
}

static void show_outcome(const json_t *decision, FILE *out)
{
	(void)fprintf(out, "\n%s: ", field_text(decision, "action"));
	if (json_object_get(decision, "status"))
		(void)fprintf(out, "status %.0f, retry after %.0f s, ",
		              field_number(decision, "status"),
		              field_number(decision, "retry_after"));
	else
		(void)fprintf(out, "%s/%s %s%s", field_text(decision, "instance"),
		              field_text(decision, "replica"), field_text(decision, "addr"),
		              json_object_get(decision, "rank") ? "" : ", ");
	if (json_object_get(decision, "rank"))
		(void)fprintf(out, ", rank %.0f, ", field_number(decision, "rank"));
	show_pair(decision, out);
	(void)fprintf(out, "reason %s, %.0f B of the prompt held", field_text(decision, "reason"),
	              field_number(decision, "matched"));
	if (json_object_get(decision, "limit"))
		(void)fprintf(out, ", over the limit: %s", field_text(decision, "limit"));
	if (json_object_get(decision, "upstream_model"))
		(void)fprintf(out, ", model %s there", field_text(decision, "upstream_model"));
	(void)fputc('\n', out);
	show_queue(decision, out);
}

static void show_end(const json_t *end, FILE *out)
{
	(void)fprintf(out, "served by %s/%s %s%s, status %.0f", field_text(end, "backend"),
	              field_text(end, "served"), field_text(end, "addr"),
	              json_is_true(json_object_get(end, "moved")) ? " (not the chosen one)" : "",
	              field_number(end, "status"));
	if (json_is_number(json_object_get(end, "ttft_ms")))
		(void)fprintf(out, ", ttft %.2f s", field_number(end, "ttft_ms") / 1000);
	if (json_is_number(json_object_get(end, "e2e_ms")))
		(void)fprintf(out, ", e2e %.2f s", field_number(end, "e2e_ms") / 1000);
	(void)fprintf(out, ", %.0f bytes\n", field_number(end, "bytes"));
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
