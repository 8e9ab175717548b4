/* state_engines.c - what an engine says, and what was learnt of it, as JSON. */
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

/* Of the page; true in "stale" when it is too old to be used. */
json_t *state_engine_json(const struct sources *sources, uint32_t target)
{
	const struct engines *engines = sources->facts->engines;
	const struct engine_page *page = engines_page(engines, target, sources->now, 0);
	const char *kind = engines_kind(engines, target);
	usec_t stale_after = sources->facts->policy->stale_after;
	json_t *object;

	if (!page)
		return kind ? json_pack("{s:s}", "kind", kind) : json_null();
	object = json_pack("{s:s?, s:f, s:b}", "kind", kind, "age_s",
	                   seconds_between(page->at, sources->now), "stale",
	                   !engines_page(engines, target, sources->now, stale_after));
#define AS_JSON(id, member) (void)json_object_set_new(object, #member, known_json(page->member));
	ENGINE_FIELDS(AS_JSON)
#undef AS_JSON
	return object;
}

/* Mean |predicted - real| / real. */
static double mean_error(const struct target_counters *counters)
{
	return counters->ttft_predictions > 0
	               ? counters->ttft_error / (double)counters->ttft_predictions
	               : -1;
}

json_t *state_learnt_json(const struct sources *sources, const struct instance *instance,
                          uint32_t target)
{
	const struct facts *facts = sources->facts;
	struct ttft_line line = ttft_fit_line(facts->ttft_fits, instance, target);
	double capacity = -1, throughput = -1, tpot_ms = -1;

	(void)rates_capacity(facts->rates, target, &capacity);
	(void)rates_throughput(facts->rates, target, sources->now, 0, &throughput);
	(void)rates_tpot(facts->rates, target, sources->now, &tpot_ms);
	return json_pack("{s:o, s:o, s:o, s:f, s:f, s:b, s:o}", "capacity_tokens_s",
	                 known_json(capacity), "throughput_tokens_s", known_json(throughput),
	                 "tpot_s", known_json(tpot_ms < 0 ? -1 : tpot_ms / 1e3), "prefill_tokens_s",
	                 ttft_line_prefill_rate(line), "ttft_base_s", line.base, "ttft_trusted",
	                 line.trusted, "ttft_error",
	                 known_json(mean_error(&facts->counters->of[target])));
}

json_t *state_answers_json(const struct sources *sources, uint32_t instance)
{
	double tokens = -1, bytes = -1;

	(void)answers_tokens(sources->facts->answers, instance, sources->now, &tokens);
	(void)answers_bytes_per_token(sources->facts->answers, instance, &bytes);
	return json_pack("{s:o, s:o}", "output_tokens", known_json(tokens), "bytes_per_token",
	                 known_json(bytes));
}
