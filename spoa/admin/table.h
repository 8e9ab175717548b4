/* table.h - columns for people to read. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum {
	TABLE_COLUMNS_MAX = 16,
	TABLE_CELL_MAX = 128,
};

struct table {
	size_t columns;
	size_t cells, room; /* the headings are the first row */
	char (*at)[TABLE_CELL_MAX];
};

/* Headings between '|'; one that begins with '>' is of numbers, aligned right. */
void table_init(struct table *table, const char *headings);
void table_done(struct table *table);
/* The next cell of the row. What would move the cursor of a terminal is a '?'.
 * Without memory the cell is lost. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *out);
