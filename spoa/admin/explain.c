/* explain.c - a decision with its chain of hashes and who holds it.
 *
 * A dry run is a record that never gets into the log. Either way what the prefix
 * index says is said of now: of a past request it may have changed since. */
#include "spoa/admin/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policies/pipeline.h"
#include "policies/prompt.h"
#include "spoa/admin/body.h"
#include "spoa/admin/decision_record.h"
#include "spoa/admin/text_json.h"
#include "spoa/web/listen.h"

enum { HOLDERS_MAX = 1024 };

static struct decision_words words_of(const struct sources *sources)
{
	return (struct decision_words){ .now = sources->now,
		                        .wall_ms = sources->wall_ms,
		                        .stages = sources->stages,
		                        .ladder = &sources->facts->policy->ladder };
}

static json_t *chain_json(const struct prompt *prompt)
{
	json_t *list = json_array();
	char text[20];

	for (uint32_t i = 0; i < prompt->blocks; i++) {
		(void)snprintf(text, sizeof(text), "%016" PRIx64, prompt->chain[i]);
		(void)json_array_append_new(list, json_string(text));
	}
	return list;
}

/* The first block that nobody holds: there this prompt goes its own way. */
static json_t *differs_json(const struct ladder *ladder, uint32_t block)
{
	uint32_t from = ladder->offset[block];

	return json_pack("{s:i s:i s:i}", "block", (int)block, "from", (int)from, "to",
	                 (int)(from + ladder->length[block] - 1));
}

static json_t *holders_json(const struct sources *sources, const struct prompt *prompt,
                            uint32_t *ret_deepest)
{
	const struct facts *facts = sources->facts;
	static const struct prefix_match none;
	struct prefix_match *matches = calloc(HOLDERS_MAX, sizeof(*matches));
	json_t *list = json_array();
	size_t count = 0;

	*ret_deepest = 0;
	if (matches && prompt->blocks > 0)
		count = prefix_index_match(facts->prefix, prompt->chain, prompt->blocks,
		                           sources->now, matches, HOLDERS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct prefix_match *match = matches ? &matches[i] : &none;
		const struct target *target = fleet_target(facts->fleet, match->holder);

		*ret_deepest = match->blocks > *ret_deepest ? match->blocks : *ret_deepest;
		(void)json_array_append_new(
		        list, json_pack("{s:o s:i s:i s:b}", "target", name_json(target->label),
		                        "blocks", (int)match->blocks, "bytes",
		                        (int)ladder_reach(&facts->policy->ladder, match->blocks),
		                        "continued", match->continued));
	}
	free(matches);
	return list;
}

static json_t *prefix_json(const struct sources *sources, const struct request *request)
{
	const struct facts *facts = sources->facts;
	struct model_names model = fleet_model_names(
	        facts->fleet, fleet_model_id(facts->fleet, request->model), request->model);
	struct prompt prompt;
	uint32_t deepest;
	json_t *object = json_object();

	prompt_of(request, facts->policy, facts->prefix, &model, &prompt);
	(void)json_object_set_new(object, "usable", json_integer(prompt.blocks));
	(void)json_object_set_new(object, "chain", chain_json(&prompt));
	(void)json_object_set_new(object, "holders", holders_json(sources, &prompt, &deepest));
	(void)json_object_set_new(object, "differs",
	                          deepest < prompt.blocks
	                                  ? differs_json(&facts->policy->ladder, deepest)
	                                  : json_null());
	return object;
}

json_t *explain_past(const struct sources *sources, struct span id)
{
	struct decision_words words = words_of(sources);
	struct request request;
	json_t *object;

	if (!sources->decisions || !decision_log_request(sources->decisions, id, &request))
		return NULL;
	object = decision_log_find(sources->decisions, id, &words);
	if (object)
		(void)json_object_set_new(object, "prefix", prefix_json(sources, &request));
	return object;
}

static struct span argument(const struct web_request *request, const char *name)
{
	const char *text = web_argument_named(request, name);

	return text && *text ? (struct span){ text, strlen(text) } : (struct span){ NULL, 0 };
}

static void read_headers(const struct web_request *asked, struct request *request)
{
	for (size_t i = 0; i < asked->argument_count; i++) {
		const struct web_argument *given = &asked->arguments[i];
		const char *colon = strchr(given->value, ':');

		if (strcmp(given->name, "header") != 0 || !colon ||
		    request->header_count == REQUEST_HEADERS_MAX)
			continue;
		request->headers[request->header_count++] =
		        (struct header){ { given->value, (size_t)(colon - given->value) },
			                 { colon + 1, strlen(colon + 1) } };
	}
}

/* The model that the body names; the caller keeps the JSON as long as the request. */
static json_t *read_model(const struct web_request *asked, struct request *request)
{
	json_t *body = json_loadb(asked->body, asked->body_len, 0, NULL);
	json_t *model = json_object_get(body, "model");

	if (!request->model.at && json_is_string(model))
		request->model =
		        (struct span){ json_string_value(model), json_string_length(model) };
	return body;
}

static void read_prompt(const struct sources *sources, struct span prompt, struct span body,
                        struct request *request)
{
	request->has_prompt = true;
	request->prompt_bytes = prompt.len;
	request->body_bytes = request->body_total = body.len;
	request->hash_count = body_hashes(prompt, &sources->facts->policy->ladder, request->hashes);
}

static json_t *run(const struct sources *sources, const struct request *request)
{
	struct decision_words words = words_of(sources);
	struct decision_record *record = calloc(1, sizeof(*record));
	struct decision decision;
	json_t *object;

	if (!record)
		return NULL;
	decider_explain(sources->decider, request, sources->now, &decision);
	decision_record_fill(record, request, &decision, sources->now);
	object = decision_record_json(record, true, &words);
	free(record);
	(void)json_object_set_new(object, "dry", json_true());
	(void)json_object_set_new(object, "prefix", prefix_json(sources, request));
	return object;
}

json_t *explain_dry(const struct sources *sources, const struct web_request *asked)
{
	struct request request = { .method = argument(asked, "method"),
		                   .host = argument(asked, "host"),
		                   .path = argument(asked, "path"),
		                   .model = argument(asked, "model"),
		                   .tenant = argument(asked, "tenant"),
		                   .session = argument(asked, "session"),
		                   .strategy = argument(asked, "strategy"),
		                   .backend = argument(asked, "backend") };
	struct span body = { asked->body, asked->body ? asked->body_len : 0 };
	json_t *whole = NULL;
	json_t *object;

	if (!sources->decider)
		return NULL;
	read_headers(asked, &request);
	if (body.len > 0 && web_argument_named(asked, "whole")) {
		whole = read_model(asked, &request);
		read_prompt(sources, body_prompt(body), body, &request);
	} else if (body.len > 0) {
		read_prompt(sources, body, body, &request);
	}
	object = run(sources, &request);
	json_decref(whole);
	return object;
}
