/* processes.c - which HAProxy process wrote a log line. */
#include "spoa/observe/processes.h"

#include <string.h>

static bool is_host(const struct processes *processes, struct span host)
{
	return host.len == 0 || (strlen(processes->host) == host.len &&
	                         memcmp(processes->host, host.at, host.len) == 0);
}

void processes_note(struct processes *processes, struct span host, uint32_t pid)
{
	if (host.len > 0 && host.len < sizeof(processes->host)) {
		memcpy(processes->host, host.at, host.len);
		processes->host[host.len] = 0;
	}
	if (processes->count > 0 && processes->pids[(processes->count - 1) % PROCESSES_MAX] == pid)
		return;
	processes->pids[processes->count++ % PROCESSES_MAX] = pid;
}

bool processes_have(const struct processes *processes, struct span host, uint32_t pid)
{
	uint32_t known = processes->count < PROCESSES_MAX ? processes->count : PROCESSES_MAX;

	for (uint32_t i = 0; i < known; i++)
		if (processes->pids[i] == pid)
			return is_host(processes, host);
	return false;
}

bool process_read(struct span text, struct span *ret_host, uint32_t *ret_pid)
{
	const char *slash = text.len > 0 ? memrchr(text.at, '/', text.len) : NULL;
	size_t host = slash ? (size_t)(slash - text.at) : 0;
	uint64_t pid = 0;

	if (!slash)
		return false;
	for (size_t i = host + 1; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		pid = pid * 10 + (uint64_t)(text.at[i] - '0');
		if (pid > UINT32_MAX)
			return false;
	}
	if (pid == 0)
		return false;
	*ret_host = (struct span){ text.at, host };
	*ret_pid = (uint32_t)pid;
	return true;
}
