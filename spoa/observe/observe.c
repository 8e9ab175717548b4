/* observe.c - how the observers tell the operator. */
#include "spoa/observe/observe.h"

#include <stdarg.h>
#include <stdio.h>

void observe_say(const struct observe *observe, enum observe_level level, const char *format, ...)
{
	char text[256];
	va_list arguments;

	if (!observe->log.say)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	observe->log.say(observe->log.data, (int)level, text);
}
