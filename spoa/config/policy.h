/* policy.h - from the operator's policy file to struct policy.
 *
 * A file is read, checked and turned into settings beside the running policy;
 * whoever loads it swaps the pointers between two requests and frees the old
 * file. A file with an error gives no policy at all; warnings do not matter
 * here. All memory of the policy belongs to its file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/policy.h"
#include "spoa/config/problems.h"

struct policy_file;

enum { POLICY_FILE_MAX = 8 << 20 }; /* bytes */

/* NULL when the file cannot be read or has an error; the problems say what and
 * where, all of them. A path of NULL is the embedded default. */
struct policy_file *policy_load(const char *path, struct problems *problems);
/* The same, of a text. The name stands for the file in messages. */
struct policy_file *policy_parse(const char *name, const char *text, size_t len,
                                 struct problems *problems);
void policy_file_free(struct policy_file *file);

/* Good until the file is freed. */
const struct policy *policy_file_policy(const struct policy_file *file);
/* As loaded; "default" for the embedded one. */
const char *policy_file_name(const struct policy_file *file);
/* XXH64 of its text; 0 for the embedded one. Two processes, one policy: equal. */
uint64_t policy_file_hash(const struct policy_file *file);
/* Which rules of check the operator wants to be silent about; NULL after the last. */
const char *policy_file_ignored(const struct policy_file *file, size_t i);

struct policy_change {
	const char *path;   /* "instances.be_a.weight" */
	const char *before; /* JSON; NULL when it was not there */
	const char *after;  /* JSON; NULL when it is gone */
	bool restart;       /* takes effect at the next start only */
};

/* Says each value that differs, in the order of the new file, then what is gone.
 * Strings are good during the call. Returns how many there were. */
size_t policy_diff(const struct policy_file *before, const struct policy_file *after,
                   void (*say)(void *context, const struct policy_change *change), void *context);
