/* fleet_apply.c - what a snapshot of one HAProxy changes.
 *
 * Three passes, so that who leaves makes room for who comes: what is known
 * already is marked as seen, what this HAProxy does not list any more is taken
 * from it, then what is new is added. Targets that nobody has are freed last: an
 * address that only changed its backend keeps its id, and so its history. */
#include "policies/core/bug.h"
#include "policies/core/pattern.h"
#include "policies/state/fleet.h"
#include "policies/state/fleet_parts.h"

struct apply {
	struct fleet *fleet;
	uint32_t source;
	usec_t now;
	void (*on_gone)(void *data, uint32_t target);
	void *data;
	struct fleet_change change;
	uint32_t from; /* no place before it is free */
};

/* One of a server's ranks, or the server itself where it has none. */
struct part {
	uint32_t home;
	uint16_t rank;
	struct span label;
};

/* "ip:port" of a server that can be reached; not the ingress' free slots, nor
 * what HAProxy has not resolved yet. */
static bool is_address(struct span address)
{
	struct span host = address;
	uint32_t port = 0;

	while (host.len > 0 && host.at[host.len - 1] != ':')
		host.len--;
	for (size_t i = host.len; i < address.len; i++) {
		if (address.at[i] < '0' || address.at[i] > '9' || port > 65535)
			return false;
		port = port * 10 + (uint32_t)(address.at[i] - '0');
	}
	if (host.len < 2 || address.len >= ADDRESS_MAX_BYTES || port == 0 || port > 65535)
		return false;
	host.len--;
	if (is_name("-", host) || is_name("0.0.0.0", host) || is_name("[::]", host))
		return false;
	return !(port == 1 && (is_name("127.0.0.1", host) || is_name("[::1]", host)));
}

static bool is_server(const struct server_fact *fact)
{
	return is_address(fact->address) && fact->server.len > 0 &&
	       fact->server.len < NAME_MAX_BYTES;
}

static bool is_kept(const struct fleet *fleet, struct span backend)
{
	for (uint32_t i = 0; i < fleet->kept_count; i++)
		if (pattern_fit(fleet->kept[i], backend) > 0)
			return true;
	return fleet->kept_count == 0;
}

static bool is_skipped(const struct fleet *fleet, struct span backend)
{
	if (!is_kept(fleet, backend))
		return true;
	for (uint32_t i = 0; i < fleet->skipped_count; i++)
		if (is_name(fleet->skipped[i], backend))
			return true;
	return false;
}

static uint32_t find_home(const struct fleet *fleet, struct span backend)
{
	uint64_t hash = lookup_hash(backend, 0);
	uint32_t at = 0;
	uint32_t home;

	while (lookup_next(fleet->by_backend, hash, &at, &home))
		if (is_name(fleet->homes[home].name, backend))
			return home;
	return NO_PLACE;
}

static uint32_t find_member(const struct fleet *fleet, uint32_t home, uint32_t target)
{
	uint64_t hash = pair_hash(home, target);
	uint32_t at = 0;
	uint32_t place;

	while (lookup_next(fleet->by_member, hash, &at, &place))
		if (fleet->members[place].home == home && fleet->members[place].target == target)
			return place;
	return NO_PLACE;
}

static void free_target(struct fleet *fleet, uint32_t id)
{
	fleet->targets[id].kind = TARGET_FREE;
	fleet->served[id] = (struct served_models){ 0 };
	fleet->free_targets[fleet->free_count++] = id;
}

static void free_unused_targets(struct apply *apply)
{
	struct fleet *fleet = apply->fleet;

	lookup_clear(fleet->by_address);
	for (uint32_t i = 0; i < fleet->targets_max; i++) {
		if (fleet->targets[i].kind != TARGET_REPLICA)
			continue;
		if (fleet->references[i] > 0) {
			lookup_add(fleet->by_address,
			           lookup_hash(span_of(fleet->targets[i].label), 0), i);
			continue;
		}
		apply->on_gone(apply->data, i);
		free_target(fleet, i);
	}
}

static uint32_t take_target(struct apply *apply, enum target_kind kind, struct span label)
{
	struct fleet *fleet = apply->fleet;
	struct target *target;
	uint32_t id;

	if (fleet->free_count == 0)
		free_unused_targets(apply); /* their history is lost if they are still to come */
	if (fleet->free_count == 0)
		return TARGET_NONE;
	id = fleet->free_targets[--fleet->free_count];
	target = &fleet->targets[id];
	*target = (struct target){ .id = id, .kind = kind, .since = apply->now };
	memcpy(target->label, label.at, label.len);
	if (kind == TARGET_REPLICA)
		lookup_add(fleet->by_address, lookup_hash(label, 0), id);
	return id;
}

static uint32_t add_home(struct apply *apply, struct span backend)
{
	struct fleet *fleet = apply->fleet;
	uint32_t place = 0;
	uint32_t target;
	struct home *home;

	while (place < fleet->homes_end && fleet->homes[place].used)
		place++;
	if (place == fleet->limits.instances || backend.len >= NAME_MAX_BYTES || backend.len == 0)
		return NO_PLACE;
	target = take_target(apply, TARGET_INSTANCE, backend);
	if (target == TARGET_NONE)
		return NO_PLACE;
	home = &fleet->homes[place];
	*home = (struct home){ .used = true, .target = target };
	memcpy(home->name, backend.at, backend.len);
	home->policy = policy_instance(fleet->policy, home->name);
	fleet->homes_end += place == fleet->homes_end;
	lookup_add(fleet->by_backend, lookup_hash(backend, 0), place);
	apply->change.instances_added++;
	return place;
}

/* Of two servers with one address in one backend the first counts. */
static void note_server(struct apply *apply, struct member *member, const struct server_fact *fact)
{
	struct said *said = &member->said[apply->source];
	char *name = member->name[apply->source];

	if (said->seen == apply->fleet->snapshot)
		return;
	if (!is_name(name, fact->server)) {
		memset(name, 0, NAME_MAX_BYTES);
		memcpy(name, fact->server.at, fact->server.len);
		apply->change.any = true;
	}
	if (said->listed &&
	    (said->maintenance != fact->maintenance || said->draining != fact->draining ||
	     said->up != fact->up || said->max_running != fact->max_running ||
	     said->weight < fact->weight || said->weight > fact->weight))
		apply->change.states_changed++;
	if (!said->listed)
		apply->change.any = true;
	*said = (struct said){ .listed = true,
		               .maintenance = fact->maintenance,
		               .draining = fact->draining,
		               .up = fact->up,
		               .weight = fact->weight,
		               .max_running = fact->max_running,
		               .seen = apply->fleet->snapshot };
}

static void note_home(struct apply *apply, struct home *home)
{
	apply->change.any |= !home->listed[apply->source];
	home->listed[apply->source] = true;
	home->seen[apply->source] = apply->fleet->snapshot;
}

/* The slot had another address before this snapshot: by the view, which is still the old one. */
static bool has_moved(const struct apply *apply, const struct server_fact *fact)
{
	const struct instance *instance = fleet_instance_named(apply->fleet, fact->backend);
	const struct replica *replica = NULL;

	if (instance)
		replica = fleet_replica_named(apply->fleet, instance, apply->source, fact->server);
	return replica && !is_span(target_address(replica->target), fact->address);
}

static uint32_t find_part(const struct fleet *fleet, const struct part *part)
{
	const struct target *target = fleet_labelled(fleet, part->label);

	return target ? find_member(fleet, part->home, target->id) : NO_PLACE;
}

static uint32_t add_member(struct apply *apply, const struct part *part)
{
	struct fleet *fleet = apply->fleet;
	const struct target *target = fleet_labelled(fleet, part->label);
	uint32_t place = apply->from;
	uint32_t id;

	while (place < fleet->members_end && fleet->members[place].used)
		place++;
	apply->from = place;
	if (place == fleet->limits.replicas)
		return NO_PLACE;
	id = target ? target->id : take_target(apply, TARGET_REPLICA, part->label);
	if (id == TARGET_NONE)
		return NO_PLACE;
	fleet->targets[id].rank = part->rank;
	fleet->members[place] = (struct member){ .used = true, .home = part->home, .target = id };
	fleet->references[id]++;
	fleet->members_end += place == fleet->members_end;
	lookup_add(fleet->by_member, pair_hash(part->home, id), place);
	apply->change.replicas_added++;
	return place;
}

static void note_part(struct apply *apply, const struct server_fact *fact, const struct part *part)
{
	uint32_t place = find_part(apply->fleet, part);

	if (place != NO_PLACE)
		note_server(apply, &apply->fleet->members[place], fact);
}

static void add_part(struct apply *apply, const struct server_fact *fact, const struct part *part)
{
	uint32_t place = find_part(apply->fleet, part);

	if (place == NO_PLACE)
		place = add_member(apply, part);
	if (place == NO_PLACE)
		apply->change.refused++;
	else
		note_server(apply, &apply->fleet->members[place], fact);
}

static void each_part(struct apply *apply, const struct server_fact *fact, uint32_t home,
                      void (*visit)(struct apply *apply, const struct server_fact *fact,
                                    const struct part *part))
{
	uint32_t ranks = fleet_ranks_of(apply->fleet->homes[home].policy, fact);
	struct part part = { .home = home, .label = fact->address };
	char label[LABEL_MAX_BYTES];

	if (ranks == 0)
		visit(apply, fact, &part);
	for (; part.rank < ranks; part.rank++) {
		part.label = fleet_rank_label(fact->address, part.rank, label);
		visit(apply, fact, &part);
	}
}

static void note_known(struct apply *apply, const struct server_fact *fact)
{
	struct fleet *fleet = apply->fleet;
	uint32_t home = find_home(fleet, fact->backend);

	if (home == NO_PLACE)
		return;
	note_home(apply, &fleet->homes[home]);
	if (!is_server(fact))
		return;
	apply->change.replicas_moved += has_moved(apply, fact);
	each_part(apply, fact, home, note_part);
}

static void add_new(struct apply *apply, const struct server_fact *fact)
{
	struct fleet *fleet = apply->fleet;
	uint32_t home = find_home(fleet, fact->backend);

	if (home == NO_PLACE)
		home = add_home(apply, fact->backend);
	if (home == NO_PLACE) {
		apply->change.refused++;
		return;
	}
	note_home(apply, &fleet->homes[home]);
	apply->change.refused += fact->server.len >= NAME_MAX_BYTES;
	if (is_server(fact))
		each_part(apply, fact, home, add_part);
}

/* Take from this HAProxy what it does not list any more. */
static void drop_unseen(struct apply *apply)
{
	struct fleet *fleet = apply->fleet;

	for (uint32_t i = 0; i < fleet->members_end; i++) {
		struct member *member = &fleet->members[i];
		struct said *said = &member->said[apply->source];
		bool listed = false;

		if (!member->used || !said->listed || said->seen == fleet->snapshot)
			continue;
		*said = (struct said){ 0 };
		memset(member->name[apply->source], 0, NAME_MAX_BYTES);
		for (uint32_t source = 0; source < SOURCES_MAX; source++)
			listed |= member->said[source].listed;
		member->used = listed;
		fleet->references[member->target] -= !listed;
		apply->change.replicas_gone += !listed;
		apply->change.any = true;
	}
}

static void drop_unseen_homes(struct apply *apply)
{
	struct fleet *fleet = apply->fleet;

	for (uint32_t i = 0; i < fleet->homes_end; i++) {
		struct home *home = &fleet->homes[i];
		bool listed = false;

		if (!home->used || !home->listed[apply->source] ||
		    home->seen[apply->source] == fleet->snapshot)
			continue;
		home->listed[apply->source] = false;
		for (uint32_t source = 0; source < SOURCES_MAX; source++)
			listed |= home->listed[source];
		apply->change.any = true;
		if (listed)
			continue;
		home->used = false;
		apply->change.instances_gone++;
		apply->on_gone(apply->data, home->target);
		free_target(fleet, home->target);
	}
}

static void list_known(struct fleet *fleet)
{
	lookup_clear(fleet->by_backend);
	for (uint32_t i = 0; i < fleet->homes_end; i++)
		if (fleet->homes[i].used)
			lookup_add(fleet->by_backend, lookup_hash(span_of(fleet->homes[i].name), 0),
			           i);
	lookup_clear(fleet->by_member);
	for (uint32_t i = 0; i < fleet->members_end; i++)
		if (fleet->members[i].used)
			lookup_add(fleet->by_member,
			           pair_hash(fleet->members[i].home, fleet->members[i].target), i);
}

/* A whole snapshot, and whom to tell: 7 parameters rather than a struct for one caller. */
/* NOLINTNEXTLINE(readability-function-size) */
struct fleet_change fleet_apply(struct fleet *fleet, uint32_t source,
                                const struct server_fact *facts, size_t count, usec_t now,
                                void (*on_gone)(void *data, uint32_t target), void *data)
{
	struct apply apply = {
		.fleet = fleet, .source = source, .now = now, .on_gone = on_gone, .data = data
	};
	struct fleet_change *change = &apply.change;

	BUG_ON(source >= SOURCES_MAX);
	fleet->snapshot++;
	for (size_t i = 0; i < count; i++)
		if (!is_skipped(fleet, facts[i].backend))
			note_known(&apply, &facts[i]);
	drop_unseen(&apply);
	drop_unseen_homes(&apply);
	if (change->any)
		list_known(fleet);
	for (size_t i = 0; i < count; i++)
		if (!is_skipped(fleet, facts[i].backend))
			add_new(&apply, &facts[i]);
	if (change->replicas_gone > 0)
		free_unused_targets(&apply);
	change->any |= change->states_changed > 0 || change->instances_added > 0 ||
	               change->replicas_added > 0;
	if (change->any)
		fleet_view(fleet);
	return *change;
}

void fleet_drop_source(struct fleet *fleet, uint32_t source, usec_t now,
                       void (*on_gone)(void *data, uint32_t target), void *data)
{
	(void)fleet_apply(fleet, source, NULL, 0, now, on_gone, data);
}
