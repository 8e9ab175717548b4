/* process.c - reads /proc/self; small, local, never slow. */
#include "spoa/admin/process.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void read_memory(struct process_facts *facts)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long total;
	unsigned long resident;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!file)
		return;
	if (fscanf(file, "%lu %lu", &total, &resident) == 2) { // NOLINT(cert-err34-c): the kernel's
		facts->virtual_bytes = total * page;
		facts->resident_bytes = resident * page;
	}
	(void)fclose(file);
}

static uint32_t count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint32_t count = 0;

	if (!folder)
		return 0;
	for (const struct dirent *entry;
	     (entry = readdir(folder));) // NOLINT(concurrency-mt-unsafe)
		count += entry->d_name[0] != '.';
	(void)closedir(folder);
	return count > 0 ? count - 1 : 0; /* less the folder itself */
}

struct process_facts process_facts_read(void)
{
	struct process_facts facts = { .open_fds = count_fds() };
	struct rusage usage;
	struct rlimit limit;

	read_memory(&facts);
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		facts.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		facts.max_fds = limit.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)limit.rlim_cur;
	return facts;
}
