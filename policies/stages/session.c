/* session.c - the target that has the context of the request's session.
 *
 * It is the one whose id the client sent back; or where its key is pinned; or, if
 * that does not stand, or there is no pin yet, who the key falls to by its hash
 * among those standing. So all agents send a key to one place without a store,
 * and the requests of a session that come at once go together.
 *
 * Of an instance it is the best of its replicas that counts: what is chosen here
 * is chosen again inside.
 *
 * In the hard mode only that target stands, as long as the others' load on it is
 * bearable: its own requests do not drive a session away, but what waits for
 * prefill does, whoever sent it. */
#include "policies/stages/session.h"

#include <string.h>

#include "policies/stages/admission.h"
#include "policies/stages/collect.h"
#include "policies/stages/health.h"
#include "policies/stages/spill.h"
#include "policies/stages/stages.h"
#include "policies/state/lookup.h"
#include "policies/state/session_id.h"

bool session_is_key(const struct request *request)
{
	struct session_id id;

	return request->session.len > 0 &&
	       !(request->session_may_be_id && session_id_read(request->session, &id));
}

struct pin_key session_key(const struct facts *facts, const struct request *request, uint32_t model)
{
	const char *name = fleet_model_name(facts->fleet, model);
	struct span text = name ? (struct span){ name, strlen(name) } : request->model;

	return pin_key_of(request->session, lookup_hash(text, lookup_hash(request->tenant, 0)));
}

/* How a candidate is asked whether it is the session's: by one of its replicas. */
struct seeker {
	const struct walk *walk;
	const struct session_id *id; /* NULL: by key */
	struct rendezvous rendezvous;
};

/* Asked of a replica, it is about itself. Of an instance, about each of its
 * replicas that can serve; false when there is none left. */
static const struct target *part_of(const struct walk *walk, const struct candidate *candidate,
                                    uint32_t *at)
{
	const struct instance *instance = candidate->instance;

	if (candidate->replica)
		return (*at)++ == 0 ? candidate->target : NULL;
	while (*at < instance->replica_count) {
		const struct replica *replica = &instance->replicas[(*at)++];

		if (collect_usable(walk, replica) && health_fit(walk, replica))
			return replica->target;
	}
	return NULL;
}

static bool has_pinned(const struct walk *walk, const struct candidate *candidate, uint32_t pinned)
{
	const struct target *part;
	uint32_t at = 0;

	if (candidate->target->id == pinned)
		return true;
	while ((part = part_of(walk, candidate, &at)))
		if (part->id == pinned)
			return true;
	return false;
}

static bool is_named(const struct seeker *seeker, const struct candidate *candidate)
{
	const struct session_policy *policy = &seeker->walk->facts->policy->session;
	const struct target *part;
	uint32_t at = 0;

	while ((part = part_of(seeker->walk, candidate, &at)))
		if (session_id_names(policy, seeker->id, part->label))
			return true;
	return false;
}

/* The heaviest of its parts: its address, or NULL. */
static const char *heaviest(struct seeker *seeker, const struct candidate *candidate,
                            uint64_t *ret_weight)
{
	const char *address = NULL;
	const struct target *part;
	uint32_t at = 0;

	while ((part = part_of(seeker->walk, candidate, &at))) {
		uint64_t weight = rendezvous_weight(&seeker->rendezvous, part->label);

		if (address && (weight < *ret_weight ||
		                (weight == *ret_weight && strcmp(part->label, address) >= 0)))
			continue;
		address = part->label;
		*ret_weight = weight;
	}
	return address;
}

/* Place of the one the key falls to; those standing if to nobody. */
static size_t by_hash(struct seeker *seeker)
{
	const struct walk *walk = seeker->walk;
	const char *best = NULL;
	uint64_t most = 0;
	size_t chosen = walk->standing;

	rendezvous_begin(&seeker->rendezvous, walk->request->session);
	for (size_t i = 0; i < walk->standing; i++) {
		uint64_t weight = 0;
		const char *address = heaviest(seeker, &walk->pool[i], &weight);

		if (!address ||
		    (best && (weight < most || (weight == most && strcmp(address, best) >= 0))))
			continue;
		best = address;
		most = weight;
		chosen = i;
	}
	return chosen;
}

static size_t by_id(const struct seeker *seeker, struct session_look *look)
{
	const struct walk *walk = seeker->walk;

	look->result = SESSION_NAMED;
	for (size_t i = 0; i < walk->standing; i++)
		if (is_named(seeker, &walk->pool[i]))
			return i;
	look->result = SESSION_UNNAMED;
	/* Which instance, its load may tell; of replicas any, and the pool is shuffled. */
	return walk->level == 1 ? walk->standing : 0;
}

/* own: the session's requests in flight there. */
static size_t by_key(struct seeker *seeker, struct session_look *look, double *ret_own)
{
	const struct walk *walk = seeker->walk;
	struct pin_key key = session_key(walk->facts, walk->request, walk->model);
	struct pin pin;

	look->result = SESSION_NEW;
	if (!pins_find(walk->facts->sessions, key, walk->now, &pin))
		return by_hash(seeker);
	look->pinned = pin.target;
	look->result = SESSION_PINNED;
	for (size_t i = 0; i < walk->standing; i++) {
		if (has_pinned(walk, &walk->pool[i], pin.target)) {
			*ret_own = pin.open;
			return i;
		}
	}
	look->result = SESSION_GONE;
	return by_hash(seeker);
}

static bool is_target(const struct candidate *candidate, const void *data)
{
	return candidate->target->id == *(const uint32_t *)data;
}

static bool can_keep(const struct walk *walk, const struct candidate *candidate, double own)
{
	struct spill_bar bar = spill_bar_of(walk, is_target, &walk->session.target);

	return !spill_over(walk, candidate, &bar, own) &&
	       admission_admits(walk, candidate, walk->entry->relax_on_hit);
}

static void keep(struct walk *walk)
{
	for (size_t i = walk->standing; i-- > 0;)
		if (walk->pool[i].target->id != walk->session.target)
			walk_drop(walk, i, &stage_session);
	walk->session.kept = walk->narrowed = true;
}

static void run(struct walk *walk)
{
	struct session_look *look = &walk->session;
	struct seeker seeker = { .walk = walk };
	struct session_id id;
	double own = 0;
	size_t found;

	if (walk->request->session_may_be_id && session_id_read(walk->request->session, &id)) {
		seeker.id = &id;
		found = by_id(&seeker, look);
	} else {
		found = by_key(&seeker, look, &own);
	}
	if (found == walk->standing)
		return;
	look->target = walk->pool[found].target->id;
	if (entry_session_mode(walk->entry) != SESSION_HARD)
		return;
	if (can_keep(walk, &walk->pool[found], own))
		keep(walk);
	else
		look->spilled = true;
}

static bool needed(const struct walk *walk)
{
	return walk->session.wanted && walk->request->session.len > 0 && walk->standing > 0;
}

const struct stage stage_session = {
	.name = "session",
	.help = "Finds the target of the request's session; in the hard mode, drops all others.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
};
