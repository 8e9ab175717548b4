/* decide.c - what a decision costs: CPU of decider_decide() alone, by the size of
 * the fleet and of the index, and the bytes of an index entry.
 *
 * 32 hashes a prompt; half the prompts are known in full to one replica, half are
 * new. Batches of 64 decisions are timed by the process's CPU clock; their ends are
 * not. Rows: name, value, unit, target, separated by tabs. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policies/defaults.h"
#include "policies/feedback.h"
#include "policies/page.h"
#include "policies/pipeline.h"
#include "policies/strategies.h"

enum { BATCH = 64, BATCHES = 400, BLOCKS = 32 };

struct bench {
	struct policy policy;
	struct facts *facts;
	struct decider *decider;
	struct rng rng;
	usec_t now;
	uint32_t replicas;
	uint64_t decided;
	const char *strategy; /* asked for by a header; NULL: none */
};

static struct span text(const char *at)
{
	return (struct span){ at, strlen(at) };
}

static double cpu_ns(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static void list_servers(struct bench *bench)
{
	struct server_fact *servers = calloc(bench->replicas, sizeof(*servers));
	char(*names)[ADDRESS_MAX_BYTES] = calloc(bench->replicas, sizeof(*names));

	for (uint32_t i = 0; i < bench->replicas; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "10.0.%u.%u:8000", i / 250, i % 250 + 1);
		servers[i] = (struct server_fact){ .backend = text("pool"),
			                           .server = text(names[i]),
			                           .address = text(names[i]),
			                           .weight = 100,
			                           .up = true };
	}
	(void)fleet_apply(bench->facts->fleet, 0, servers, bench->replicas, bench->now, NULL, NULL);
	free(servers);
	free(names);
}

static void fill_index(struct bench *bench, uint32_t records)
{
	for (uint32_t at = 0; at < records; at += BLOCKS) {
		uint64_t hashes[BLOCKS], chain[BLOCKS];
		uint32_t holder = fleet_target_at(bench->facts->fleet, text("10.0.0.1:8000"))->id +
		                  (at / BLOCKS) % bench->replicas;

		for (int i = 0; i < BLOCKS; i++)
			hashes[i] = rng_next(&bench->rng);
		prefix_chain(NULL, 7, hashes, BLOCKS, chain);
		prefix_index_budget(bench->facts->prefix, holder, 1e12);
		prefix_index_confirm(bench->facts->prefix, holder, chain, BLOCKS,
		                     &bench->policy.ladder, bench->now);
	}
}

static void compose(struct bench *bench, struct request *ret_request, char id[32], bool known)
{
	struct rng prompt = { known ? rng_next(&bench->rng) % 64 : rng_next(&bench->rng) };

	(void)snprintf(id, 32, "q%llu", (unsigned long long)bench->decided++);
	*ret_request = (struct request){ .id = text(id),
		                         .model = text("demo"),
		                         .has_prompt = true,
		                         .prompt_bytes = 380928,
		                         .body_bytes = 380928,
		                         .body_total = 380928,
		                         .hash_count = BLOCKS };
	if (bench->strategy) {
		ret_request->strategy = text(bench->strategy);
		ret_request->tenant = text("tenant");
		ret_request->session = text(id);
	}
	for (int i = 0; i < BLOCKS; i++)
		ret_request->hashes[i] = rng_next(&prompt);
}

static void finish(struct bench *bench, const char *id)
{
	struct stream_end end = { .id = text(id),
		                  .by = { .backend = text("pool") },
		                  .status = 200,
		                  .termination = "----",
		                  .routed = true,
		                  .applied = true,
		                  .decided_ms = 1,
		                  .total_ms = 100 };

	(void)feedback_end(bench->facts, &end, bench->now);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_ns(struct bench *bench)
{
	static double each[BATCHES];
	static struct request requests[BATCH];
	static char ids[BATCH][32];
	struct decision decision;

	for (int b = -20; b < BATCHES; b++) {
		double begun;

		for (int i = 0; i < BATCH; i++)
			compose(bench, &requests[i], ids[i], i % 2);
		bench->now += 10 * MSEC;
		begun = cpu_ns();
		for (int i = 0; i < BATCH; i++)
			decider_decide(bench->decider, &requests[i], bench->now, &decision);
		if (b >= 0)
			each[b] = (cpu_ns() - begun) / BATCH;
		for (int i = 0; i < BATCH; i++)
			finish(bench, ids[i]);
	}
	qsort(each, BATCHES, sizeof(double), by_value);
	return each[BATCHES / 2];
}

/* Each engine's page says something else. */
static void read_pages(struct bench *bench)
{
	for (uint32_t i = 0; i < fleet_targets_max(bench->facts->fleet); i++) {
		struct engine_page page = engine_page_blank(bench->now);

		if (!fleet_target(bench->facts->fleet, i))
			continue;
		page.running = i % 20;
		page.waiting = i % 3;
		page.kv_usage = i % 10 / 10.0;
		page.prompt_tokens = (double)bench->now / 1e3;
		page.generation_tokens = (double)bench->now / 1e4;
		page.token_gaps = page.generation_tokens;
		page.token_seconds = page.generation_tokens / 50;
		(void)page_read(bench->facts, i, &page);
	}
}

static double decide_ns(struct bench *bench, uint32_t records)
{
	double ns;

	policy_default(&bench->policy);
	bench->policy.prefix.max_records = records < 65536 ? 65536 : 2 * records;
	bench->policy.stale_after = 3600 * SECOND;
	bench->facts = facts_new(&bench->policy, &(struct fleet_limits){ 4, 2048, 16 });
	bench->decider = bench->facts ? decider_new(bench->facts, 3) : NULL;
	if (!bench->decider)
		exit(1);
	list_servers(bench);
	fill_index(bench, records);
	for (int second = 0; bench->strategy && second < 3; second++) {
		bench->now += SECOND;
		read_pages(bench);
	}
	ns = median_ns(bench);
	decider_free(bench->decider);
	facts_free(bench->facts);
	return ns;
}

static void measure(uint32_t replicas, uint32_t records, const char *target)
{
	struct bench bench = { .rng = { 9 }, .now = SECOND, .replicas = replicas };

	(void)printf("decision, %u replicas, %u index entries\t%.2f\tus CPU\t%s\n", replicas,
	             records, decide_ns(&bench, records) / 1000, target);
	(void)fflush(stdout);
}

static void measure_strategy(const char *strategy)
{
	struct bench bench = { .rng = { 9 }, .now = SECOND, .replicas = 64 };

	bench.strategy = strategy;
	(void)printf("decision by %s, 64 replicas, 1000 index entries\t%.2f\tus CPU\t\n", strategy,
	             decide_ns(&bench, 1000) / 1000);
	(void)fflush(stdout);
}

static void measure_entry(void)
{
	struct prefix_limits limits = { .records = 10 * 1000 * 1000,
		                        .holders = 64,
		                        .ttl = 1800 * SECOND,
		                        .provisional_ttl = 30 * SECOND,
		                        .holder_bytes = 2e6 };
	struct mallinfo2 before = mallinfo2();
	struct prefix_index *index = prefix_index_new(&limits);
	struct mallinfo2 after = mallinfo2();
	double bytes = (double)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd);

	(void)printf("index of 10000000 entries, bytes per block and holder\t%.2f\tbytes\t32\n",
	             bytes / prefix_index_capacity(index));
	prefix_index_free(index);
}

int main(void)
{
	measure(8, 1000, "");
	measure(8, 1000000, "");
	measure(64, 1000, "3");
	measure(64, 1000000, "3");
	measure(1024, 1000, "30");
	measure(1024, 1000000, "30");
	measure_entry();
	for (size_t i = 0; strategy_at(i); i++)
		measure_strategy(strategy_at(i)->name);
	return 0;
}
