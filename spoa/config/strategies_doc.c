/* strategies_doc.c - what strategies are made of, one line each. */
#include "spoa/config/strategies_doc.h"

#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "spoa/config/recipe.h"

enum { TEXT_MAX = 256 };

static const char *const prefix_words[] = {
	[PREFIX_OFF] = "", [PREFIX_SCORE] = "score", [PREFIX_SOLE] = "sole"
};
static const char *const blending_words[] = {
	[BLEND_NOTHING] = "", [BLEND_LOAD] = "load", [BLEND_OWN] = "own"
};
static const char *const level1_words[] = { [LEVEL1_OWN] = "own",
	                                    [LEVEL1_LEAST] = "least replica",
	                                    [LEVEL1_MOST] = "most of a replica",
	                                    [LEVEL1_MEAN] = "mean of replicas" };

/* "pending 2, kv-usage 2" */
static void signals_of(const struct strategy *strategy, char ret_text[TEXT_MAX])
{
	size_t len = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		int more = snprintf(ret_text + len, TEXT_MAX - len, "%s%s %g", i > 0 ? ", " : "",
		                    strategy->weighings[i].signal->name,
		                    strategy->weighings[i].weight);

		if (more < 0 || len + (size_t)more >= TEXT_MAX)
			break;
		len += (size_t)more;
	}
}

static void scale_of(const struct signal *signal, char ret_text[TEXT_MAX])
{
	if (signal->scale == SCALE_NATURAL)
		(void)snprintf(ret_text, TEXT_MAX, "natural");
	else if (signal->min_spread > 0)
		(void)snprintf(ret_text, TEXT_MAX, "min-max, at least %g", signal->min_spread);
	else
		(void)snprintf(ret_text, TEXT_MAX, "min-max");
}

static void print_strategies(FILE *out, bool markdown)
{
	char signals[TEXT_MAX];

	(void)fputs(markdown
	                    ? "| strategy | signals and weights | picker | prefix | gate | blend | "
	                      "falls to | what it does |\n|---|---|---|---|---|---|---|---|\n"
	                    : "strategies\n",
	            out);
	for (size_t i = 0; strategy_at(i); i++) {
		const struct strategy *row = strategy_at(i);

		signals_of(row, signals);
		if (markdown)
			(void)fprintf(out, "| `%s` | %s | %s | %s | %s%s | %s | %s | %s |\n",
			              row->name, signals, row->picker->name,
			              prefix_words[row->prefix], row->gate ? "gate" : "",
			              row->sigma ? ", sigma" : "", blending_words[row->blending],
			              row->falls_to ? row->falls_to->name : "", row->help);
		else
			(void)fprintf(out, "  %-26s %s\n      %s\n", row->name, signals, row->help);
	}
}

static void print_signals(FILE *out, bool markdown)
{
	char scale[TEXT_MAX];

	(void)fputs(markdown ? "\n| signal | better | scale | of an instance | what it is |\n"
	                       "|---|---|---|---|---|\n"
	                     : "\nsignals\n",
	            out);
	for (size_t i = 0; recipe_signal_at(i); i++) {
		const struct signal *signal = recipe_signal_at(i);

		scale_of(signal, scale);
		if (markdown)
			(void)fprintf(out, "| `%s` | %s | %s | %s | %s |\n", signal->name,
			              signal->more_is_better ? "more" : "less", scale,
			              level1_words[signal->level1], signal->help);
		else
			(void)fprintf(out, "  %-26s %s\n", signal->name, signal->help);
	}
}

static void print_pickers(FILE *out, bool markdown)
{
	(void)fputs(markdown ? "\n| picker | options | what it does |\n|---|---|---|\n"
	                     : "\npickers\n",
	            out);
	for (size_t i = 0; recipe_picker_at(i); i++) {
		const struct picker *picker = recipe_picker_at(i);
		const struct option *row = picker->options;

		if (!markdown) {
			(void)fprintf(out, "  %-26s %s\n", picker->name, picker->help);
			continue;
		}
		(void)fprintf(out, "| `%s` | ", picker->name);
		for (; row && row->name; row++)
			(void)fprintf(out, "%s`%s`", row == picker->options ? "" : ", ", row->name);
		(void)fprintf(out, " | %s |\n", picker->help);
	}
}

void strategies_doc_print(FILE *out, bool markdown)
{
	print_strategies(out, markdown);
	print_signals(out, markdown);
	print_pickers(out, markdown);
}
