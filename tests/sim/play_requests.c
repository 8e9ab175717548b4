/* play_requests.c - single requests: of groups that share the beginning of their prompts; the same
 * with much that goes wrong; and as fast as they are answered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/compose.h"
#include "tests/sim/player.h"

enum { UNIQUE = 16 }; /* hexadecimal digits at a prompt's end */

/* The body of one request of a group; its last digits are this number. */
static void compose(struct worker *worker, const struct player_options *options, uint64_t group,
                    uint64_t number)
{
	struct rng shared = { ((uint64_t)options->seed << 32) + group };
	struct rng own = { ((uint64_t)options->seed << 32 | 1u << 31) + number };
	size_t len = options->body_bytes - UNIQUE;
	size_t same = options->same_prefix < len ? options->same_prefix : len;

	bytes_clear(&worker->text);
	bytes_clear(&worker->messages);
	bytes_clear(&worker->body);
	compose_words(&worker->text, &shared, same);
	compose_words(&worker->text, &own, len - same);
	bytes_format(&worker->text, "%016" PRIx64, number);
	compose_message(&worker->messages, "user", bytes_span(&worker->text));
	compose_body(&worker->body, options, bytes_span(&worker->messages), options->stream);
}

static void fill_request(struct worker *worker, struct client_request *request, const char *extra)
{
	bytes_clear(&worker->head);
	compose_head(&worker->head, worker->player->options, bytes_len(&worker->body), extra);
	request->head = bytes_span(&worker->head);
	request->body = bytes_span(&worker->body);
	request->keep_body = true;
}

static void label(struct worker *worker, const char *plan, bool must_succeed)
{
	worker->tag = (struct report_tag){ .request = worker->player->begun,
		                           .conversation = -1,
		                           .plan = plan,
		                           .must_succeed = must_succeed };
}

static bool next_plain(struct player *player, struct worker *worker,
                       struct client_request *ret_request)
{
	const struct player_options *options = player->options;

	if (player->begun == options->count)
		return false;
	compose(worker, options, player->begun % options->groups, player->begun);
	fill_request(worker, ret_request, "");
	label(worker, "normal", true);
	return true;
}

const struct scenario scenario_requests = { "requests", next_plain, NULL };

enum leaving { STAYS, LEAVES_EARLY, LEAVES_MIDWAY };

/* What may happen, and how often of 100. */
static const struct plan {
	const char *name, *fault;
	uint32_t weight;
	bool must_succeed;
	enum leaving leaving;
	double timeout_s; /* 0: that of the options */
} plans[] = {
	{ "normal", NULL, 50, true, STAYS, 0 },
	{ "leave-early", NULL, 10, false, LEAVES_EARLY, 0 },
	{ "leave-midway", NULL, 10, false, LEAVES_MIDWAY, 0 },
	{ "500", "500", 7, false, STAYS, 0 },
	{ "reset", "reset", 8, false, STAYS, 0 },
	{ "reset-mid", "reset-mid", 5, false, STAYS, 0 },
	{ "slow", "slow:200", 3, true, STAYS, 0 },
	{ "close", "close", 3, true, STAYS, 0 },
	{ "hang", "hang", 2, false, STAYS, 0.5 },
	{ "hang-mid", "hang-mid", 2, false, STAYS, 0.5 },
};

static const struct plan *draw(struct rng *rng, const struct command_list *without)
{
	uint64_t left = rng_next(rng) % 100;
	const struct plan *plan = plans;

	while (left >= plan->weight)
		left -= plan++->weight;
	for (int i = 0; i < without->count; i++) {
		if (strcmp(without->texts[i], plan->name) == 0)
			return &plans[0];
	}
	return plan;
}

static bool next_chaos(struct player *player, struct worker *worker,
                       struct client_request *ret_request)
{
	const struct player_options *options = player->options;
	const struct plan *plan = draw(&player->rng, &options->without);
	char extra[64] = "";

	if (player->begun == options->count)
		return false;
	if (plan->fault)
		(void)snprintf(extra, sizeof(extra), "x-sim-fault: %s\r\n", plan->fault);
	compose(worker, options, player->begun % options->groups, player->begun);
	fill_request(worker, ret_request, extra);
	label(worker, plan->name, plan->must_succeed);
	if (plan->timeout_s > 0 && plan->timeout_s < ret_request->timeout_s)
		ret_request->timeout_s = plan->timeout_s;
	if (plan->leaving == LEAVES_EARLY)
		ret_request->leave_after_s = 0.001 + 0.02 * rng_unit(&player->rng);
	if (plan->leaving == LEAVES_MIDWAY)
		ret_request->leave_after_bytes = 1;
	return true;
}

const struct scenario scenario_chaos = { "chaos", next_chaos, NULL };

/* The body is composed once a connection; only its number changes. */
static bool next_bench(struct player *player, struct worker *worker,
                       struct client_request *ret_request)
{
	static const char digits[] = "0123456789abcdef";
	const struct player_options *options = player->options;
	uint64_t number = player->begun;
	char *at;

	if (player_elapsed(player) >= options->seconds)
		return false;
	if (bytes_len(&worker->body) == 0) {
		compose(worker, options, worker->index % options->groups, worker->index);
		fill_request(worker, ret_request, "");
		label(worker, "normal", true);
	}
	/* The text ends where the message does: "}] and the rest follow. */
	at = worker->body.data + bytes_len(&worker->text) +
	     strlen("{\"model\":\"\",\"messages\":[{\"role\":\"user\",\"content\":\"") +
	     strlen(options->model);
	for (int i = 0; i < UNIQUE; i++, number >>= 4)
		*--at = digits[number & 15];
	worker->tag.request = player->begun;
	ret_request->head = bytes_span(&worker->head);
	ret_request->body = bytes_span(&worker->body);
	ret_request->keep_body = false;
	return true;
}

const struct scenario scenario_bench = { "bench", next_bench, NULL };
