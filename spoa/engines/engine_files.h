/* engine_files.h - the profiles of this folder, as the build put them into the program. */
#pragma once

#include <stddef.h>

struct engine_file {
	const char *name; /* "vllm.json"; NULL after the last */
	size_t bytes;
	const char *text;
};

extern const struct engine_file engine_files[];
