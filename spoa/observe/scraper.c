/* scraper.c - what an engine's page says goes into the facts, with its age.
 *
 * The page of an engine that answers in time is believed whole; one that does not
 * is left to grow old, and is unknown after the policy's stale-after. */
#include "spoa/observe/scraper.h"

#include <stdlib.h>

#include "policies/page.h"
#include "spoa/observe/engine_names.h"

enum { PAGE_MAX = 4 * 1024 * 1024 };

static const usec_t default_interval = SECOND, default_deadline = 800 * MSEC;
static const usec_t default_backoff = 30 * SECOND;
static const double jitter = 0.2;

/* Where engines have their page; an engine is asked for one after the other until
 * it has one. */
static const char *const paths[] = { "/metrics", "/prometheus/metrics" };
enum { PATH_COUNT = sizeof(paths) / sizeof(paths[0]) };

struct engine {
	const char *name; /* NULL: not known */
	uint32_t path;    /* index into paths */
	double kv_tokens; /* that its budget was set by; 0 = none */
};

struct scraper {
	struct observe observe;
	struct rounds *rounds;
	struct scraper_counts counts;
	struct engine *engines; /* by target id */
};

static const char *path_of(void *data, uint32_t target)
{
	struct scraper *scraper = data;

	return paths[scraper->engines[target].path];
}

static void on_new(void *data, uint32_t target)
{
	struct scraper *scraper = data;
	scraper->engines[target] = (struct engine){ 0 };
}

static void set_budget(struct scraper *scraper, const struct target *target, double kv_tokens)
{
	const struct facts *facts = scraper->observe.facts;
	struct engine *engine = &scraper->engines[target->id];

	if (kv_tokens <= 0 || kv_tokens == engine->kv_tokens)
		return;
	engine->kv_tokens = kv_tokens;
	prefix_index_budget(facts->prefix, target->id, kv_tokens * facts->policy->bytes_per_token);
}

static void put_page(struct scraper *scraper, const struct target *target,
                     const struct engine_reading *reading, usec_t now)
{
	struct engine_page page = engine_page_blank(now);

#define AS_FIELD(id, field) page.field = reading->values[ENGINE_##id];
	ENGINE_FIELDS(AS_FIELD)
#undef AS_FIELD
	if (!page_read(scraper->observe.facts, target->id, &page))
		return;
	scraper->counts.restarts++;
	observe_say(&scraper->observe, OBSERVE_NOTICE,
	            "%s: the engine has restarted, its cache is empty", target->label);
}

static enum rounds_verdict not_here(struct scraper *scraper, struct engine *engine)
{
	scraper->counts.no_page++;
	engine->name = NULL;
	engine->path = (engine->path + 1) % PATH_COUNT;
	return engine->path == 0 ? ROUNDS_NOT_HERE : ROUNDS_GOOD;
}

static enum rounds_verdict failed(struct scraper *scraper, const struct fetch_result *result)
{
	if (result->late)
		scraper->counts.late++;
	else if (result->status == 0)
		scraper->counts.refused++;
	else
		scraper->counts.status++;
	return ROUNDS_FAILED;
}

static enum rounds_verdict on_answer(void *data, const struct target *target,
                                     const struct fetch_result *result, usec_t now)
{
	struct scraper *scraper = data;
	struct engine *engine = &scraper->engines[target->id];
	struct engine_reading reading;

	if (result->status == 404)
		return not_here(scraper, engine);
	if (result->status != 200)
		return failed(scraper, result);
	engine_names_read((struct span){ result->body, result->body_bytes }, &reading);
	if (!reading.engine)
		return not_here(scraper, engine);
	if (!engine->name)
		observe_say(&scraper->observe, OBSERVE_INFO, "%s: metrics of %s at %s",
		            target->label, reading.engine, paths[engine->path]);
	engine->name = reading.engine;
	scraper->counts.good++;
	if (reading.values[ENGINE_RUNNING] < 0 || reading.values[ENGINE_WAITING] < 0)
		scraper->counts.incomplete++;
	put_page(scraper, target, &reading, now);
	set_budget(scraper, target, reading.values[ENGINE_KV_TOKENS]);
	return ROUNDS_GOOD;
}

struct scraper *scraper_new(const struct observe *observe, struct fetch *fetch,
                            const struct scraper_options *options)
{
	struct rounds_options rounds = {
		.interval = options->interval ? options->interval : default_interval,
		.jitter = jitter,
		.deadline = options->deadline ? options->deadline : default_deadline,
		.backoff_max = options->backoff_max ? options->backoff_max : default_backoff,
		.answer_max = PAGE_MAX,
		.seed = options->seed,
	};
	struct rounds_visitor visitor = { .path = path_of,
		                          .on_answer = on_answer,
		                          .on_new = on_new };
	struct scraper *scraper = calloc(1, sizeof(*scraper));

	if (!scraper)
		return NULL;
	visitor.data = scraper;
	scraper->observe = *observe;
	scraper->engines =
	        calloc(fleet_targets_max(observe->facts->fleet), sizeof(*scraper->engines));
	scraper->rounds = rounds_new(observe, fetch, &rounds, &visitor);
	if (scraper->engines && scraper->rounds)
		return scraper;
	scraper_free(scraper);
	return NULL;
}

void scraper_free(struct scraper *scraper)
{
	if (!scraper)
		return;
	rounds_free(scraper->rounds);
	free(scraper->engines);
	free(scraper);
}

void scraper_start(struct scraper *scraper)
{
	rounds_start(scraper->rounds);
}

void scraper_stop(struct scraper *scraper)
{
	rounds_stop(scraper->rounds);
}

struct scraper_counts scraper_counts(const struct scraper *scraper)
{
	return scraper->counts;
}

const char *scraper_engine(const struct scraper *scraper, uint32_t target)
{
	return scraper->engines[target].name;
}
