/* haproxy_cfg.c - from the text of a haproxy.cfg to its sections.
 *
 * Arrays are sized by the number of lines, so nothing grows while reading. */
#include "spoa/config/haproxy_cfg.h"

#include <string.h>

#include "spoa/config/haproxy_condition.h"

enum { VARIABLES_MAX = 256, DEPTH_MAX = 64, IGNORED_MAX = 512 };

static const char ignore_mark[] = "# inference-spoa: ignore ";

struct variable {
	const char *name;
	const char *value; /* NULL: unset */
};

/* Of one .if. */
struct branch {
	bool active; /* what is read is kept */
	bool taken;  /* some branch of it was */
};

struct reader {
	struct arena *arena;
	const struct haproxy_environment *outside;
	struct haproxy_environment environment;
	uint32_t version;
	struct variable variables[VARIABLES_MAX];
	uint32_t variable_count;
	struct branch branches[DEPTH_MAX];
	uint32_t depth;
	char ignored[IGNORED_MAX]; /* by the comments since the last line */
	struct haproxy_cfg *cfg;
	struct haproxy_section *sections;
	struct haproxy_line *lines;
	uint32_t line_count;
	struct haproxy_words words;
	bool out_of_memory;
};

static const char *value_of(const void *data, struct span name)
{
	const struct reader *reader = data;

	for (uint32_t i = reader->variable_count; i-- > 0;) {
		const struct variable *variable = &reader->variables[i];

		if (strlen(variable->name) == name.len &&
		    memcmp(variable->name, name.at, name.len) == 0)
			return variable->value;
	}
	return reader->outside->value(reader->outside->data, name);
}

static void learn_variable(struct reader *reader, const char *const *words, uint32_t count)
{
	bool set = strcmp(words[0], "setenv") == 0;
	bool preset = strcmp(words[0], "presetenv") == 0;
	struct variable *variable = &reader->variables[reader->variable_count];

	if ((!set && !preset) || count < 3 || reader->variable_count == VARIABLES_MAX)
		return;
	if (preset && value_of(reader, (struct span){ words[1], strlen(words[1]) }))
		return;
	*variable = (struct variable){ words[1], words[2] };
	reader->variable_count++;
}

static bool active(const struct reader *reader)
{
	for (uint32_t i = 0; i < reader->depth; i++)
		if (!reader->branches[i].active)
			return false;
	return true;
}

static void open_branch(struct reader *reader, const char *const *words, uint32_t count)
{
	bool holds = haproxy_condition_holds(words, count, reader->version, &reader->environment);

	if (reader->depth == DEPTH_MAX)
		return;
	reader->branches[reader->depth++] = (struct branch){ .active = holds, .taken = holds };
}

static void next_branch(struct reader *reader, bool holds)
{
	struct branch *branch;

	if (reader->depth == 0)
		return;
	branch = &reader->branches[reader->depth - 1];
	branch->active = holds && !branch->taken;
	branch->taken = branch->taken || holds;
}

/* A line that begins with a dot. */
static void take_directive(struct reader *reader, const char *const *words, uint32_t count)
{
	if (strcmp(words[0], ".if") == 0)
		open_branch(reader, words, count);
	else if (strcmp(words[0], ".elif") == 0)
		next_branch(reader, haproxy_condition_holds(words, count, reader->version,
		                                            &reader->environment));
	else if (strcmp(words[0], ".else") == 0)
		next_branch(reader, true);
	else if (strcmp(words[0], ".endif") == 0 && reader->depth > 0)
		reader->depth--;
}

/* The words as an array in the arena. */
static const char *const *keep_words(struct reader *reader)
{
	const struct haproxy_words *words = &reader->words;
	const char *at = arena_text(reader->arena, words->text, words->used);
	const char **list = arena_take(reader->arena, words->count, sizeof(*list));

	if (!at || !list) {
		reader->out_of_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < words->count; i++) {
		list[i] = at;
		at += strlen(at) + 1;
	}
	return list;
}

static bool opens_section(const char *word)
{
	static const char *const types[] = {
		"global",      "defaults",    "frontend",     "backend",    "listen",    "ring",
		"resolvers",   "peers",       "mailers",      "userlist",   "cache",     "program",
		"http-errors", "log-forward", "log-profile",  "fcgi-app",   "crt-store", "traces",
		"acme",        "spoe-agent",  "spoe-message", "spoe-group",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(word, types[i]) == 0)
			return true;
	return word[0] == '[';
}

static void keep_line(struct reader *reader, const struct haproxy_line *line)
{
	struct haproxy_cfg *cfg = reader->cfg;
	struct haproxy_line *kept = &reader->lines[reader->line_count++];

	*kept = *line;
	if (opens_section(line->words[0]))
		reader->sections[cfg->count++] = (struct haproxy_section){
			.type = line->words[0],
			.name = line->count > 1 ? line->words[1] : "",
			.head = kept,
			.lines = kept + 1,
		};
	else if (cfg->count > 0)
		reader->sections[cfg->count - 1].count++;
	else
		reader->line_count--; /* of no section: HAProxy refuses it */
}

static void take_comment(struct reader *reader, struct span text)
{
	size_t mark = sizeof(ignore_mark) - 1, used = strlen(reader->ignored);

	while (text.len > 0 && (*text.at == ' ' || *text.at == '\t'))
		text = (struct span){ text.at + 1, text.len - 1 };
	if (text.len <= mark || memcmp(text.at, ignore_mark, mark) != 0 ||
	    used + text.len - mark + 2 > IGNORED_MAX)
		return;
	memcpy(reader->ignored + used, text.at + mark, text.len - mark);
	memcpy(reader->ignored + used + text.len - mark, " ", 2);
}

/* What the comments above a line silence; above the first section, everywhere. */
static const char *take_ignored(struct reader *reader)
{
	const char *ignored = "";

	if (reader->ignored[0] != '\0')
		ignored = arena_text(reader->arena, reader->ignored, strlen(reader->ignored));
	reader->ignored[0] = '\0';
	if (!ignored)
		reader->out_of_memory = true;
	else if (reader->cfg->count == 0 && *ignored)
		reader->cfg->ignored = ignored;
	return ignored;
}

static void take_line(struct reader *reader, struct span text, uint32_t number)
{
	struct haproxy_line line = { .number = number, .bytes = (uint32_t)text.len };

	haproxy_words_split(text, &reader->environment, &reader->words);
	if (reader->words.count == 0) {
		take_comment(reader, text);
		return;
	}
	line.words = keep_words(reader);
	line.count = reader->words.count;
	if (!line.words)
		return;
	if (line.words[0][0] == '.') {
		take_directive(reader, line.words, line.count);
		return;
	}
	if (!active(reader))
		return;
	line.ignored = take_ignored(reader);
	learn_variable(reader, line.words, line.count);
	if (!reader->out_of_memory)
		keep_line(reader, &line);
}

static size_t lines_of(struct span text)
{
	size_t lines = 1;

	for (size_t i = 0; i < text.len; i++)
		lines += text.at[i] == '\n';
	return lines;
}

static bool begin(struct reader *reader, struct span text)
{
	size_t lines = lines_of(text);

	reader->cfg = arena_take(reader->arena, 1, sizeof(*reader->cfg));
	reader->sections = arena_take(reader->arena, lines, sizeof(*reader->sections));
	reader->lines = arena_take(reader->arena, lines, sizeof(*reader->lines));
	reader->environment = (struct haproxy_environment){ value_of, reader };
	if (!reader->cfg || !reader->sections || !reader->lines)
		return false;
	reader->cfg->sections = reader->sections;
	reader->cfg->ignored = "";
	return true;
}

const struct haproxy_cfg *haproxy_cfg_read(struct span text, uint32_t version,
                                           const struct haproxy_environment *environment,
                                           struct arena *arena)
{
	struct reader *reader = arena_take(arena, 1, sizeof(*reader));
	uint32_t number = 0;

	if (!reader)
		return NULL;
	reader->arena = arena;
	reader->outside = environment;
	reader->version = version;
	if (!begin(reader, text))
		return NULL;
	while (text.len > 0 && !reader->out_of_memory) {
		const char *end = memchr(text.at, '\n', text.len);
		size_t length = end ? (size_t)(end - text.at) : text.len;

		take_line(reader, (struct span){ text.at, length }, ++number);
		length += end ? 1 : 0;
		text = (struct span){ text.at + length, text.len - length };
	}
	return reader->out_of_memory ? NULL : reader->cfg;
}
