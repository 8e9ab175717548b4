/* affinity.c - keep the instances that the operator's rules leave to a request.
 *
 * A rule looks at one feature of the request. `only` and `never` are plain sets;
 * several rules hold together, so that several `only` intersect. A split takes
 * one of its parts by the hash of the feature: the same tenant, session or header
 * value always gets the same part while that part stands, and the next by the
 * same hash while it does not. A request without the feature draws by lot. */
#include "policies/stages/affinity.h"

#include <math.h>
#include <string.h>

#include "policies/stages/stages.h"
#include "policies/state/facts.h"
#include "policies/state/lookup.h"

static bool is(const char *name, struct span text)
{
	return strlen(name) == text.len && memcmp(name, text.at, text.len) == 0;
}

static bool is_header(const char *name, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char a = (unsigned char)name[i], b = (unsigned char)text.at[i];

		a = a >= 'A' && a <= 'Z' ? a | 0x20 : a;
		b = b >= 'A' && b <= 'Z' ? b | 0x20 : b;
		if (a != b)
			return false;
	}
	return name[text.len] == '\0';
}

/* at NULL: the request does not have it. */
static struct span value_of(const struct affinity *affinity, const struct request *request)
{
	static const char anonymous[] = "anonymous";

	switch (affinity->on) {
	case AFFINITY_TENANT:
		return request->tenant.at ? request->tenant
		                          : (struct span){ anonymous, sizeof(anonymous) - 1 };
	case AFFINITY_SESSION:
		return request->session;
	case AFFINITY_HEADER:
		break;
	}
	for (uint32_t i = 0; i < request->header_count; i++) {
		if (is_header(affinity->header, request->headers[i].name))
			return request->headers[i].value;
	}
	return (struct span){ NULL, 0 };
}

static bool is_listed(const char (*names)[NAME_MAX_BYTES], uint32_t count, struct span text)
{
	for (uint32_t i = 0; i < count; i++) {
		if (is(names[i], text))
			return true;
	}
	return false;
}

static bool begins_with_one(const struct affinity *affinity, struct span value)
{
	for (uint32_t i = 0; i < affinity->value_count; i++) {
		size_t len = strlen(affinity->values[i]);

		if (value.len >= len && memcmp(affinity->values[i], value.at, len) == 0)
			return true;
	}
	return false;
}

static bool applies(const struct affinity *affinity, const struct request *request)
{
	const char(*values)[NAME_MAX_BYTES] = (const char(*)[NAME_MAX_BYTES])affinity->values;
	struct span value = value_of(affinity, request);

	switch (affinity->match) {
	case AFFINITY_ANY:
		return value.at || affinity->split_count > 0;
	case AFFINITY_ONE_OF:
		return value.at && is_listed(values, affinity->value_count, value);
	case AFFINITY_PREFIX:
		return value.at && begins_with_one(affinity, value);
	case AFFINITY_NONE_OF:
		return !value.at || !is_listed(values, affinity->value_count, value);
	}
	return false;
}

static double share_of(const struct affinity *affinity, struct span name)
{
	for (uint32_t i = 0; i < affinity->split_count; i++) {
		if (is(affinity->split[i], name))
			return affinity->shares[i];
	}
	return 0;
}

static bool allows(const struct affinity *affinity, const struct instance *instance)
{
	struct span name = { instance->name, strlen(instance->name) };

	if (affinity->only_count > 0 &&
	    !is_listed((const char(*)[NAME_MAX_BYTES])affinity->only, affinity->only_count, name))
		return false;
	if (is_listed((const char(*)[NAME_MAX_BYTES])affinity->never, affinity->never_count, name))
		return false;
	return affinity->split_count == 0 || share_of(affinity, name) > 0;
}

/* Rule i: the policy's, then those of the matched rule; NULL after the last. */
static const struct affinity *affinity_at(const struct walk *walk, uint32_t i)
{
	const struct policy *policy = walk->facts->policy;

	if (i < policy->affinity_count)
		return &policy->affinities[i];
	i -= policy->affinity_count;
	return i < walk->rule->affinity_count ? &walk->rule->affinities[i] : NULL;
}

bool affinity_allows(const struct walk *walk, const struct instance *instance, bool strict)
{
	const struct affinity *affinity;

	for (uint32_t i = 0; (affinity = affinity_at(walk, i)); i++) {
		if ((affinity->strict || !strict) && applies(affinity, walk->request) &&
		    !allows(affinity, instance))
			return false;
	}
	return true;
}

bool affinity_is_strict(const struct walk *walk)
{
	const struct affinity *affinity;

	for (uint32_t i = 0; (affinity = affinity_at(walk, i)); i++) {
		if (affinity->strict && applies(affinity, walk->request))
			return true;
	}
	return false;
}

double affinity_draw(struct span key, const char *part, double share)
{
	uint64_t hash = lookup_hash(key, lookup_hash((struct span){ part, strlen(part) }, 0));
	double unit = ((double)(hash >> 11) + 0.5) * 0x1p-53;

	return share > 0 ? share / -log(unit) : 0;
}

/* Leaves of the standing the one part that the request has. */
static void keep_part(struct walk *walk, const struct affinity *affinity)
{
	struct span key = value_of(affinity, walk->request);
	double best = -1;
	size_t part = 0;
	uint64_t lot;

	if (!key.at) {
		lot = rng_next(walk->rng);
		key = (struct span){ (const char *)&lot, sizeof(lot) };
	}
	for (size_t i = 0; i < walk->standing; i++) {
		const char *name = walk->pool[i].instance->name;
		double share = share_of(affinity, (struct span){ name, strlen(name) });
		double draw = affinity_draw(key, name, share);

		if (draw > best) {
			best = draw;
			part = i;
		}
	}
	for (size_t i = walk->standing; i-- > 0;) {
		if (i != part)
			walk_drop(walk, i, &stage_affinity);
	}
}

static void drop_forbidden(struct walk *walk, const struct affinity *affinity)
{
	for (size_t i = walk->standing; i-- > 0;) {
		if (!allows(affinity, walk->pool[i].instance))
			walk_drop(walk, i, &stage_affinity);
	}
}

/* Rule by rule: most are not about this request at all. */
static void run(struct walk *walk)
{
	const struct affinity *affinity;

	for (uint32_t i = 0; (affinity = affinity_at(walk, i)); i++) {
		if (applies(affinity, walk->request))
			drop_forbidden(walk, affinity);
	}
	for (uint32_t i = 0; (affinity = affinity_at(walk, i)); i++) {
		if (affinity->split_count > 0 && applies(affinity, walk->request))
			keep_part(walk, affinity);
	}
}

static bool needed(const struct walk *walk)
{
	return walk->level == 1 &&
	       walk->facts->policy->affinity_count + walk->rule->affinity_count > 0;
}

const struct stage stage_affinity = {
	.name = "affinity",
	.help = "Drops instances that the rules of affinity keep from the request.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_FALLBACK, EMPTY_FALLBACK },
};
