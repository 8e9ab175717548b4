/* loading.c - what every part of the loader is handed. */
#include "spoa/config/loading.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 512 };

/* At the value of the node, or at its key. */
__attribute__((format(printf, 6, 0))) static void say(const struct loading *loading,
                                                      const struct node *node, bool key,
                                                      enum severity severity, const char *rule,
                                                      const char *format, va_list arguments)
{
	struct place place = { .file = loading->file,
		               .line = key ? node->key_line : node->line,
		               .column = key ? node->key_column : node->column };
	char path[NODE_PATH_MAX];
	char text[TEXT_MAX];

	(void)vsnprintf(text, sizeof(text), format, arguments);
	node_path(node, path);
	problems_add(loading->problems, place, severity, path, rule, "%s", text);
}

void loading_error(const struct loading *loading, const struct node *node, const char *rule,
                   const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(loading, node, false, SEVERITY_ERROR, rule, format, arguments);
	va_end(arguments);
}

void loading_key_error(const struct loading *loading, const struct node *node, const char *rule,
                       const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(loading, node, true, SEVERITY_ERROR, rule, format, arguments);
	va_end(arguments);
}

void loading_warning(const struct loading *loading, const struct node *node, const char *rule,
                     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(loading, node, false, SEVERITY_WARNING, rule, format, arguments);
	va_end(arguments);
}

void loading_note(const struct loading *loading, const struct node *node, const char *rule,
                  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(loading, node, false, SEVERITY_NOTE, rule, format, arguments);
	va_end(arguments);
}

void *loading_take(const struct loading *loading, size_t count, size_t size)
{
	void *piece = arena_take(loading->arena, count, size);

	if (!piece)
		problems_add(loading->problems, (struct place){ .file = loading->file },
		             SEVERITY_ERROR, NULL, "memory", "there is no memory for it");
	return piece;
}
