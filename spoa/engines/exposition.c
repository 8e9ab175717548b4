/* exposition.c - reads the Prometheus text format, sample by sample. */
#include "spoa/engines/exposition.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span skip(struct span text, size_t bytes)
{
	return (struct span){ text.at + bytes, text.len - bytes };
}

static struct span without_blanks(struct span text)
{
	while (text.len > 0 && blank(text.at[0]))
		text = skip(text, 1);
	return text;
}

static bool of_name(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
	       (!first && c >= '0' && c <= '9');
}

static struct span take_name(struct span *text)
{
	struct span name = { text->at, 0 };

	while (name.len < text->len && of_name(text->at[name.len], name.len == 0))
		name.len++;
	*text = skip(*text, name.len);
	return name;
}

/* Behind the opening quote: the length up to the closing one, text.len without. */
static size_t quoted(struct span text)
{
	size_t i = 0;

	while (i < text.len && text.at[i] != '"')
		i += text.at[i] == '\\' ? 2 : 1;
	return i < text.len ? i : text.len;
}

/* Behind the opening brace. A closing brace may stand inside quotes. */
static bool take_labels(struct span *text, struct span *ret_labels)
{
	size_t i = 0;

	while (i < text->len && text->at[i] != '}') {
		i += text->at[i] == '"' ? 1 + quoted(skip(*text, i + 1)) : 0;
		i++;
	}
	if (i >= text->len)
		return false;
	*ret_labels = (struct span){ text->at, i };
	*text = skip(*text, i + 1);
	return true;
}

static bool take_number(struct span *text, double *ret_number)
{
	char digits[NUMBER_MAX];
	size_t length = 0;
	char *end;

	while (length < text->len && !blank(text->at[length]))
		length++;
	if (length == 0 || length >= sizeof(digits))
		return false;
	memcpy(digits, text->at, length);
	digits[length] = 0;
	*ret_number = strtod(digits, &end);
	*text = skip(*text, length);
	return *end == 0;
}

/* What follows the name: labels, a value, and perhaps a time, which is not read. */
static bool read_sample(struct span line, struct exposition_sample *sample)
{
	line = without_blanks(line);
	sample->labels = (struct span){ line.at, 0 };
	if (line.len > 0 && line.at[0] == '{') {
		line = skip(line, 1);
		if (!take_labels(&line, &sample->labels))
			return false;
	}
	line = without_blanks(line);
	return take_number(&line, &sample->value);
}

static struct span take_line(struct span *text)
{
	const char *end = memchr(text->at, '\n', text->len);
	struct span line = { text->at, end ? (size_t)(end - text->at) : text->len };

	*text = skip(*text, line.len + (end ? 1 : 0));
	if (line.len > 0 && line.at[line.len - 1] == '\r')
		line.len--;
	return without_blanks(line);
}

bool exposition_next(struct exposition *exposition, struct exposition_sample *ret_sample)
{
	while (exposition->rest.len > 0) {
		struct span line = take_line(&exposition->rest);
		struct exposition_sample sample;

		if (line.len == 0 || line.at[0] == '#')
			continue;
		sample.name = take_name(&line);
		if (sample.name.len == 0) {
			exposition->broken++;
			continue;
		}
		if (exposition->wanted && !exposition->wanted(exposition->data, sample.name))
			continue;
		if (!read_sample(line, &sample)) {
			exposition->broken++;
			continue;
		}
		*ret_sample = sample;
		return true;
	}
	return false;
}

bool exposition_label(struct span labels, const char *name, struct span *ret_value)
{
	size_t wanted = strlen(name);

	while (labels.len > 0) {
		struct span label, value;

		while (labels.len > 0 && (blank(labels.at[0]) || labels.at[0] == ','))
			labels = skip(labels, 1);
		label = take_name(&labels);
		labels = without_blanks(labels);
		if (label.len == 0 || labels.len == 0 || labels.at[0] != '=')
			return false;
		labels = without_blanks(skip(labels, 1));
		if (labels.len == 0 || labels.at[0] != '"')
			return false;
		labels = skip(labels, 1);
		value = (struct span){ labels.at, quoted(labels) };
		if (value.len == labels.len)
			return false; /* no closing quote */
		labels = skip(labels, value.len + 1);
		if (label.len == wanted && memcmp(label.at, name, wanted) == 0) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}
