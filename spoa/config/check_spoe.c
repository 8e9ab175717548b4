/* check_spoe.c - the spoe-agent section. */
#include <string.h>

#include "spoa/config/check_rules.h"

/* The line "option NAME", or "no option NAME". */
static const struct haproxy_line *agent_option(const struct facts *facts, const char *name, bool no)
{
	for (uint32_t i = 0; i < facts->agent->count; i++) {
		const struct haproxy_line *line = &facts->agent->lines[i];
		uint32_t at = no ? 1 : 0;

		if (line->count > at + 1 && (!no || strcmp(line->words[0], "no") == 0) &&
		    strcmp(line->words[at], "option") == 0 &&
		    strcmp(line->words[at + 1], name) == 0)
			return line;
	}
	return NULL;
}

static void processing(const struct facts *facts)
{
	double ms;

	for (uint32_t i = 0; i < facts->agent->count; i++) {
		const struct haproxy_line *line = &facts->agent->lines[i];

		if (strcmp(line->words[0], "timeout") == 0 && line->count > 2 &&
		    strcmp(line->words[1], "processing") == 0 && time_ms(line->words[2], &ms) &&
		    ms > 50)
			report_spoe(
			        facts, line, SEVERITY_WARNING, "spop-check",
			        "timeout processing %s is what a stuck agent costs each request; "
			        "50ms is enough",
			        line->words[2]);
	}
}

void check_spoe(const struct facts *facts)
{
	const struct haproxy_line *line = agent_option(facts, "continue-on-error", false);

	if (!agent_option(facts, "send-frag-payload", true))
		report_spoe(
		        facts, facts->agent->head, SEVERITY_ERROR, "frag",
		        "no option send-frag-payload is missing: a long message stalls the whole "
		        "timeout and drops the connection on 2.6");
	if (line)
		report_spoe(facts, line,
		            facts->version < 3000000 ? SEVERITY_WARNING : SEVERITY_NOTE,
		            "continue-on-error", "a stuck agent costs its timeout twice");
	processing(facts);
}
