/* credential.h - what engines want to see before they answer us: a bearer token, out of
 * a file, never out of a policy or a command line.
 *
 * Read when told to, at the start and at each reload, so that a token may be changed in
 * place. Never printed. */
#pragma once

#include "policies/core/error.h"

enum { CREDENTIAL_MAX = 4096 };

struct credential {
	char line[CREDENTIAL_MAX + 32]; /* "authorization: Bearer ..."; "" = none */
};

/* path "": none from now on. False, with a reason, when there is no file, or nothing in
 * its first line that can be sent; what was known then stays. */
MUST_CHECK bool credential_read(struct credential *credential, const char *path,
                                struct error *error);
