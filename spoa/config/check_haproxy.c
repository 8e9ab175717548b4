/* check_haproxy.c - reads the files, finds our filters, walks the rules.
 *
 * With an unknown version everything is walked twice, as 2.6 and as 3.2 would
 * read it: branches of .if differ, and rules that only bind old versions are
 * said. */
#include "spoa/config/check_haproxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spoa/config/check_rules.h"
#include "spoa/config/haproxy_condition.h"
#include "spoa/config/text.h"
#include "spoa/messages/contract.h"

enum { FILE_BYTES_MAX = 16 << 20, PATH_BYTES_MAX = 4096 };

static const char *of_process(const void *data, struct span name)
{
	char text[256];

	(void)data;
	if (name.len >= sizeof(text))
		return NULL;
	memcpy(text, name.at, name.len);
	text[name.len] = '\0';
	return getenv(text);
}

static const struct haproxy_environment environment = { of_process, NULL };

static const struct haproxy_cfg *file_parsed(const struct facts *facts, const char *path,
                                             struct arena *arena, struct error *error)
{
	size_t length = 0;
	char *text = text_read(path, FILE_BYTES_MAX, &length, error);
	const struct haproxy_cfg *cfg = NULL;

	if (text)
		cfg = haproxy_cfg_read((struct span){ text, length }, facts->version, &environment,
		                       arena);
	free(text);
	return cfg;
}

/* NULL, with the reason reported, if the file cannot be read. */
static const struct haproxy_cfg *file_read(const struct facts *facts, const char *path,
                                           const struct haproxy_line *place, struct arena *arena)
{
	struct error error = { "" };
	const struct haproxy_cfg *cfg = file_parsed(facts, path, arena, &error);

	if (!cfg && error.text[0] != '\0')
		report(facts, place, NULL, SEVERITY_ERROR, "unreadable", "%s: %s", path,
		       error.text);
	return cfg;
}

/* Where the SPOE file is: as named, or else of the same name beside ours. */
static const char *spoe_path(const struct facts *facts, const char *named,
                             const struct haproxy_line *line, struct arena *arena)
{
	const char *base = strrchr(named, '/'), *slash = strrchr(facts->path, '/');
	char beside[PATH_BYTES_MAX];
	int length;

	if (access(named, R_OK) == 0)
		return named;
	base = base ? base + 1 : named;
	length = snprintf(beside, sizeof(beside), "%.*s%s",
	                  slash ? (int)(slash - facts->path) + 1 : 0, facts->path, base);
	if (length < 0 || (size_t)length >= sizeof(beside) || access(beside, R_OK) != 0)
		return named;
	report(facts, line, NULL, SEVERITY_NOTE, "unreadable", "%s is not here, looked at %s",
	       named, beside);
	return arena_text(arena, beside, (size_t)length);
}

static bool filter(struct facts *facts, const struct proxy *proxy, const struct haproxy_line *line,
                   struct arena *arena)
{
	const char *engine = line_after(line, "engine"), *config = line_after(line, "config");

	if (line->count < 4 || strcmp(line->words[0], "filter") != 0 ||
	    strcmp(line->words[1], "spoe") != 0 || !config)
		return false;
	facts->spoe_path = spoe_path(facts, config, line, arena);
	facts->spoe = facts->spoe_path ? file_read(facts, facts->spoe_path, line, arena) : NULL;
	if (!facts->spoe)
		return true; /* which it is nobody knows, and it has been said */
	if (!facts_filter(facts, proxy, engine ? engine : ""))
		return false;
#define WALKED(name) check_##name(facts);
	CHECKS(WALKED)
#undef WALKED
	return true;
}

static bool has_filter(const struct haproxy_cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->count; i++)
		for (uint32_t j = 0; j < cfg->sections[i].count; j++)
			if (strcmp(cfg->sections[i].lines[j].words[0], "filter") == 0 &&
			    line_has(&cfg->sections[i].lines[j], "spoe"))
				return true;
	return false;
}

/* Adds the sections of one more file; false without memory, or with too many files. */
static bool add_file(struct facts *facts, struct haproxy_cfg *all, const char *path,
                     const struct haproxy_cfg *cfg, struct arena *arena)
{
	struct haproxy_section *sections =
	        arena_take(arena, all->count + cfg->count, sizeof(*sections));

	if (!sections || facts->file_count == FACTS_FILES_MAX)
		return false;
	for (uint32_t i = 0; i < all->count; i++)
		sections[i] = all->sections[i];
	for (uint32_t i = 0; i < cfg->count; i++)
		sections[all->count + i] = cfg->sections[i];
	all->sections = sections;
	all->count += cfg->count;
	facts->files[facts->file_count].path = path;
	facts->files[facts->file_count++].end = all->count;
	return true;
}

/* The file and its parts, in the order that they are named in; NULL if it is a part itself,
 * or cannot be read. */
static const struct haproxy_cfg *read_all(struct facts *facts, struct arena *arena)
{
	const struct check_options *options = facts->options;
	const struct haproxy_cfg *own = file_read(facts, facts->path, NULL, arena);
	struct haproxy_cfg *all = arena_take(arena, 1, sizeof(*all));
	bool is_part = own && !has_filter(own), found = false;

	if (!own || !all)
		return NULL;
	all->ignored = own->ignored;
	for (size_t i = 0; i < options->file_count; i++) {
		bool is_own = strcmp(options->files[i], facts->path) == 0;
		struct error error = { "" };
		const struct haproxy_cfg *cfg =
		        is_own ? own : file_parsed(facts, options->files[i], arena, &error);
		bool is_whole = cfg && !is_own && has_filter(cfg);

		if (is_part && is_whole)
			return NULL; /* looked at with that one */
		if (!cfg || is_whole)
			continue;
		found |= is_own;
		if (!add_file(facts, all, options->files[i], cfg, arena))
			return NULL;
	}
	return found ? all : own;
}

static void walk(struct facts *facts, uint32_t version, struct arena *arena)
{
	bool found = false;

	facts->version = version;
	facts->proxy_count = 0;
	facts->global = NULL;
	facts->cfg = NULL;
	facts->file_count = 0;
	facts->cfg = read_all(facts, arena);
	if (!facts->cfg)
		return;
	(void)facts_proxies(facts);
	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];

		for (uint32_t j = 0; j < proxy->section->count; j++)
			found |= filter(facts, proxy, &proxy->section->lines[j], arena);
	}
	if (!found)
		report(facts, NULL, NULL, SEVERITY_ERROR, "contract",
		       "no filter spoe names a file with the message %s", CONTRACT_ROUTE);
}

void check_haproxy(const char *path, const struct check_options *options, struct problems *problems)
{
	struct arena *arena = arena_new();
	struct facts *facts = arena ? arena_take(arena, 1, sizeof(*facts)) : NULL;
	struct ladder *ladder = arena ? arena_take(arena, 1, sizeof(*ladder)) : NULL;
	struct error error = { "" };

	if (!facts || !ladder ||
	    !ladder_parse((struct span){ LADDER_DEFAULT, strlen(LADDER_DEFAULT) }, ladder,
	                  &error)) {
		arena_free(arena);
		return;
	}
	*facts = (struct facts){
		.options = options,
		.problems = problems,
		.path = path,
		.ladder = options->ladder ? options->ladder : ladder,
		.ttl_s = options->ledger_ttl_s ? options->ledger_ttl_s : 600,
	};
	if (options->version) {
		walk(facts,
		     haproxy_condition_version(
		             (struct span){ options->version, strlen(options->version) }),
		     arena);
	} else {
		walk(facts, 2006012, arena);
		walk(facts, 3002006, arena);
	}
	arena_free(arena);
}
