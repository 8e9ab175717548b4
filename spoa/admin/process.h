/* process.h - what the kernel says of this process. */
#pragma once

#include <stdint.h>

struct process_facts {
	double cpu_seconds;
	uint64_t resident_bytes, virtual_bytes;
	uint32_t open_fds, max_fds;
};

/* What cannot be read stays 0. */
struct process_facts process_facts_read(void);
