/* store.c - makes the parts, ties them, and ticks.
 *
 * Two links, since the one that follows is mostly blocked in XREAD, and what is told must
 * not wait for it. */
#include "redis/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "redis/store_log.h"

enum {
	KEPT_WAITING = 2 << 20, /* bytes of the outbox */
	REPLY_MAX = 4 << 20,    /* bytes of an XREAD */
	OUTPUT_MAX = 1 << 20,
	LOOK_TICKS = 50,
};

#define TICK           (20 * MSEC)
#define ALL_TICKS      (PEERS_SWEEP / TICK) /* what is neither loads nor limits */
#define FLEET_PATIENCE (5 * SECOND)

struct side {
	struct store *store;
	struct redis_link *link;
	enum redis_fault fault;
	bool failed; /* fault says why it is not up */
};

struct store {
	struct ev_loop *loop;
	struct facts *facts;
	struct store_options options;
	struct keys keys;
	struct store_clock clock;
	struct ops ops;
	struct said said;
	struct outbox *outbox;
	struct pulse *pulse;
	struct apply *apply;
	struct writer *writer;
	struct follower *follower;
	struct side tells, follows;
	ev_timer timer;
	uint32_t ticks;
	uint64_t peers_lost;
	usec_t started;
	bool following;
	bool stopping;
};

/* What is read before HAProxy said who there is would be of strangers, and is not read again. */
static void follow(struct store *store)
{
	bool known = fleet_instance_count(store->facts->fleet) > 0;

	if (store->following || !redis_link_is_up(store->follows.link))
		return;
	if (!known && store->options.now() - store->started < FLEET_PATIENCE)
		return;
	store->following = true;
	follower_up(store->follower, store->follows.link);
}

static void on_added(void *data, enum keys_stream stream, struct entry_id id)
{
	struct store *store = data;

	follower_added(store->follower, stream, id);
}

static void on_failed(void *data, enum op op, enum redis_result result, struct span text)
{
	struct store *store = data;

	if (result != REDIS_RESULT_LATE) /* the link goes down, and says so */
		said_failed(&store->said, op, result, text);
}

static void on_warm(void *data)
{
	struct store *store = data;
	struct store_view view = store_view(store);

	said_warm(&store->said, &view);
}

static void on_restart(void *data, enum keys_stream stream)
{
	struct store *store = data;

	said_restart(&store->said, stream);
	pulse_anew(store->pulse);
	if (stream == KEYS_KEPT)
		pins_anew(store->facts->sessions);
}

static void on_lost(void *data, enum keys_stream stream)
{
	struct store *store = data;

	said_lost(&store->said, stream, outbox_waiting(store->outbox, stream));
}

static void on_kept(void *data, size_t bytes)
{
	struct store *store = data;

	writer_saw_kept(store->writer, bytes);
}

/* Who may not be limited by one agent alone has to know. */
static void tell_facts(struct store *store)
{
	facts_set_store(store->facts, redis_link_is_up(store->tells.link) &&
	                                      redis_link_is_up(store->follows.link));
}

static void on_up(void *data, const char *address)
{
	struct side *side = data;
	struct store *store = side->store;

	side->failed = false;
	if (side == &store->tells)
		writer_up(store->writer);
	else
		follow(store);
	tell_facts(store);
	if (store->facts->store_up)
		said_up(&store->said, address);
}

static void on_down(void *data, const struct redis_down *down)
{
	struct side *side = data;
	struct store *store = side->store;

	side->failed = true;
	side->fault = down->fault;
	if (side == &store->follows && store->following) {
		follower_down(store->follower, down->fault);
		store->following = false;
	}
	tell_facts(store);
	said_down(&store->said, down);
}

static void look(struct store *store)
{
	struct store_view view = store_view(store);

	said_look(&store->said, &view, peers_count(store->facts->peers));
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct store *store = timer->data;
	bool all = ++store->ticks % ALL_TICKS == 0;

	(void)loop;
	(void)events;
	if (all)
		store->peers_lost += peers_sweep(store->facts->peers, store->options.now());
	writer_tick(store->writer, all);
	follow(store);
	if (store->ticks % LOOK_TICKS != 0)
		return;
	limits_sweep(store->facts->limits, store->options.now());
	look(store);
}

static uint64_t draw_agent(void)
{
	uint64_t agent = 0;

	while (agent == 0 && getrandom(&agent, sizeof(agent), 0) == sizeof(agent))
		;
	return agent;
}

static bool make_parts(struct store *store)
{
	const struct writer_options writing = {
		.keys = store->keys,
		.agent = store->options.agent,
		.kept_bytes = store->options.kept_bytes,
		.expiry = 2 * store->options.kept_life,
		.now = store->options.now,
		.clock = &store->clock,
		.ops = &store->ops,
		.on_added = on_added,
		.on_lost = on_lost,
		.on_failed = on_failed,
		.data = store,
	};
	const struct follower_options following = {
		.keys = store->keys,
		.kept_life = store->options.kept_life,
		.now = store->options.now,
		.clock = &store->clock,
		.ops = &store->ops,
	};
	const struct follower_events events = {
		.on_warm = on_warm,
		.on_restart = on_restart,
		.on_failed = on_failed,
		.on_kept = on_kept,
		.data = store,
	};

	store->outbox = outbox_new(store->facts, KEPT_WAITING);
	store->pulse = pulse_new(store->facts);
	store->apply = apply_new(store->facts, store->options.agent);
	if (!store->outbox || !store->pulse || !store->apply)
		return false;
	apply_set_loads(store->apply, store->options.loads);
	store->writer = writer_new(store->pulse, store->outbox, &writing);
	store->follower = follower_new(store->loop, store->apply, &following, &events);
	return store->writer && store->follower;
}

struct store *store_new(struct ev_loop *loop, struct facts *facts,
                        const struct store_options *options, const struct store_log *log,
                        struct error *error)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store) {
		(void)error_set(error, "out of memory");
		return NULL;
	}
	store->loop = loop;
	store->facts = facts;
	store->options = *options;
	store->said = (struct said){ .log = *log, .now = options->now };
	store->tells.store = store->follows.store = store;
	ev_timer_init(&store->timer, on_tick, TICK / 1e6, TICK / 1e6);
	store->timer.data = store;
	if (store->options.agent == 0)
		store->options.agent = draw_agent();
	if (!keys_make(options->space, &store->keys, error)) {
		store_free(store);
		return NULL;
	}
	if (make_parts(store))
		return store;
	(void)error_set(error, "out of memory");
	store_free(store);
	return NULL;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	ev_timer_stop(store->loop, &store->timer);
	if (store->outbox && store->facts->share == outbox_share(store->outbox))
		store->facts->share = NULL;
	redis_link_free(store->tells.link);
	redis_link_free(store->follows.link);
	follower_free(store->follower);
	writer_free(store->writer);
	apply_free(store->apply);
	pulse_free(store->pulse);
	outbox_free(store->outbox);
	free(store);
}

static bool start_link(struct side *side, struct redis_options *options, struct error *error)
{
	const struct redis_events events = { .data = side, .on_up = on_up, .on_down = on_down };

	options->seed ^= side->store->options.agent + (side == &side->store->tells);
	side->link = redis_link_new(side->store->loop, options, &events, error);
	return side->link != NULL;
}

bool store_start(struct store *store, struct error *error)
{
	struct redis_options telling = store->options.link, following = store->options.link;

	telling.now = following.now = store->options.now;
	telling.output_max = OUTPUT_MAX;
	following.reply_max = REPLY_MAX;
	(void)snprintf(telling.client_name, sizeof(telling.client_name), "inference-spoa-tells");
	(void)snprintf(following.client_name, sizeof(following.client_name),
	               "inference-spoa-follows");
	if (!start_link(&store->tells, &telling, error) ||
	    !start_link(&store->follows, &following, error))
		return false;
	store->started = store->options.now();
	writer_start(store->writer, store->tells.link);
	store->facts->share = outbox_share(store->outbox);
	outbox_tick(store->outbox, store->options.now());
	ev_timer_start(store->loop, &store->timer);
	return true;
}

void store_set(struct store *store, double kept_bytes, bool loads, usec_t kept_life)
{
	store->options.loads = loads;
	writer_set(store->writer, kept_bytes, 2 * kept_life);
	apply_set_loads(store->apply, loads);
	follower_set_life(store->follower, kept_life);
}

void store_stop(struct store *store)
{
	if (!store->stopping)
		writer_bye(store->writer);
	store->stopping = true;
}

bool store_is_done(const struct store *store)
{
	return !redis_link_is_up(store->tells.link) || writer_is_done(store->writer);
}

static struct store_link_view link_view(const struct side *side)
{
	static const struct redis_counters none;

	if (!side->link) /* not started */
		return (struct store_link_view){ .fault = "", .counters = &none };
	return (struct store_link_view){
		.up = redis_link_is_up(side->link),
		.fault = side->failed ? redis_fault_label(side->fault) : "",
		.counters = redis_link_counters(side->link),
	};
}

struct store_view store_view(const struct store *store)
{
	struct store_view view = {
		.agent = store->options.agent,
		.space = store->options.space,
		.address = store->tells.link ? redis_link_address(store->tells.link) : "",
		.tells = link_view(&store->tells),
		.follows = link_view(&store->follows),
		.follower = follower_view(store->follower),
		.writer = writer_counts(store->writer),
		.applied = apply_counts(store->apply),
		.ops = &store->ops,
		.outbox = outbox_counts(store->outbox),
		.peers_lost = store->peers_lost,
		.loads = store->options.loads,
	};

	for (int i = 0; i < KEYS_STREAMS; i++)
		view.waiting[i] = outbox_waiting(store->outbox, (enum keys_stream)i);
	return view;
}
