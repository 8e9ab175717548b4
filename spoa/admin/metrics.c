/* metrics.c - the table of metrics, and the page made of it. */
#include "spoa/admin/metrics.h"

#include <string.h>

#include "spoa/admin/sources.h"

#define AS_ROW(id, type, name, labels, help) { name, #type, labels, help, metric_##id },
static const struct metric metrics[] = { METRICS(AS_ROW) };
#undef AS_ROW

const struct metric *metric_at(size_t i)
{
	return i < sizeof(metrics) / sizeof(metrics[0]) ? &metrics[i] : NULL;
}

const char *metric_prefix(const struct metric *metric)
{
	return strncmp(metric->name, "process_", 8) == 0 ? "" : "inference_spoa_";
}

void metrics_print(struct page *page, const struct sources *sources)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		page_metric(page, &metrics[i]);
		metrics[i].fill(page, sources);
	}
}
