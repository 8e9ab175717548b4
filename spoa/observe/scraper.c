/* scraper.c - what an engine's page says goes into the facts, with its age.
 *
 * The page of an engine that answers in time is believed whole; one that does not
 * is left to grow old, and is unknown after the policy's stale-after. */
#include "spoa/observe/scraper.h"

#include <stdlib.h>
#include <string.h>

#include "policies/page.h"
#include "spoa/engines/reader.h"

enum { PAGE_MAX = 4 * 1024 * 1024 };

static const usec_t default_interval = SECOND, default_deadline = 800 * MSEC;
static const usec_t default_backoff = 30 * SECOND;
static const double jitter = 0.2;

struct engine {
	const struct engine_profile *profile; /* by its page; NULL: not known */
	const struct engine_profile *owner;   /* by its models */
	uint32_t path;                        /* index into the pages of all profiles */
	double kv_tokens;                     /* that its budget was set by; 0 = none */
	struct engine_reader *reader;         /* of the page that comes in; NULL: none does */
	bool spoilt;                          /* it began under other profiles */
};

struct scraper {
	struct observe observe;
	const struct engine_profiles *profiles;
	struct texts pages;
	struct rounds *rounds;
	struct scraper_counts counts;
	struct engine *engines; /* by target id */
};

static const char *path_of(void *data, uint32_t target)
{
	struct scraper *scraper = data;

	return scraper->pages.at[scraper->engines[target].path];
}

static void drop_reader(struct engine *engine)
{
	engine_reader_free(engine->reader);
	engine->reader = NULL;
}

static void on_new(void *data, uint32_t target)
{
	struct scraper *scraper = data;

	drop_reader(&scraper->engines[target]);
	scraper->engines[target] = (struct engine){ 0 };
}

static struct engine_reader *reader_for(const struct scraper *scraper, uint32_t id)
{
	const struct target *target = fleet_target(scraper->observe.facts->fleet, id);
	struct engine_reader *reader = engine_reader_new(scraper->profiles);

	if (reader && target && target->ranks > 0)
		engine_reader_of_rank(reader, target->rank);
	return reader;
}

/* Without memory for it the page says nothing this time. */
static void on_piece(void *data, uint32_t target, struct span piece)
{
	struct scraper *scraper = data;
	struct engine *engine = &scraper->engines[target];

	if (engine->spoilt)
		return;
	if (!engine->reader)
		engine->reader = reader_for(scraper, target);
	if (engine->reader)
		engine_reader_feed(engine->reader, piece);
}

/* Without a profile that names a page nobody is asked. */
static bool wanted(void *data, uint32_t target, usec_t now)
{
	const struct scraper *scraper = data;

	(void)target;
	(void)now;
	return scraper->pages.count > 0;
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
	struct engine_loras loras = reading->loras;

#define AS_FIELD(id, field) page.field = reading->values[ENGINE_##id];
	ENGINE_FIELDS(AS_FIELD)
#undef AS_FIELD
	if (page_read(scraper->observe.facts, target->id, &page)) {
		scraper->counts.restarts++;
		observe_say(&scraper->observe, OBSERVE_NOTICE,
		            "%s: the engine has restarted, its cache is empty", target->label);
	}
	loras.at = loras.at != 0 ? now : 0;
	engines_put_loras(scraper->observe.facts->engines, target->id, &loras);
}

static enum rounds_verdict not_here(struct scraper *scraper, struct engine *engine)
{
	scraper->counts.no_page++;
	engine->profile = NULL;
	engine->path = (uint32_t)((engine->path + 1) % scraper->pages.count);
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

static void note_engine(struct scraper *scraper, const struct target *target,
                        const struct engine_profile *profile)
{
	struct engine *engine = &scraper->engines[target->id];

	if (!engine->profile)
		observe_say(&scraper->observe, OBSERVE_INFO, "%s: metrics of %s at %s",
		            target->label, profile->name, path_of(scraper, target->id));
	engine->profile = profile;
	engines_put_kind(scraper->observe.facts->engines, target->id, profile->name);
}

static enum rounds_verdict on_answer(void *data, const struct target *target,
                                     const struct fetch_result *result, usec_t now)
{
	struct scraper *scraper = data;
	struct engine *engine = &scraper->engines[target->id];
	struct engine_reading reading = { .profile = NULL };

	if (engine->reader)
		engine_reader_end(engine->reader, &reading);
	drop_reader(engine);
	if (engine->spoilt) {
		engine->spoilt = false;
		return ROUNDS_GOOD;
	}
	if (result->status == 404)
		return not_here(scraper, engine);
	if (result->status != 200)
		return failed(scraper, result);
	if (!reading.profile)
		return not_here(scraper, engine);
	note_engine(scraper, target, reading.profile);
	scraper->counts.good++;
	if (reading.values[ENGINE_RUNNING] < 0 || reading.values[ENGINE_WAITING] < 0)
		scraper->counts.incomplete++;
	put_page(scraper, target, &reading, now);
	set_budget(scraper, target, reading.values[ENGINE_KV_TOKENS]);
	return ROUNDS_GOOD;
}

struct scraper *scraper_new(const struct observe *observe, struct fetch *fetch,
                            const struct engine_profiles *profiles,
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
		                          .on_piece = on_piece,
		                          .wanted = wanted,
		                          .on_new = on_new };
	struct scraper *scraper = calloc(1, sizeof(*scraper));

	if (!scraper)
		return NULL;
	visitor.data = scraper;
	scraper->observe = *observe;
	scraper->profiles = profiles;
	scraper->pages = engine_profiles_pages(profiles);
	scraper->engines =
	        calloc(fleet_targets_max(observe->facts->fleet), sizeof(*scraper->engines));
	scraper->rounds = rounds_new(observe, fetch, &rounds, &visitor);
	if (scraper->engines && scraper->rounds)
		return scraper;
	scraper_free(scraper);
	return NULL;
}

static const struct engine_profile *again(const struct engine_profiles *profiles,
                                          const struct engine_profile *before)
{
	return before ? engine_profiles_named(profiles, before->name) : NULL;
}

/* Where it has its page, as an index into others. */
static uint32_t path_again(struct texts pages, const char *path)
{
	for (uint32_t i = 0; i < pages.count; i++)
		if (strcmp(pages.at[i], path) == 0)
			return i;
	return 0;
}

void scraper_set_profiles(struct scraper *scraper, const struct engine_profiles *profiles)
{
	const struct facts *facts = scraper->observe.facts;
	struct texts pages = engine_profiles_pages(profiles);

	for (uint32_t id = 0; id < fleet_targets_max(facts->fleet); id++) {
		struct engine *engine = &scraper->engines[id];
		const struct engine_profile *kind;

		engine->spoilt = engine->spoilt || engine->reader;
		drop_reader(engine);
		if (scraper->pages.count > 0)
			engine->path = path_again(pages, scraper->pages.at[engine->path]);
		engine->profile = again(profiles, engine->profile);
		engine->owner = again(profiles, engine->owner);
		kind = engine->profile ? engine->profile : engine->owner;
		engines_put_kind(facts->engines, id, kind ? kind->name : NULL);
	}
	scraper->profiles = profiles;
	scraper->pages = pages;
	for (uint32_t id = 0; id < fleet_targets_max(facts->fleet); id++)
		if (fleet_target(facts->fleet, id))
			rounds_hurry(scraper->rounds, id);
}

void scraper_free(struct scraper *scraper)
{
	if (!scraper)
		return;
	rounds_free(scraper->rounds);
	for (uint32_t i = 0;
	     scraper->engines && i < fleet_targets_max(scraper->observe.facts->fleet); i++)
		drop_reader(&scraper->engines[i]);
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

const struct engine_profile *scraper_engine(const struct scraper *scraper, uint32_t target)
{
	const struct engine *engine = &scraper->engines[target];

	return engine->profile ? engine->profile : engine->owner;
}

void scraper_owned(struct scraper *scraper, uint32_t target, struct span owner)
{
	struct engine *engine = &scraper->engines[target];

	engine->owner = engine_profiles_owner(scraper->profiles, owner);
	if (engine->owner && !engine->profile)
		engines_put_kind(scraper->observe.facts->engines, target, engine->owner->name);
}
