/* retried.c - not where this was tried before, nor where the client must not go.
 *
 * A client that says it tries again had no good answer from whoever served it: by
 * our books of failed and broken-off streams, or else by its session's pin. And a
 * trusted client may name replicas that it does not want. Both are wishes: where
 * nobody else stands they are not granted.
 *
 * An instance falls if all of its replicas that can serve would. */
#include <string.h>

#include "policies/stages/collect.h"
#include "policies/stages/health.h"
#include "policies/stages/stages.h"

static bool is(struct span text, const char *name)
{
	return text.len > 0 && text.len == strlen(name) && memcmp(text.at, name, text.len) == 0;
}

/* Cuts the first of a list with commas off; spaces around it do not count. */
static struct span take_first(struct span *list)
{
	struct span first = { list->at, 0 };

	while (first.len < list->len && list->at[first.len] != ',')
		first.len++;
	list->at += first.len;
	list->len -= first.len;
	if (list->len > 0) {
		list->at++;
		list->len--;
	}
	while (first.len > 0 && (*first.at == ' ' || *first.at == '\t')) {
		first.at++;
		first.len--;
	}
	while (first.len > 0 && (first.at[first.len - 1] == ' ' || first.at[first.len - 1] == '\t'))
		first.len--;
	return first;
}

/* By one of its names: a replica has that of HAProxy, and its address. */
static bool is_excluded(const struct walk *walk, struct span name, const char *other)
{
	struct span list = walk->request->exclude;

	while (list.len > 0) {
		struct span first = take_first(&list);

		if ((first.len == name.len && memcmp(first.at, name.at, name.len) == 0) ||
		    is(first, other))
			return true;
	}
	return false;
}

static bool is_unwanted(const struct walk *walk, const struct replica *replica)
{
	uint32_t source = walk->request->source;

	return replica->target->id == walk->previous ||
	       is_excluded(walk, target_address(replica->target),
	                   source < SOURCES_MAX ? replica->name[source] : "");
}

static bool keep(const struct walk *walk, const struct candidate *candidate)
{
	const struct instance *instance = candidate->instance;
	bool any = false;

	if (candidate->replica)
		return !is_unwanted(walk, candidate->replica);
	if (candidate->target->id == walk->previous ||
	    is_excluded(walk, (struct span){ instance->name, strlen(instance->name) }, ""))
		return false;
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica) || !health_fit(walk, replica))
			continue;
		if (!is_unwanted(walk, replica))
			return true;
		any = true;
	}
	return !any;
}

static bool needed(const struct walk *walk)
{
	return walk->previous != TARGET_NONE || walk->request->exclude.len > 0;
}

const struct stage stage_retried = {
	.name = "retried",
	.help = "Drops who served the client's previous try, and whom a trusted client excludes.",
	.keep = keep,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
};
