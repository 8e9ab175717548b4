/* check_facts.c - finds what belongs together, before any rule looks at it. */
#include "spoa/config/check_facts.h"

#include <stdio.h>
#include <string.h>

#include "spoa/config/check_ours.h"
#include "spoa/messages/contract.h"

static const struct haproxy_section *defaults_named(const struct haproxy_cfg *cfg, const char *name)
{
	for (uint32_t i = 0; i < cfg->count; i++)
		if (strcmp(cfg->sections[i].type, "defaults") == 0 &&
		    strcmp(cfg->sections[i].name, name) == 0)
			return &cfg->sections[i];
	return NULL;
}

static bool is_proxy(const struct haproxy_section *section)
{
	return strcmp(section->type, "frontend") == 0 || strcmp(section->type, "backend") == 0 ||
	       strcmp(section->type, "listen") == 0;
}

bool facts_proxies(struct facts *facts)
{
	const struct haproxy_section *defaults = NULL;

	for (uint32_t i = 0; i < facts->cfg->count; i++) {
		const struct haproxy_section *section = &facts->cfg->sections[i];
		const char *from = line_after(section->head, "from");
		struct proxy *proxy = &facts->proxies[facts->proxy_count];

		if (strcmp(section->type, "global") == 0)
			facts->global = section;
		if (strcmp(section->type, "defaults") == 0)
			defaults = section;
		if (!is_proxy(section))
			continue;
		if (facts->proxy_count == FACTS_PROXIES_MAX) {
			report(facts, section->head, NULL, SEVERITY_WARNING, "too-many",
			       "only the first %d proxies are looked at", FACTS_PROXIES_MAX);
			return false;
		}
		*proxy = (struct proxy){
			.section = section,
			.defaults = from ? defaults_named(facts->cfg, from) : defaults,
		};
		(void)snprintf(proxy->title, sizeof(proxy->title), "%s %s", section->type,
		               section->name);
		facts->proxy_count++;
	}
	return true;
}

const struct proxy *facts_proxy_named(const struct facts *facts, const char *name)
{
	for (uint32_t i = 0; i < facts->proxy_count; i++)
		if (strcmp(facts->proxies[i].section->name, name) == 0 &&
		    strcmp(facts->proxies[i].section->type, "frontend") != 0)
			return &facts->proxies[i];
	return NULL;
}

/* A section of the SPOE file, within the scope of the engine. */
static const struct haproxy_section *spoe_section(const struct facts *facts, const char *type,
                                                  const char *name)
{
	bool inside = true;
	size_t length = strlen(facts->engine);

	for (uint32_t i = 0; i < facts->spoe->count; i++) {
		const struct haproxy_section *section = &facts->spoe->sections[i];

		if (section->type[0] == '[')
			inside = strncmp(section->type + 1, facts->engine, length) == 0 &&
			         section->type[1 + length] == ']';
		else if (inside && strcmp(section->type, type) == 0 &&
		         (!name || strcmp(section->name, name) == 0))
			return section;
	}
	return NULL;
}

static const char *agent_word(const struct facts *facts, const char *first, const char *second)
{
	const char *word = NULL;

	for (uint32_t i = 0; i < facts->agent->count; i++) {
		const struct haproxy_line *line = &facts->agent->lines[i];

		if (strcmp(line->words[0], first) != 0)
			continue;
		if (!second && line->count > 1)
			word = line->words[1];
		else if (second && line->count > 2 && strcmp(line->words[1], second) == 0)
			word = line->words[2];
	}
	return word;
}

static bool has_use_server(const struct facts *facts, const struct proxy *proxy)
{
	for (uint32_t i = 0; i < proxy->section->count; i++) {
		const struct haproxy_line *line = &proxy->section->lines[i];

		if (strcmp(line->words[0], "use-server") == 0 && line_holds(line, facts->prefix) &&
		    line_holds(line, "replica"))
			return true;
	}
	return false;
}

/* Only what our frontend names by a plain word, and never as its default, is
 * somebody else's: /v1/models, static pages; and what an ingress has of others. */
static bool is_elsewhere(const struct facts *facts, const char *name)
{
	bool named = ours_leave_out(facts->ours, name);
	char matched[160];

	(void)snprintf(matched, sizeof(matched), "str(%s)", name);
	for (uint32_t i = 0; i < facts->frontend->section->count; i++) {
		const struct haproxy_line *line = &facts->frontend->section->lines[i];

		named = named || line_has(line, matched);
		if (line->count < 2 || strcmp(line->words[1], name) != 0)
			continue;
		if (strcmp(line->words[0], "default_backend") == 0)
			return false;
		if (strcmp(line->words[0], "use_backend") == 0)
			named = true;
	}
	return named;
}

static bool is_http(const struct proxy *proxy)
{
	const struct haproxy_line *mode = proxy_setting(proxy, "mode", NULL);

	return mode && mode->count > 1 && strcmp(mode->words[1], "http") == 0;
}

static void find_instances(struct facts *facts)
{
	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		struct proxy *proxy = &facts->proxies[i];
		const char *name = proxy->section->name;

		proxy->instance = strcmp(proxy->section->type, "frontend") != 0 &&
		                  proxy != facts->agents && is_http(proxy) &&
		                  proxy_server(proxy, 0) &&
		                  (has_use_server(facts, proxy) || !is_elsewhere(facts, name));
	}
}

bool facts_filter(struct facts *facts, const struct proxy *proxy, const char *engine)
{
	const char *prefix, *backend;

	facts->frontend = proxy;
	facts->engine = engine;
	facts->agent = spoe_section(facts, "spoe-agent", NULL);
	facts->route = spoe_section(facts, "spoe-message", CONTRACT_ROUTE);
	facts->first = spoe_section(facts, "spoe-message", CONTRACT_FIRST);
	if (!facts->agent || (!facts->route && !facts->first))
		return false;
	prefix = agent_word(facts, "option", "var-prefix");
	backend = agent_word(facts, "use-backend", NULL);
	facts->prefix = prefix ? prefix : facts->agent->name;
	facts->agents_name = backend ? backend : "";
	facts->agents = facts_proxy_named(facts, facts->agents_name);
	facts->ours = check_ours(facts);
	find_instances(facts);
	return true;
}
