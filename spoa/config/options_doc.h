/* options_doc.h - every knob of a policy, for people: docs/options.md, and the
 * command `options`. Made from the option tables. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

void options_doc_print(FILE *out, bool markdown);
