/* check_global.c - buffers, the runtime socket, and versions with known faults. */
#include <stdlib.h>
#include <string.h>

#include "policies/core/ladder.h"
#include "spoa/config/check_rules.h"
#include "spoa/config/haproxy_condition.h"

enum {
	BUFSIZE_DEFAULT = 16384,
	HEADERS_RESERVED = 1238, /* of a buffer: HAProxy's reserve and the headers */
	VISIBLE_MIN = 65536,
};

static const struct haproxy_line *global_line(const struct facts *facts, const char *word)
{
	const struct haproxy_line *found = NULL;

	for (uint32_t i = 0; facts->global && i < facts->global->count; i++)
		if (strcmp(facts->global->lines[i].words[0], word) == 0)
			found = &facts->global->lines[i];
	return found;
}

static void buffer(const struct facts *facts)
{
	const struct haproxy_line *line = global_line(facts, "tune.bufsize");
	unsigned long size = BUFSIZE_DEFAULT, visible;

	if (line && line->count > 1)
		size = strtoul(line->words[1], NULL, 10);
	visible = size > HEADERS_RESERVED ? size - HEADERS_RESERVED : 0;
	if (visible >= ladder_reach(facts->ladder, facts->ladder->count))
		return;
	report(facts, line ? line : facts->frontend->section->head, NULL,
	       visible < VISIBLE_MIN ? SEVERITY_WARNING : SEVERITY_NOTE, "bufsize",
	       "tune.bufsize %lu: %lu bytes of a body are visible, %u of %u blocks; longer prompts "
	       "are hashed in part and not retried",
	       size, visible, ladder_usable(facts->ladder, visible), facts->ladder->count);
}

static bool is_socket(const struct haproxy_line *line)
{
	return line->count > 2 && strcmp(line->words[0], "stats") == 0 &&
	       strcmp(line->words[1], "socket") == 0;
}

/* One that may change things does as well, and need not be. Where a file has no global
 * section, another one has the socket. */
static void runtime_socket(const struct facts *facts)
{
	const struct haproxy_line *admin = NULL, *lesser = NULL;

	for (uint32_t i = 0; i < facts->cfg->count; i++) {
		const struct haproxy_section *section = &facts->cfg->sections[i];

		for (uint32_t j = 0; strcmp(section->type, "global") == 0 && j < section->count;
		     j++) {
			const struct haproxy_line *line = &section->lines[j];
			const char *level = line_after(line, "level");

			if (is_socket(line))
				*(level && strcmp(level, "admin") == 0 ? &admin : &lesser) = line;
		}
	}
	if (admin && !lesser)
		report(facts, admin, NULL, SEVERITY_NOTE, "level",
		       "the agent needs no more than level user");
	else if (facts->global && !lesser)
		report(facts, facts->global->head, NULL, SEVERITY_WARNING, "runtime-socket",
		       "no stats socket: the agent learns of no server, and chooses none");
}

static void large_buffers(const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct haproxy_line *line;

		for (uint32_t j = 0; (line = proxy_line(&facts->proxies[i], j)); j++)
			if (line_has(line, "use-large-buffer"))
				report(facts, line, &facts->proxies[i], SEVERITY_ERROR,
				       "large-buffer",
				       "requests of 17 to 65 KB reach engines 208 ms late on "
				       "HAProxy 3.4.0");
	}
}

/* A branch is whole below its next: 2.8 has faults up to 2.8.15. */
struct fault {
	uint32_t from;      /* 2006000 */
	uint32_t until;     /* the first without it */
	const char *debian; /* of the same version, its package is mended from here; NULL */
	const char *text;
};

static const struct fault faults[] = {
	{ 2006000, 2006023, "+deb12u",
	  "a number in a body stops it (CVE-2025-11230); 2.6.23 is mended" },
	{ 2007000, 2008016, NULL,
	  "a number in a body stops it (CVE-2025-11230); 2.8.16 is mended" },
	{ 2008000, 2008008, NULL, "requests hang at a reload; 2.8.8 is mended" },
	{ 2009000, 2010000, NULL,
	  "a number in a body stops it (CVE-2025-11230); 3.0.12 is mended" },
	{ 3000000, 3000012, "+deb13u",
	  "a number in a body stops it (CVE-2025-11230); 3.0.12 is mended" },
	{ 3001000, 3001009, NULL,
	  "answers without action hang, frame sizes are ignored; 3.1.9 is mended" },
	{ 3002000, 3002006, NULL, "a number in a body stops it (CVE-2025-11230); 3.2.6 is mended" },
};

/* "2.6.12-1+deb12u4": Debian's own mending. */
static bool mended(const char *version, const struct fault *fault)
{
	const char *package = fault->debian ? strstr(version, fault->debian) : NULL;

	return package && strtoul(package + strlen(fault->debian), NULL, 10) >=
	                          (fault->from < 3000000 ? 3 : 4);
}

static void version(const struct facts *facts)
{
	const char *text = facts->options->version;

	for (size_t i = 0; text && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (facts->version >= faults[i].from && facts->version < faults[i].until &&
		    !mended(text, &faults[i]))
			report(facts, NULL, NULL, SEVERITY_WARNING, "version", "HAProxy %s: %s",
			       text, faults[i].text);
}

void check_global(const struct facts *facts)
{
	buffer(facts);
	runtime_socket(facts);
	large_buffers(facts);
	version(facts);
}
