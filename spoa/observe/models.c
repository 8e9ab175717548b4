/* models.c - asks each engine which models it serves.
 *
 * A list that is empty says as little as none: an engine that loads its models
 * later, or that serves whatever is asked for, has one. */
#include "spoa/observe/models.h"

#include <jansson.h>
#include <stdlib.h>

enum { ANSWER_MAX = 1024 * 1024 };

static const usec_t default_interval = 30 * SECOND, default_deadline = 2 * SECOND;
static const usec_t default_backoff = 60 * SECOND;
static const double jitter = 0.2;

struct models {
	struct observe observe;
	struct rounds *rounds;
	struct scraper *scraper;
	struct models_counts counts;
};

/* Of an object's member; empty where it is no text, or one that is no name. */
static struct span name_in(const json_t *object, const char *member)
{
	const json_t *text = json_object_get(object, member);
	size_t length = json_string_length(text);

	return (struct span){ json_string_value(text), length < NAME_MAX_BYTES ? length : 0 };
}

bool models_read(struct span body, size_t room, struct span *ret_names, struct span *ret_bases,
                 size_t *ret_count, struct json_t **ret_tree)
{
	json_t *tree = json_loadb(body.at, body.len, 0, NULL);
	json_t *data = tree ? json_object_get(tree, "data") : NULL, *model;
	size_t i, count = 0;

	if (!json_is_array(data)) {
		json_decref(tree);
		return false;
	}
	json_array_foreach(data, i, model)
	{
		struct span name = name_in(model, "id");

		if (name.len == 0 || count == room)
			continue;
		if (ret_bases)
			ret_bases[count] = name_in(model, "parent");
		ret_names[count++] = name;
	}
	*ret_count = count;
	*ret_tree = tree;
	return true;
}

static const char *path_of(void *data, uint32_t target)
{
	const struct models *models = data;
	const struct engine_profile *profile = scraper_engine(models->scraper, target);

	return profile ? profile->models : "/v1/models";
}

/* Some kinds have no list. */
static bool wanted(void *data, uint32_t target, usec_t now)
{
	(void)now;
	return path_of(data, target)[0] != '\0';
}

static void note_owner(struct models *models, uint32_t target, json_t *tree)
{
	json_t *first = json_array_get(json_object_get(tree, "data"), 0);
	json_t *owner = json_object_get(first, "owned_by");

	scraper_owned(models->scraper, target,
	              (struct span){ json_string_value(owner), json_string_length(owner) });
}

static void on_new(void *data, uint32_t target)
{
	(void)data;
	(void)target;
}

static enum rounds_verdict on_answer(void *data, const struct target *target,
                                     const struct fetch_result *result, usec_t now)
{
	struct models *models = data;
	struct span names[INSTANCE_MODELS_MAX], bases[INSTANCE_MODELS_MAX];
	size_t count;
	json_t *tree;

	(void)now;
	if (result->status == 404) {
		models->counts.no_page++;
		return ROUNDS_NOT_HERE;
	}
	if (result->status != 200) {
		models->counts.failed++;
		return ROUNDS_FAILED;
	}
	if (!models_read((struct span){ result->body, result->body_bytes }, INSTANCE_MODELS_MAX,
	                 names, bases, &count, &tree)) {
		models->counts.malformed++;
		return ROUNDS_FAILED;
	}
	models->counts.good++;
	note_owner(models, target->id, tree);
	if (count > 0 &&
	    fleet_models(models->observe.facts->fleet, target->id, names, bases, count)) {
		models->counts.changed++;
		observe_say(&models->observe, OBSERVE_INFO,
		            "%s: serves %zu models, the first is %.*s", target->label, count,
		            (int)names[0].len, names[0].at);
	}
	json_decref(tree);
	return count > 0 ? ROUNDS_GOOD : ROUNDS_FAILED;
}

struct models *models_new(const struct observe *observe, struct fetch *fetch,
                          struct scraper *scraper, const struct models_options *options)
{
	struct rounds_options rounds = {
		.interval = options->interval ? options->interval : default_interval,
		.jitter = jitter,
		.deadline = options->deadline ? options->deadline : default_deadline,
		.backoff_max = options->backoff_max ? options->backoff_max : default_backoff,
		.answer_max = ANSWER_MAX,
		.seed = options->seed,
	};
	struct rounds_visitor visitor = {
		.path = path_of, .on_answer = on_answer, .wanted = wanted, .on_new = on_new
	};
	struct models *models = calloc(1, sizeof(*models));

	if (!models)
		return NULL;
	visitor.data = models;
	models->observe = *observe;
	models->scraper = scraper;
	models->rounds = rounds_new(observe, fetch, &rounds, &visitor);
	if (models->rounds)
		return models;
	models_free(models);
	return NULL;
}

void models_free(struct models *models)
{
	if (!models)
		return;
	rounds_free(models->rounds);
	free(models);
}

void models_start(struct models *models)
{
	rounds_start(models->rounds);
}

void models_stop(struct models *models)
{
	rounds_stop(models->rounds);
}

void models_hurry(struct models *models, uint32_t target)
{
	rounds_hurry(models->rounds, target);
}

struct models_counts models_counts(const struct models *models)
{
	return models->counts;
}
