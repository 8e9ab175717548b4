/* report.c - one row a strategy, in the form asked for. The columns are one list. */
#include "spoa/replay/report.h"

/* COLUMN(title, name for machines, decimals, width, value) */
#define COLUMNS(COLUMN)                                                                            \
	COLUMN("hit %", "hit_share_percent", 1, 6, 100 * row->result.hit_share)                    \
	COLUMN("TTFT mean s", "ttft_mean_s", 3, 12, row->result.ttft_mean)                         \
	COLUMN("p50", "ttft_p50_s", 3, 8, row->result.ttft_p50)                                    \
	COLUMN("p99", "ttft_p99_s", 2, 7, row->result.ttft_p99)                                    \
	COLUMN("E2E p50 s", "e2e_p50_s", 2, 10, row->result.e2e_p50)                               \
	COLUMN("p99", "e2e_p99_s", 1, 6, row->result.e2e_p99)                                      \
	COLUMN("load max/mean", "inflight_max_over_mean", 2, 14, row->result.load_spread)          \
	COLUMN("requests", "requests_max_over_mean", 2, 9, row->result.most_over_mean)             \
	COLUMN("balanced after", "until_balance", 0, 15, (double)row->result.until_balance)        \
	COLUMN("spilled %", "spilled_percent", 1, 10, percent(row, row->counts.spilled))           \
	COLUMN("gate %", "gated_percent", 1, 7, percent(row, row->counts.gated))                   \
	COLUMN("degraded %", "degraded_percent", 1, 11, percent(row, row->counts.degraded))

static double percent(const struct report_row *row, uint64_t count)
{
	return 100.0 * (double)count / (double)row->requests;
}

enum { NAME_WIDTH = 24 };

struct cell {
	int width, decimals;
	double value;
};

void report_head(FILE *out, enum report_form form)
{
	if (form == REPORT_JSON)
		return;
	if (form == REPORT_TEXT)
		(void)fprintf(out, "%-*s", NAME_WIDTH, "strategy");
	else
		(void)fputs(form == REPORT_MARKDOWN ? "| strategy |" : "strategy", out);
#define AS_TITLE(title, name, decimals, width, value)                                              \
	if (form == REPORT_MARKDOWN)                                                               \
		(void)fprintf(out, " %s |", title);                                                \
	else if (form == REPORT_CSV)                                                               \
		(void)fprintf(out, ",%s", name);                                                   \
	else                                                                                       \
		(void)fprintf(out, "%*s", width, title);
	COLUMNS(AS_TITLE)
#undef AS_TITLE
	(void)fputc('\n', out);
	if (form != REPORT_MARKDOWN)
		return;
	(void)fputs("|---|", out);
#define AS_RULE(...) (void)fputs("---:|", out);
	COLUMNS(AS_RULE)
#undef AS_RULE
	(void)fputc('\n', out);
}

static void cell(FILE *out, enum report_form form, const char *name, const struct cell *cell)
{
	switch (form) {
	case REPORT_TEXT:
		(void)fprintf(out, "%*.*f", cell->width, cell->decimals, cell->value);
		break;
	case REPORT_MARKDOWN:
		(void)fprintf(out, " %.*f |", cell->decimals, cell->value);
		break;
	case REPORT_CSV:
		(void)fprintf(out, ",%.*f", cell->decimals, cell->value);
		break;
	case REPORT_JSON:
		(void)fprintf(out, ", \"%s\": %.*f", name, cell->decimals, cell->value);
		break;
	}
}

void report_row(FILE *out, enum report_form form, const struct report_row *row)
{
	static const char *const before[] = {
		[REPORT_TEXT] = "",
		[REPORT_MARKDOWN] = "| `",
		[REPORT_CSV] = "",
		[REPORT_JSON] = "{\"strategy\": \"",
	};
	static const char *const after[] = {
		[REPORT_TEXT] = "",
		[REPORT_MARKDOWN] = "` |",
		[REPORT_CSV] = "",
		[REPORT_JSON] = "\"",
	};

	(void)fprintf(out, "%s%-*s%s", before[form], form == REPORT_TEXT ? NAME_WIDTH : 0,
	              row->name, after[form]);
#define AS_CELL(title, name, decimals, width, value)                                               \
	cell(out, form, name, &(struct cell){ width, decimals, value });
	COLUMNS(AS_CELL)
#undef AS_CELL
	(void)fputs(form == REPORT_JSON ? "}\n" : "\n", out);
}
