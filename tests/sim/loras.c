/* loras.c - slots, and whose turn it is to leave one. */
#include "tests/sim/loras.h"

#include <string.h>
#include <time.h>

#include "tests/sim/http.h"
#include "tests/sim/sim_options.h"

enum { ASK_AGAIN_MS = 10 };

void loras_clear(struct loras *loras)
{
	memset(loras, 0, sizeof(*loras));
	for (int i = 0; i < LORA_SLOTS_MAX; i++)
		loras->slots[i].adapter = LORA_NONE;
}

int loras_named(const struct sim_options *options, struct span name)
{
	for (int i = 0; i < options->adapters.count; i++)
		if (span_is(name, options->adapters.texts[i]))
			return i;
	return LORA_NONE;
}

/* Its slot; LORA_SLOTS_MAX: it has none. */
static int slot_of(const struct loras *loras, int adapter)
{
	int i = 0;

	while (i < LORA_SLOTS_MAX && loras->slots[i].adapter != adapter)
		i++;
	return i;
}

/* NULL while all are needed. */
static struct lora_slot *place(struct loras *loras, uint32_t slots, int64_t now_us)
{
	struct lora_slot *oldest = NULL;

	for (uint32_t i = 0; i < slots; i++) {
		struct lora_slot *slot = &loras->slots[i];

		if (slot->open == 0 && slot->ready_us <= now_us &&
		    (!oldest || slot->used < oldest->used))
			oldest = slot;
	}
	return oldest;
}

uint32_t loras_wait_ms(struct loras *loras, const struct sim_options *options, int adapter,
                       int64_t now_us)
{
	int at = slot_of(loras, adapter);
	struct lora_slot *slot = at < LORA_SLOTS_MAX ? &loras->slots[at] : NULL;

	if (!slot) {
		slot = place(loras, options->lora_slots, now_us);
		if (!slot)
			return ASK_AGAIN_MS;
		*slot = (struct lora_slot){
			.adapter = adapter,
			.ready_us = now_us + (int64_t)(options->lora_load_ms * 1000),
		};
		loras->loads++;
	}
	slot->used = ++loras->uses;
	return slot->ready_us > now_us ? (uint32_t)((slot->ready_us - now_us + 999) / 1000) : 0;
}

void loras_hold(struct loras *loras, int adapter)
{
	int at = slot_of(loras, adapter);

	if (at < LORA_SLOTS_MAX)
		loras->slots[at].open++;
}

void loras_let_go(struct loras *loras, int adapter)
{
	int at = slot_of(loras, adapter);

	if (at < LORA_SLOTS_MAX && loras->slots[at].open > 0)
		loras->slots[at].open--;
}

static void write_names(const struct loras *loras, const struct sim_options *options, bool waiting,
                        struct bytes *out)
{
	bool first = true;

	for (int i = 0; i < options->adapters.count; i++) {
		int at = slot_of(loras, i);

		if (waiting ? loras->waiting[i] == 0
		            : at == LORA_SLOTS_MAX || loras->slots[at].open == 0)
			continue;
		bytes_format(out, "%s%s", first ? "" : ",", options->adapters.texts[i]);
		first = false;
	}
}

static void write_for_sglang(const struct loras *loras, const struct sim_options *options,
                             const char *labels, struct bytes *out)
{
	uint32_t used = 0;

	for (int i = 0; i < LORA_SLOTS_MAX; i++)
		used += loras->slots[i].adapter != LORA_NONE;
	bytes_format(out,
	             "# TYPE sglang:lora_pool_slots_used gauge\n"
	             "sglang:lora_pool_slots_used{%s} %u\n"
	             "# TYPE sglang:lora_pool_slots_total gauge\n"
	             "sglang:lora_pool_slots_total{%s} %u\n",
	             labels, used, labels, options->lora_slots);
}

/* vLLM names those that requests need, not those that are loaded; the value is the time. */
void loras_write(const struct loras *loras, const struct sim_options *options, const char *labels,
                 struct bytes *out)
{
	struct timespec now;

	if (options->adapters.count == 0)
		return;
	if (strcmp(options->page, "sglang") == 0) {
		write_for_sglang(loras, options, labels, out);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	bytes_format(out,
	             "# HELP vllm:lora_requests_info Simulated.\n"
	             "# TYPE vllm:lora_requests_info gauge\n"
	             "vllm:lora_requests_info{max_lora=\"%u\",running_lora_adapters=\"",
	             options->lora_slots);
	write_names(loras, options, false, out);
	bytes_text(out, "\",waiting_lora_adapters=\"");
	write_names(loras, options, true, out);
	bytes_format(out, "\"} %.3f\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
}
