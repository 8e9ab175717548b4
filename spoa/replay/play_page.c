/* play_page.c - the gauges and counters that engines of all makers have on their page. */
#include "spoa/replay/play_page.h"

#include "policies/page.h"

void play_page(struct facts *facts, uint32_t target, const struct play *play, uint32_t replica,
               usec_t now)
{
	const struct engine_settings *engine = play_engine(play, replica);
	struct engine_load load = play_load(play, replica);
	double kv_tokens = (double)engine->kv_blocks * engine->block_tokens;
	struct engine_page page = engine_page_blank(now);

	page.running = load.running;
	page.waiting = load.waiting;
	page.kv_usage = (double)load.blocks_used / load.blocks_total;
	page.kv_tokens = kv_tokens;
	page.prompt_tokens = (double)load.prompt_tokens;
	page.generation_tokens = (double)load.generated_tokens;
	page.cache_queries = (double)load.prompt_tokens;
	page.cache_hits = (double)load.cached_tokens;
	page.finished = (double)load.served;
	page.token_seconds = play_gaps(play, replica, &page.token_gaps);
	page.max_sequences = engine->max_running;
	(void)page_read(facts, target, &page);
	prefix_index_budget(facts->prefix, target, kv_tokens * facts->policy->bytes_per_token);
}
