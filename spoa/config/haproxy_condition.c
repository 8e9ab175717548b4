/* haproxy_condition.c - one line of .if, from left to right. */
#include "spoa/config/haproxy_condition.h"

#include <ctype.h>
#include <string.h>

uint32_t haproxy_condition_version(struct span text)
{
	uint32_t part[3] = { 0, 0, 0 };
	unsigned at = 0;

	for (size_t i = 0; i < text.len && at < 3; i++) {
		if (text.at[i] == '.')
			at++;
		else if (!isdigit((unsigned char)text.at[i]))
			break;
		else if (part[at] < 100)
			part[at] = part[at] * 10 + (uint32_t)(text.at[i] - '0');
	}
	return part[0] * 1000000 + part[1] * 1000 + part[2];
}

/* The text between the parentheses of name(...); false if it is another call. */
static bool call(const char *term, const char *name, struct span *ret_inside)
{
	size_t length = strlen(name), end = strlen(term);

	if (strncmp(term, name, length) != 0 || term[length] != '(' || term[end - 1] != ')')
		return false;
	*ret_inside = (struct span){ term + length + 1, end - length - 2 };
	return true;
}

static bool halves_equal(struct span text)
{
	const char *comma = memchr(text.at, ',', text.len);
	size_t left = comma ? (size_t)(comma - text.at) : text.len;

	return comma && text.len == 2 * left + 1 && memcmp(text.at, comma + 1, left) == 0;
}

static bool is(struct span text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static bool term_holds(const char *term, uint32_t version,
                       const struct haproxy_environment *environment)
{
	struct span inside;

	if (isdigit((unsigned char)*term))
		return strspn(term, "0") != strlen(term);
	if (strcmp(term, "false") == 0)
		return false;
	if (call(term, "version_atleast", &inside))
		return version >= haproxy_condition_version(inside);
	if (call(term, "version_before", &inside))
		return version < haproxy_condition_version(inside);
	if (call(term, "feature", &inside))
		return is(inside, "PCRE2") || is(inside, "PCRE2_JIT");
	if (call(term, "streq", &inside))
		return halves_equal(inside);
	if (call(term, "strneq", &inside))
		return !halves_equal(inside);
	if (call(term, "defined", &inside))
		return environment->value(environment->data, inside) != NULL;
	return true;
}

bool haproxy_condition_holds(const char *const *words, uint32_t count, uint32_t version,
                             const struct haproxy_environment *environment)
{
	bool all = true, not = false, any_term = false;

	for (uint32_t i = 1; i < count; i++) {
		const char *word = words[i];

		if (strcmp(word, "||") == 0) {
			if (all && any_term)
				return true;
			all = true;
			continue;
		}
		if (strcmp(word, "&&") == 0)
			continue;
		for (; *word == '!'; word++)
			not = !not ;
		if (*word == '\0')
			continue;
		any_term = true;
		if (term_holds(word, version, environment) == not )
			all = false;
		not = false;
	}
	return all && any_term;
}
