/* show.c - tables of what stands: replicas, instances, processes. What is not
 * known is a dash. */
#include "spoa/admin/show.h"

#include <string.h>

#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

static bool known(const json_t *object, const char *name)
{
	return json_is_number(json_object_get(object, name));
}

/* scaled: the value times this, with so many digits. */
static void cell(struct table *table, const json_t *object, const char *name, double scaled,
                 int digits)
{
	if (known(object, name))
		table_cell(table, "%.*f", digits, scaled * field_number(object, name));
	else
		table_cell(table, "-");
}

static void duration(struct table *table, const json_t *object, const char *name)
{
	double s = field_number(object, name);

	if (known(object, name))
		table_cell(table, s < 10 ? "%.2fs" : "%.1fs", s);
	else
		table_cell(table, "-");
}

/* With a star when it is too old to be used. */
static void age_cell(struct table *table, const json_t *engine)
{
	if (known(engine, "age_s"))
		table_cell(table, "%.1fs%s", field_number(engine, "age_s"),
		           json_is_true(json_object_get(engine, "stale")) ? "*" : "");
	else
		table_cell(table, "-");
}

/* A table without rows, soon after a start or without HAProxy: where to look. */
static void say_none(const json_t *list, FILE *out)
{
	if (json_array_size(list) == 0)
		(void)fprintf(out, "none yet: no HAProxy has named servers; 'inference-spoa show "
		                   "haproxy' says which are up\n");
}

/* Nothing for a role that all have. */
static bool has_roles(const json_t *replicas)
{
	json_t *replica;
	size_t i;

	json_array_foreach(replicas, i, replica)
	{
		if (strcmp(field_text(replica, "role"), "combined") != 0)
			return true;
	}
	return false;
}

/* "decode:one" */
static void role_cell(struct table *table, const json_t *replica)
{
	const char *roleset = json_string_value(json_object_get(replica, "roleset"));

	table_cell(table, "%s%s%s", field_text(replica, "role"), roleset ? ":" : "",
	           roleset ? roleset : "");
}

void show_replicas(const json_t *object, FILE *out)
{
	json_t *replicas = json_object_get(object, "replicas");
	bool roles = has_roles(replicas);
	struct table table;
	json_t *replica;
	size_t i;

	table_init(&table, roles ? "INSTANCE|REPLICA|ADDRESS|ROLE|STATE|>RUN|>kTOK|>QUEUE|"
	                           ">WAIT|>KV%|>TTFT|>E2E|>5XX|>PIN!|>BLOCKS|>AGE"
	                         : "INSTANCE|REPLICA|ADDRESS|STATE|>RUN|>kTOK|>QUEUE|>WAIT|>KV%|"
	                           ">TTFT|>E2E|>5XX|>PIN!|>BLOCKS|>AGE");
	json_array_foreach(replicas, i, replica)
	{
		const json_t *engine = json_object_get(replica, "engine");
		const json_t *served = json_object_get(replica, "served");

		table_cell(&table, "%s", field_text(replica, "instance"));
		table_cell(&table, "%s", field_text(replica, "replica"));
		table_cell(&table, "%s", field_text(replica, "address"));
		if (roles)
			role_cell(&table, replica);
		table_cell(&table, "%s", field_text(replica, "state"));
		cell(&table, replica, "running", 1, 0);
		cell(&table, replica, "tokens", 1e-3, 1);
		cell(&table, replica, "queued", 1, 0);
		cell(&table, engine, "waiting", 1, 0);
		cell(&table, engine, "kv_usage", 100, 0);
		duration(&table, replica, "ttft_average_s");
		duration(&table, replica, "e2e_average_s");
		cell(&table, served, "errors", 1, 0);
		cell(&table, served, "pin_overridden", 1, 0);
		cell(&table, replica, "prefix_records", 1, 0);
		age_cell(&table, engine);
	}
	table_print(&table, out);
	table_done(&table);
	say_none(replicas, out);
}

/* Not the default, which was not learnt. */
static void learnt_cell(struct table *table, const json_t *learnt, const char *name)
{
	if (json_is_true(json_object_get(learnt, "ttft_trusted")))
		cell(table, learnt, name, 1, 0);
	else
		table_cell(table, "-");
}

void show_engines(const json_t *object, FILE *out)
{
	struct table table;
	json_t *replica;
	size_t i;

	table_init(&table, "INSTANCE|REPLICA|ENGINE|>RUN|>WAIT|>KV%|>kKV|>OUT/S MAX|>TPOT|"
	                   ">PREFILL/S|>TTFT ERR%|>AGE");
	json_array_foreach(json_object_get(object, "replicas"), i, replica)
	{
		const json_t *engine = json_object_get(replica, "engine");
		const json_t *learnt = json_object_get(replica, "learnt");

		table_cell(&table, "%s", field_text(replica, "instance"));
		table_cell(&table, "%s", field_text(replica, "replica"));
		table_cell(&table, "%s", field_text(engine, "kind"));
		cell(&table, engine, "running", 1, 0);
		cell(&table, engine, "waiting", 1, 0);
		cell(&table, engine, "kv_usage", 100, 0);
		cell(&table, engine, "kv_tokens", 1e-3, 0);
		cell(&table, learnt, "capacity_tokens_s", 1, 0);
		duration(&table, learnt, "tpot_s");
		learnt_cell(&table, learnt, "prefill_tokens_s");
		cell(&table, learnt, "ttft_error", 100, 0);
		age_cell(&table, engine);
	}
	table_print(&table, out);
	table_done(&table);
	say_none(json_object_get(object, "replicas"), out);
}

/* Hits among the decisions that had a block to look up. */
static void hit_share(struct table *table, const json_t *prefix)
{
	double hits = field_number(prefix, "hit");
	double all = hits + field_number(prefix, "partial") + field_number(prefix, "miss");

	if (all > 0)
		table_cell(table, "%.1f", 100 * hits / all);
	else
		table_cell(table, "-");
}

static void names_cell(struct table *table, const json_t *names)
{
	char list[TABLE_CELL_MAX] = "";
	size_t len = 0;
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		int more = snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? "," : "",
		                    json_string_value(name));

		if (more < 0 || (size_t)more >= sizeof(list) - len)
			break;
		len += (size_t)more;
	}
	table_cell(table, "%s", list[0] != '\0' ? list : "-");
}

void show_instances(const json_t *object, FILE *out)
{
	struct table table;
	json_t *instance;
	size_t i;

	table_init(&table, "INSTANCE|STRATEGY|>REPLICAS|>READY|>RUN|>kTOK|>QUEUE|>FULL%|>DECISIONS|"
	                   ">HIT%|MODELS");
	json_array_foreach(json_object_get(object, "instances"), i, instance)
	{
		table_cell(&table, "%s", field_text(instance, "instance"));
		table_cell(&table, "%s", field_text(instance, "strategy"));
		cell(&table, instance, "replicas", 1, 0);
		cell(&table, instance, "ready", 1, 0);
		cell(&table, instance, "running", 1, 0);
		cell(&table, instance, "tokens", 1e-3, 1);
		cell(&table, instance, "queued", 1, 0);
		cell(&table, instance, "saturation", 100, 0);
		cell(&table, instance, "decisions", 1, 0);
		hit_share(&table, json_object_get(instance, "prefix"));
		names_cell(&table, json_object_get(instance, "models"));
	}
	table_print(&table, out);
	table_done(&table);
	say_none(json_object_get(object, "instances"), out);
}

void show_haproxy(const json_t *object, FILE *out)
{
	struct table table;
	json_t *haproxy;
	size_t i;

	table_init(&table, "HAPROXY|VERSION|STATE|>PID|>RELOADS|>LOST LOGS|>AGE");
	json_array_foreach(json_object_get(object, "haproxy"), i, haproxy)
	{
		table_cell(&table, "%s", field_text(haproxy, "name"));
		table_cell(&table, "%s", field_text(haproxy, "version"));
		table_cell(&table, "%s",
		           json_is_true(json_object_get(haproxy, "up")) ? "up" : "away");
		cell(&table, haproxy, "pid", 1, 0);
		cell(&table, haproxy, "reloads", 1, 0);
		cell(&table, haproxy, "dropped_logs", 1, 0);
		duration(&table, haproxy, "age_s");
	}
	table_print(&table, out);
	table_done(&table);
}

void show_models(const json_t *object, FILE *out)
{
	struct table table;
	json_t *model;
	size_t i;

	table_init(&table, "MODEL");
	json_array_foreach(json_object_get(object, "data"), i, model)
	        table_cell(&table, "%s", field_text(model, "id"));
	table_print(&table, out);
	table_done(&table);
}

void show_prefix(const json_t *object, FILE *out)
{
	const json_t *evicted = json_object_get(object, "evicted");
	struct table table;
	json_t *holder;
	size_t i;

	(void)fprintf(out, "%.0f of %.0f records, %.1f MB, ladder %s\n",
	              field_number(object, "records"), field_number(object, "capacity"),
	              field_number(object, "bytes") / 1e6, field_text(object, "ladder"));
	(void)fprintf(out,
	              "evicted: %.0f over budget, %.0f full, %.0f too old, %.0f after an error, "
	              "%.0f with their holder\n\n",
	              field_number(evicted, "budget"), field_number(evicted, "full"),
	              field_number(evicted, "ttl"), field_number(evicted, "error"),
	              field_number(evicted, "gone"));
	table_init(&table, "HOLDER|>BLOCKS");
	json_array_foreach(json_object_get(object, "holders"), i, holder)
	{
		table_cell(&table, "%s", field_text(holder, "holder"));
		cell(&table, holder, "records", 1, 0);
	}
	table_print(&table, out);
	table_done(&table);
}

static void uptime(const json_t *agent, char ret_text[32])
{
	long s = (long)field_number(agent, "uptime_s");

	if (s >= 86400)
		(void)snprintf(ret_text, 32, "%ldd%02ldh", s / 86400, s % 86400 / 3600);
	else
		(void)snprintf(ret_text, 32, "%ldh%02ldm%02lds", s / 3600, s % 3600 / 60, s % 60);
}

void show_agent(const json_t *object, FILE *out)
{
	const json_t *policy = json_object_get(object, "policy");
	const json_t *traffic = json_object_get(object, "traffic");
	const json_t *inflight = json_object_get(object, "inflight");
	const char *path = field_text(policy, "path");
	char up[32];
	json_t *alarm;
	size_t i;

	uptime(object, up);
	(void)fprintf(out, "inference-spoa %s  up %s  %s\n", field_text(object, "version"), up,
	              json_is_true(json_object_get(object, "ready")) ? "ready" : "not ready");
	(void)fprintf(out, "policy     %s (%s), reloads %.0f good, %.0f refused\n",
	              path[0] == '-' ? "embedded default" : path, field_text(policy, "hash"),
	              field_number(policy, "reloads_ok"), field_number(policy, "reloads_refused"));
	(void)fprintf(out,
	              "decisions  %.0f, %.0f without an answer, %.0f refused, %.0f fail-open\n",
	              field_number(traffic, "decisions"), field_number(traffic, "unanswered"),
	              field_number(traffic, "rejected"), field_number(traffic, "fail_open"));
	(void)fprintf(out,
	              "streams    %.0f open of %.0f, %.0f first bytes, %.0f ends, %.0f adopted, "
	              "%.0f late answers\n",
	              field_number(inflight, "open"), field_number(inflight, "capacity"),
	              field_number(traffic, "first_bytes"), field_number(traffic, "ends"),
	              field_number(traffic, "adopted"), field_number(traffic, "late_answers"));
	(void)fprintf(out, "memory     %.1f MB\n", field_number(object, "resident_bytes") / 1e6);
	json_array_foreach(json_object_get(object, "alarms"), i, alarm)(void)
	        fprintf(out, "ALARM      %s\n", json_string_value(alarm));
}

void show_config(const json_t *object, FILE *out)
{
	(void)json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	(void)fputc('\n', out);
}
