/* output.c - "*2\r\n$4\r\nPING\r\n…": counts before bytes, so no byte needs an escape.
 *
 * Written here and not by hiredis, whose formatter takes memory for each command. The
 * length is known before the first byte is written: all of a command or none. */
#include "redis/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 24 };

bool redis_output_init(struct redis_output *output, size_t room)
{
	*output = (struct redis_output){ .block = calloc(1, room), .room = room };
	return output->block != NULL;
}

void redis_output_done(struct redis_output *output)
{
	free(output->block);
	*output = (struct redis_output){ 0 };
}

static size_t number(char sign, size_t value, char text[NUMBER_MAX])
{
	return (size_t)snprintf(text, NUMBER_MAX, "%c%zu\r\n", sign, value);
}

static size_t length_of(const struct span *words, size_t count)
{
	char text[NUMBER_MAX];
	size_t length = number('*', count, text);

	for (size_t i = 0; i < count; i++)
		length += number('$', words[i].len, text) + words[i].len + 2;
	return length;
}

static void put(struct redis_output *output, const char *bytes, size_t len)
{
	if (len > 0)
		memcpy(output->block + output->to, bytes, len);
	output->to += len;
}

bool redis_output_add(struct redis_output *output, const struct span *words, size_t count)
{
	size_t unsent = output->to - output->from;
	size_t length = length_of(words, count);
	char text[NUMBER_MAX];

	if (length > output->room - unsent)
		return false;
	if (length > output->room - output->to) {
		memmove(output->block, output->block + output->from, unsent);
		output->from = 0;
		output->to = unsent;
	}
	put(output, text, number('*', count, text));
	for (size_t i = 0; i < count; i++) {
		put(output, text, number('$', words[i].len, text));
		put(output, words[i].at, words[i].len);
		put(output, "\r\n", 2);
	}
	return true;
}

void redis_output_sent(struct redis_output *output, size_t bytes)
{
	output->from += bytes;
	if (output->from == output->to)
		redis_output_clear(output);
}
