/* table.c - as wide as the widest cell, two spaces between. */
#include "spoa/admin/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *next_cell(struct table *table)
{
	if (table->cells == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		char(*at)[TABLE_CELL_MAX] = realloc(table->at, room * sizeof(*at));

		if (!at)
			return NULL;
		table->at = at;
		table->room = room;
	}
	return table->at[table->cells++];
}

/* Texts of clients come through here. Bytes beyond ASCII pass: they are UTF-8 of
 * our own JSON, and C1 controls in it are rare enough to be caught by terminals. */
static void tame(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

void table_init(struct table *table, const char *headings)
{
	*table = (struct table){ 0 };
	while (*headings != '\0') {
		size_t len = strcspn(headings, "|");
		char *cell = next_cell(table);

		if (cell)
			(void)snprintf(cell, TABLE_CELL_MAX, "%.*s", (int)len, headings);
		table->columns++;
		headings += len + (headings[len] == '|');
	}
}

void table_done(struct table *table)
{
	free(table->at);
	*table = (struct table){ 0 };
}

void table_cell(struct table *table, const char *format, ...)
{
	char *cell = next_cell(table);
	va_list args;

	if (!cell)
		return;
	va_start(args, format);
	(void)vsnprintf(cell, TABLE_CELL_MAX, format, args);
	va_end(args);
	tame(cell);
}

static bool is_number(const struct table *table, size_t column)
{
	return table->at[column][0] == '>';
}

/* Of a heading, without its mark. */
static const char *text_of(const struct table *table, size_t cell)
{
	return table->at[cell] + (cell < table->columns && is_number(table, cell));
}

static int width_of(const struct table *table, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->cells; i += table->columns) {
		size_t len = strlen(text_of(table, i));

		width = len > width ? len : width;
	}
	return (int)width;
}

void table_print(const struct table *table, FILE *out)
{
	int widths[TABLE_COLUMNS_MAX] = { 0 };

	if (table->columns == 0 || table->columns > TABLE_COLUMNS_MAX ||
	    table->cells < table->columns)
		return;
	for (size_t i = 0; i < table->columns; i++)
		widths[i] = width_of(table, i);
	for (size_t i = 0; i < table->cells; i++) {
		size_t column = i % table->columns;
		bool last = column + 1 == table->columns;

		if (is_number(table, column))
			(void)fprintf(out, "%*s", widths[column], text_of(table, i));
		else
			(void)fprintf(out, "%-*s", last ? 0 : widths[column], text_of(table, i));
		(void)fputs(last ? "\n" : "  ", out);
	}
}
