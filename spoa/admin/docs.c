/* docs.c - docs/metrics.md, made from the list of metrics. */
#include "spoa/admin/docs.h"

#include <stdlib.h>
#include <string.h>

#include "spoa/admin/metrics.h"
#include "spoa/admin/page.h"

static const char intro[] =
        "# Metrics\n"
        "\n"
        "What `/metrics` of the admin address gives, in the order of the page. Made by\n"
        "`inference-spoa metrics`; do not edit.\n"
        "\n"
        "Labels are names of HAProxy's backends (`instance`) and servers (`replica`), or\n"
        "closed sets of our own: never a tenant, a session, a prefix, a request or a\n"
        "client's model. What is not known has no line; a label value that never occurred\n"
        "may have none yet. With more than 64 replicas in all the histograms have no label\n"
        "`replica`. `prefix_actual_tokens_total` is the engine's own counter and starts anew\n"
        "when the engine does.\n"
        "\n"
        "| name | type | labels | meaning |\n"
        "|---|---|---|---|\n";

static void labels(struct page *page, const char *names)
{
	while (*names != '\0') {
		size_t len = strcspn(names, ",");

		page_text(page, "`");
		page_bytes(page, names, len);
		page_text(page, names[len] == ',' ? "`, " : "`");
		names += len + (names[len] == ',');
	}
}

char *metrics_document(size_t *ret_len)
{
	struct page page = { 0 };

	page_text(&page, intro);
	for (size_t i = 0; metric_at(i); i++) {
		const struct metric *metric = metric_at(i);

		page_print(&page, "| `%s%s` | %s | ", metric_prefix(metric), metric->name,
		           metric->type);
		labels(&page, metric->labels);
		page_print(&page, " | %s |\n", metric->help);
	}
	return page_give(&page, ret_len);
}
