/* health.c - what a policy file says of ejection and probes.
 *
 * A list replaces the default classes as a whole: ["4xx", "5xx"] is the plain rule
 * of other gateways. A credential in the file would be seen by whoever may read
 * policies, in logs of changes too; so a header that carries one is refused. */
#include "spoa/config/health.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policies/core/name.h"
#include "policies/defaults.h"
#include "spoa/config/names.h"
#include "spoa/config/near.h"
#include "spoa/config/tables.h"

enum { STATUS_FIRST = 400, STATUS_LAST = 599 };

static void list_status(struct eject_on *on, int status)
{
	on->statuses[(status - STATUS_FIRST) / 64] |= UINT64_C(1) << (status - STATUS_FIRST) % 64;
}

static void list_statuses(struct eject_on *on, int first, int last)
{
	for (int status = first; status <= last; status++)
		list_status(on, status);
}

static void list_connect(struct eject_on *on)
{
	on->connect = true;
}

static void list_lost(struct eject_on *on)
{
	on->lost = true;
}

static void list_timeout(struct eject_on *on)
{
	on->timeout = true;
}

static void list_busy(struct eject_on *on)
{
	on->busy = true;
}

static void list_denied(struct eject_on *on)
{
	on->denied = true;
}

/* What an engine answers when it breaks; 501 and 505 are the request's fault, 503 says
 * busy. */
static void list_server_errors(struct eject_on *on)
{
	list_status(on, 500);
	list_status(on, 502);
	list_status(on, 504);
	list_statuses(on, 506, STATUS_LAST);
}

static void list_4xx(struct eject_on *on)
{
	list_statuses(on, STATUS_FIRST, 499);
}

static void list_5xx(struct eject_on *on)
{
	list_statuses(on, 500, STATUS_LAST);
}

static const struct {
	const char *name;
	void (*list)(struct eject_on *on);
} words[] = {
	{ "connect-error", list_connect },
	{ "connection-lost", list_lost },
	{ "timeout", list_timeout },
	{ "server-error", list_server_errors },
	{ "busy", list_busy },
	{ "denied", list_denied },
	{ "4xx", list_4xx },
	{ "5xx", list_5xx },
};

static bool take_word(struct eject_on *on, const char *text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!name_is(words[i].name, (struct span){ text, strlen(text) }))
			continue;
		words[i].list(on);
		return true;
	}
	return false;
}

static bool take_status(struct eject_on *on, const char *text)
{
	char *end;
	long status = strtol(text, &end, 10);

	if (*end || end - text != 3 || status < STATUS_FIRST || status > STATUS_LAST)
		return false;
	list_status(on, (int)status);
	return true;
}

static void load_eject_on(const struct loading *loading, const struct node *list,
                          struct eject_on *on)
{
	if (!list || !json_is_array(list->value))
		return;
	on->given = true;
	for (const struct node *node = list->child; node; node = node->next) {
		const char *text = json_string_value(node->value);
		struct near near = near_to(text ? text : "");
		char hint[NEAR_HINT_MAX];

		if (!text || take_word(on, text) || take_status(on, text))
			continue;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			near_offer(&near, words[i].name);
		near_hint(&near, hint);
		loading_error(loading, node, "range",
		              "\"%s\" is neither a class of failures nor a status from %d to %d%s",
		              text, STATUS_FIRST, STATUS_LAST, hint);
	}
}

static bool carries_a_secret(const char *header)
{
	static const char *const secret[] = { "authorization", "proxy-authorization",
		                              "cookie",        "x-api-key",
		                              "api-key",       "x-auth-token" };

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		if (strcasecmp(header, secret[i]) == 0)
			return true;
	}
	return false;
}

static bool is_header_name(const char *name)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	for (const char *at = name; *at; at++) {
		bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');

		if (!letter && !(*at >= '0' && *at <= '9') && !strchr(marks, *at))
			return false;
	}
	return *name != '\0';
}

static bool is_header_value(const char *value)
{
	for (const char *at = value; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	}
	return true;
}

static void load_headers(const struct loading *loading, const struct node *object,
                         struct health_policy *health)
{
	if (!object || !object->child)
		return;
	health->probe_headers =
	        loading_take(loading, node_count(object), sizeof(*health->probe_headers));
	for (const struct node *node = object->child; health->probe_headers && node;
	     node = node->next) {
		const char *value = json_string_value(node->value);
		struct probe_header *header = &health->probe_headers[health->probe_header_count];

		if (!node->name || !value)
			continue;
		if (carries_a_secret(node->name)) {
			loading_error(loading, node, "secret-inline",
			              "a credential must not stand in the policy: put it into a "
			              "file and name that in engine-credential-file");
			continue;
		}
		if (!is_header_name(node->name) || !is_header_value(value)) {
			loading_error(loading, node, "range", "this cannot be sent as a header");
			continue;
		}
		name_copy(header->name, node->name);
		name_copy(header->value, value);
		health->probe_header_count++;
	}
}

void health_load(const struct loading *loading, const struct node *object,
                 struct health_policy *health)
{
	table_load(health_options, health, object);
	load_eject_on(loading, node_named(object, "eject-on"), &health->eject_on);
	load_headers(loading, node_named(object, "probe-headers"), health);
}
