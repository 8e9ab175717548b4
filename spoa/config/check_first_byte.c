/* check_first_byte.c - whether the time to the first token can be seen. */
#include <string.h>

#include "spoa/config/check_rules.h"

static const struct haproxy_line *waiting(const struct facts *facts)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (line->count > 1 && strcmp(line->words[0], "http-response") == 0 &&
		    strcmp(line->words[1], "wait-for-body") == 0 && line_has(line, "at-least"))
			return line;
	return NULL;
}

/* Its time is a deadline for the first token. */
static void deadline(const struct facts *facts, const struct haproxy_line *line)
{
	const char *time = line_after(line, "time");
	double wait_ms, server_ms, longest_ms = 0;
	const struct proxy *longest = NULL;

	for (uint32_t i = 0; i < facts->proxy_count; i++)
		if (facts->proxies[i].instance &&
		    proxy_timeout(&facts->proxies[i], "server", &server_ms) &&
		    server_ms > longest_ms) {
			longest_ms = server_ms;
			longest = &facts->proxies[i];
		}
	if (longest && time && time_ms(time, &wait_ms) && wait_ms < longest_ms)
		report(facts, line, facts->frontend, SEVERITY_ERROR, "first-byte",
		       "wait-for-body %s is below timeout server %s: early 504", time,
		       proxy_setting(longest, "timeout", "server")->words[2]);
}

static void empty_bodies(const struct facts *facts)
{
	const struct haproxy_line *line;

	for (uint32_t i = 0; (line = proxy_line(facts->frontend, i)); i++)
		if (line->count > 1 && strcmp(line->words[0], "http-response") == 0 &&
		    strcmp(line->words[1], "set-var(txn.infer_t1)") == 0 &&
		    !line_asks(facts->frontend, line, "res.body_len", false))
			report(facts, line, facts->frontend, SEVERITY_WARNING, "body-len",
			       "{ res.body_len gt 0 } is missing: an engine that closes early "
			       "gives a "
			       "false first byte on 2.6");
}

void check_first_byte(const struct facts *facts)
{
	const struct haproxy_line *line = waiting(facts);

	if (strcmp(facts->frontend->section->type, "backend") == 0)
		return;
	if (line)
		deadline(facts, line);
	else
		report(facts, facts->frontend->section->head, facts->frontend, SEVERITY_WARNING,
		       "first-byte",
		       "first token unknown: no http-response wait-for-body time T at-least 1");
	empty_bodies(facts);
}
