/* haproxy_words.c - quotes, escapes and variables of one line. */
#include "spoa/config/haproxy_words.h"

#include <ctype.h>
#include <string.h>

/* Where we are in a line, and in which quotes. */
struct splitter {
	struct span line;
	size_t at;
	char quote;  /* 0, ' or " */
	bool inside; /* a word is open, which may still be empty */
	const struct haproxy_environment *environment;
	struct haproxy_words *words;
};

static void put(struct haproxy_words *words, char letter)
{
	if (words->used + 1 >= HAPROXY_WORDS_TEXT_MAX || words->count >= HAPROXY_WORDS_MAX)
		words->cut = true;
	else
		words->text[words->used++] = letter;
}

static void end_word(struct splitter *splitter)
{
	struct haproxy_words *words = splitter->words;

	if (!splitter->inside)
		return;
	splitter->inside = false;
	if (words->count >= HAPROXY_WORDS_MAX || words->used >= HAPROXY_WORDS_TEXT_MAX)
		return;
	words->text[words->used++] = '\0';
	words->count++;
}

static char letter_at(const struct splitter *splitter, size_t i)
{
	return i < splitter->line.len ? splitter->line.at[i] : '\0';
}

/* Of a digit, which it is. */
static unsigned hex(char letter)
{
	return letter <= '9' ? (unsigned)(letter - '0') : (unsigned)((letter | 0x20) - 'a' + 10);
}

/* Behind a backslash. */
static void take_escape(struct splitter *splitter)
{
	static const char names[] = "nrt", letters[] = "\n\r\t";
	char letter = letter_at(splitter, splitter->at);
	char high = letter_at(splitter, splitter->at + 1),
	     low = letter_at(splitter, splitter->at + 2);
	const char *known = letter ? strchr(names, letter) : NULL;

	if (splitter->at >= splitter->line.len)
		return;
	if (letter == 'x' && isxdigit((unsigned char)high) && isxdigit((unsigned char)low)) {
		put(splitter->words, (char)(hex(high) * 16 + hex(low)));
		splitter->at += 3;
		return;
	}
	/* Within double quotes a backslash is one unless it is needed. */
	if (splitter->quote == '"' && !known && !strchr("\"\\$", letter))
		put(splitter->words, '\\');
	put(splitter->words, known ? letters[known - names] : letter);
	splitter->at++;
}

static size_t name_length(const struct splitter *splitter, size_t from)
{
	size_t length = 0;

	while (isalnum((unsigned char)letter_at(splitter, from + length)) ||
	       letter_at(splitter, from + length) == '_')
		length++;
	return length;
}

static void put_all(struct haproxy_words *words, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		put(words, text.at[i]);
}

/* At a $ within double quotes. Leaves it as a letter if no name follows. */
static void take_variable(struct splitter *splitter)
{
	size_t begin = splitter->at - 1;
	bool braced = letter_at(splitter, splitter->at) == '{';
	size_t name = splitter->at + (braced ? 1 : 0);
	size_t length = name_length(splitter, name), end = name + length;
	struct span other = { splitter->line.at + begin, 0 };
	const char *value;

	if (length > 0 && braced && letter_at(splitter, end) == '-') {
		other.at = splitter->line.at + end + 1;
		while (end < splitter->line.len && letter_at(splitter, end) != '}')
			end++;
		other.len = (size_t)(splitter->line.at + end - other.at);
	}
	if (length == 0 || (braced && letter_at(splitter, end) != '}')) {
		put(splitter->words, '$');
		return;
	}
	splitter->at = end + (braced ? 1 : 0);
	if (other.at == splitter->line.at + begin)
		other.len = splitter->at - begin;
	value = splitter->environment->value(splitter->environment->data,
	                                     (struct span){ splitter->line.at + name, length });
	put_all(splitter->words, value ? (struct span){ value, strlen(value) } : other);
}

/* True at the end of what counts. */
static bool take_letter(struct splitter *splitter)
{
	char letter = letter_at(splitter, splitter->at++);

	if (splitter->quote != '\0' && letter == splitter->quote) {
		splitter->quote = '\0';
	} else if (splitter->quote == '\0' && (letter == '\'' || letter == '"')) {
		splitter->quote = letter;
		splitter->inside = true;
	} else if (splitter->quote == '\0' && isspace((unsigned char)letter)) {
		end_word(splitter);
	} else if (splitter->quote == '\0' && letter == '#') {
		return true;
	} else {
		splitter->inside = true;
		if (letter == '\\' && splitter->quote != '\'')
			take_escape(splitter);
		else if (letter == '$' && splitter->quote == '"')
			take_variable(splitter);
		else
			put(splitter->words, letter);
	}
	return false;
}

void haproxy_words_split(struct span line, const struct haproxy_environment *environment,
                         struct haproxy_words *ret_words)
{
	struct splitter splitter = { .line = line, .environment = environment, .words = ret_words };

	ret_words->used = 0;
	ret_words->count = 0;
	ret_words->cut = false;
	while (splitter.at < line.len && !take_letter(&splitter))
		;
	end_word(&splitter);
}
