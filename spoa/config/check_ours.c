/* check_ours.c - which requests and backends are ours, where HAProxy serves others, too.
 *
 * Under an ingress the frontend has an acl that says so: the backend which the controller's
 * rules matched is one of a list, or is any at all. It stands in the condition of the question,
 * or of what that hangs on by variables: asked if t0 was set, t0 set if "in" was, "in" if ours. */
#include "spoa/config/check_ours.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 32 };

struct names {
	const char *at[NAMES_MAX]; /* of acls that hold of each request that is asked about */
	uint32_t count;
};

/* The acls of a condition, all of which must hold; what else stands there is no acl's name. */
static void add_names(struct names *names, const struct haproxy_line *line)
{
	bool condition = false;

	if (line_has(line, "or") || line_has(line, "||"))
		return;
	for (uint32_t i = 0; i < line->count && names->count < NAMES_MAX; i++) {
		if (condition)
			names->at[names->count++] = line->words[i];
		condition = condition || strcmp(line->words[i], "if") == 0;
	}
}

static const struct haproxy_line *acl_named(const struct proxy *proxy, const char *name)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(proxy, i)); i++)
		if (line->count > 2 && strcmp(line->words[0], "acl") == 0 &&
		    strcmp(line->words[1], name) == 0)
			return line;
	return NULL;
}

/* The one rule that sets what the acl looks for, "var(X) -m found"; NULL if there is none, or
 * more of them. */
static const struct haproxy_line *setter(const struct proxy *proxy, const struct haproxy_line *acl)
{
	const struct haproxy_line *line, *found = NULL;
	char rule[128];

	if (strncmp(acl->words[2], "var(", 4) != 0 || !line_has(acl, "found"))
		return NULL;
	(void)snprintf(rule, sizeof(rule), "set-%s", acl->words[2]);
	for (uint32_t i = 0; (line = proxy_line(proxy, i)); i++) {
		if (!line_has(line, rule))
			continue;
		if (found)
			return NULL;
		found = line;
	}
	return found;
}

static bool is_backend(const struct facts *facts, const char *name)
{
	return facts_proxy_named(facts, name) != NULL;
}

/* "... -m str" and names of backends, or what the controller matched, whatever it is. */
static bool tells_backends(const struct facts *facts, const struct haproxy_line *acl)
{
	const char *first = line_after(acl, "str");

	return (first && line_has(acl, "-m") && is_backend(facts, first)) ||
	       (strcmp(acl->words[2], "var(txn.path_match)") == 0 && line_has(acl, "found"));
}

const struct haproxy_line *check_ours(const struct facts *facts)
{
	struct names names = { .count = 0 };
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (strcmp(line->words[0], "http-request") == 0 &&
		    line_has(line, "send-spoe-group") && line_has(line, facts->engine))
			add_names(&names, line);
	for (uint32_t i = 0; i < names.count; i++) {
		const struct haproxy_line *acl = acl_named(facts->frontend, names.at[i]), *rule;

		if (!acl)
			continue;
		if (tells_backends(facts, acl))
			return acl;
		rule = setter(facts->frontend, acl);
		if (rule)
			add_names(&names, rule);
	}
	return NULL;
}

bool ours_leave_out(const struct haproxy_line *ours, const char *backend)
{
	return ours && line_has(ours, "str") && !line_has(ours, backend);
}

bool ours_are_all(const struct haproxy_line *ours, const struct haproxy_line *line)
{
	uint32_t count = line->count;

	if (!line_has(line, "if") && !line_has(line, "unless"))
		return true;
	return ours && count > 2 && strcmp(line->words[count - 2], "if") == 0 &&
	       strcmp(line->words[count - 1], ours->words[1]) == 0;
}
