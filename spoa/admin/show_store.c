/* show_store.c - the store by which agents share, for people. */
#include "spoa/admin/show.h"
#include "spoa/admin/show_fields.h"
#include "spoa/admin/table.h"

static const json_t *part(const json_t *object, const char *name)
{
	return json_object_get(object, name);
}

/* A text that is not empty, or else the other one. */
static const char *text_or(const json_t *object, const char *name, const char *otherwise)
{
	const char *text = json_string_value(part(object, name));

	return text && *text ? text : otherwise;
}

static const char *state_of(const json_t *link)
{
	return json_is_true(part(link, "up")) ? "up" : text_or(link, "fault", "not yet");
}

static void show_state(const json_t *object, FILE *out)
{
	const json_t *follower = part(object, "follower");

	(void)fprintf(out, "%s, space %s, we are %s\n", text_or(object, "address", "not found yet"),
	              field_text(object, "space"), field_text(object, "agent"));
	(void)fprintf(out, "tells: %s, follows: %s (%s", state_of(part(object, "tells")),
	              state_of(part(object, "follows")), field_text(follower, "phase"));
	if (json_is_number(part(object, "lag_s")))
		(void)fprintf(out, ", %.1f s behind", field_number(object, "lag_s"));
	(void)fprintf(out, ")\nwarm-up: %.0f %% in %.1f s, %.0f batches\n",
	              field_number(follower, "warmed") * 100, field_number(follower, "warm_s"),
	              field_number(follower, "warm_batches"));
}

static void show_flow(const json_t *object, FILE *out)
{
	const json_t *queue = part(object, "queue"), *heard = part(object, "heard");

	(void)fprintf(out, "to tell: %.0f, told %.0f, again %.0f, dropped %.0f, spared %.0f\n",
	              field_number(queue, "live") + field_number(queue, "kept"),
	              field_number(queue, "told"), field_number(queue, "again"),
	              field_number(queue, "dropped"), field_number(queue, "spared"));
	(void)fprintf(out,
	              "heard: %.0f batches, %.0f of them ours, %.0f cannot be read; entries of "
	              "strangers %.0f, unknown %.0f, malformed %.0f\n",
	              field_number(heard, "batches"), field_number(heard, "own"),
	              field_number(heard, "bad_batches"), field_number(heard, "strangers"),
	              field_number(heard, "unknown"), field_number(heard, "malformed"));
	(void)fprintf(out, "%s%.0f other agents fell silent so far\n\n",
	              json_is_true(part(object, "loads")) ? "" : "loads of others do not count; ",
	              field_number(object, "peers_lost"));
}

static void show_kinds(const json_t *object, FILE *out)
{
	json_t *kinds = json_object_get(part(object, "heard"), "kinds"), *kind;
	struct table table;
	const char *name;

	table_init(&table, "HEARD|>TAKEN|>LEFT");
	json_object_foreach(kinds, name, kind)
	{
		table_cell(&table, "%s", name);
		field_cell(&table, kind, "taken", 0);
		field_cell(&table, kind, "left", 0);
	}
	table_print(&table, out);
	table_done(&table);
}

static void show_peers(const json_t *object, FILE *out)
{
	const json_t *peers = part(object, "peers");
	struct table table;
	json_t *peer;
	size_t i;

	(void)fputc('\n', out);
	table_init(&table, "AGENT|>KNOWN s|>HEARD s AGO|>BATCHES|>TARGETS");
	json_array_foreach(peers, i, peer)
	{
		table_cell(&table, "%s", field_text(peer, "agent"));
		field_cell(&table, peer, "known_s", 0);
		field_cell(&table, peer, "age_s", 1);
		field_cell(&table, peer, "batches", 0);
		field_cell(&table, peer, "targets", 0);
	}
	table_print(&table, out);
	table_done(&table);
}

void show_store(const json_t *object, FILE *out)
{
	if (!json_is_true(part(object, "used"))) {
		(void)fputs(
		        "nothing is shared: there is no --redis URL, nor redis.url in the policy\n",
		        out);
		return;
	}
	show_state(object, out);
	show_flow(object, out);
	show_kinds(object, out);
	show_peers(object, out);
}
