/* journal.c - lines for the operator, each kind at most once a second. */
#include "spoa/journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024 };

static const char *const level_names[] = {
	"", "", "", "error", "warning", "notice", "info", "debug"
};

void journal_init(struct journal *journal, int fd, int level, bool json, usec_t (*now)(void))
{
	*journal = (struct journal){
		.fd = fd, .level = level, .json = json, .priority = !json && !isatty(fd), .now = now
	};
}

int journal_level_named(const char *name)
{
	for (int level = LOGGED_ERROR; level <= LOGGED_DEBUG; level++) {
		if (strcmp(level_names[level], name) == 0)
			return level;
	}
	return -1;
}

/* Of the text up to its first digit: what stays when numbers and names change. */
static uint64_t key_of(const char *text)
{
	uint64_t key = 0xcbf29ce484222325;

	for (; *text && (*text < '0' || *text > '9'); text++)
		key = (key ^ (unsigned char)*text) * 0x100000001b3;
	return key;
}

/* The row of this kind; the one silent for longest makes room for a new kind. */
static struct journal_kind *kind_of(struct journal *journal, uint64_t key)
{
	struct journal_kind *oldest = &journal->kinds[0];

	for (size_t i = 0; i < JOURNAL_KINDS_MAX; i++) {
		struct journal_kind *kind = &journal->kinds[i];

		if (kind->key == key)
			return kind;
		if (kind->said_at < oldest->said_at)
			oldest = kind;
	}
	*oldest = (struct journal_kind){ .key = key };
	return oldest;
}

/* How many were kept back since the last; -1: keep this one back, too. */
static int64_t may_say(struct journal *journal, uint64_t key)
{
	struct journal_kind *kind = kind_of(journal, key);
	usec_t now = journal->now();
	int64_t kept_back = kind->kept_back;

	if (kind->said_at && now < kind->said_at + SECOND) {
		kind->kept_back++;
		journal->suppressed++;
		return -1;
	}
	kind->said_at = now;
	kind->kept_back = 0;
	return kept_back;
}

/* Somebody else's words may be among the text: it stays on one line, and in JSON
 * in its string. Bytes that are no UTF-8 are told as ?. */
static size_t letter_bytes(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;

	if (length > 1 && (at[0] < 0xc2 || at[0] > 0xf4))
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

static void make_safe(char *to, size_t room, const char *text, bool json)
{
	size_t at = 0;

	while (*text && at + 5 < room) {
		size_t length = letter_bytes(text);

		if (json && (*text == '"' || *text == '\\'))
			to[at++] = '\\';
		if (length == 0 || (unsigned char)*text < ' ' || *text == 0x7f) {
			to[at++] = '?';
			text++;
			continue;
		}
		memcpy(to + at, text, length);
		at += length;
		text += length;
	}
	to[at] = '\0';
}

static void put(struct journal *journal, int level, const char *text, int64_t kept_back)
{
	char line[TEXT_BYTES + 128];
	char safe[TEXT_BYTES];
	char more[64] = "";
	int length;

	make_safe(safe, sizeof(safe), text, journal->json);
	if (kept_back > 0)
		(void)snprintf(more, sizeof(more), " (%lld more of this kind kept back)",
		               (long long)kept_back);
	if (journal->json)
		length = snprintf(line, sizeof(line), "{\"level\":\"%s\",\"message\":\"%s%s\"}\n",
		                  level_names[level], safe, more);
	else if (journal->priority)
		length = snprintf(line, sizeof(line), "<%d>%s: %s%s\n", level, level_names[level],
		                  safe, more);
	else
		length = snprintf(line, sizeof(line), "%s: %s%s\n", level_names[level], safe, more);
	if (length > 0 && write(journal->fd, line, (size_t)length) < 0)
		journal->suppressed++; /* nobody reads; nothing better can be done */
}

void journal_say(struct journal *journal, int level, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;
	int64_t kept_back;

	if (level > journal->level)
		return;
	kept_back = may_say(journal, key_of(format));
	if (kept_back < 0)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put(journal, level, text, kept_back);
}

void journal_text(void *journal, int level, const char *text)
{
	struct journal *to = journal;
	int64_t kept_back;

	if (level > to->level)
		return;
	kept_back = may_say(to, key_of(text));
	if (kept_back >= 0)
		put(to, level, text, kept_back);
}

void journal_line(struct journal *journal, int level, const char *text)
{
	if (level <= journal->level)
		put(journal, level, text, 0);
}
