/* entry_id.h - where an entry stands in a stream: the store's own milliseconds, and a number.
 *
 * Ids of one stream only grow as long as the store keeps what it had; one that is smaller
 * than another seen before tells of a store that began anew. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"

struct entry_id {
	uint64_t ms, number;
};

enum { ENTRY_ID_TEXT_MAX = 48 /* with the NUL */ };

/* "1732958613123-4". False when it is anything else; a number alone is none. */
MUST_CHECK bool entry_id_read(struct span text, struct entry_id *ret_id);
/* The span borrows the text. */
struct span entry_id_write(struct entry_id id, char ret_text[ENTRY_ID_TEXT_MAX]);
bool entry_id_before(struct entry_id a, struct entry_id b);
