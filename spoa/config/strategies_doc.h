/* strategies_doc.h - the tables of docs/strategies.md, from the rows themselves. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Strategies, signals and pickers. */
void strategies_doc_print(FILE *out, bool markdown);
