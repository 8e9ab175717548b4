/* show_fields.h - a field of a JSON object as people read it; "-" where there is none. */
#pragma once

#include <jansson.h>

struct table;

/* Borrowed from the object. */
const char *field_text(const json_t *object, const char *name);
/* 0 where it is no number. */
double field_number(const json_t *object, const char *name);
/* The next cell of the row. digits: behind the point. */
/* ", rank 3, decode of one" of a candidate that has a rank or a role; else "". */
void part_text(const json_t *object, char *ret_text, size_t room);

void field_cell(struct table *table, const json_t *object, const char *name, int digits);
