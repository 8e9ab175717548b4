/* play_conversations.c - clients that talk: each turn sends all before it and something new.
 *
 * A worker stays with its conversation to the end. A turn that fails ends it: without the answer
 * there is nothing to go on from. */
#include <string.h>

#include "tests/sim/compose.h"
#include "tests/sim/player.h"

static void begin(struct player *player, struct worker *worker)
{
	const struct player_options *options = player->options;
	struct rng shared = { options->seed };

	worker->talking = true;
	worker->tag = (struct report_tag){ .conversation = (int64_t)player->started++,
		                           .plan = "normal",
		                           .must_succeed = true };
	worker->rng = (struct rng){ ((uint64_t)options->seed << 32) + player->started };
	worker->first_served[0] = '\0';
	bytes_clear(&worker->messages);
	if (options->shared_prefix == 0)
		return;
	bytes_clear(&worker->text);
	compose_words(&worker->text, &shared, options->shared_prefix);
	compose_message(&worker->messages, "system", bytes_span(&worker->text));
}

static bool next(struct player *player, struct worker *worker, struct client_request *ret_request)
{
	const struct player_options *options = player->options;

	if (!worker->talking) {
		if (player->started == options->count)
			return false;
		begin(player, worker);
	}
	bytes_clear(&worker->text);
	compose_words(&worker->text, &worker->rng, options->prompt_bytes);
	compose_message(&worker->messages, "user", bytes_span(&worker->text));
	bytes_clear(&worker->body);
	compose_body(&worker->body, options, bytes_span(&worker->messages), options->stream);
	bytes_clear(&worker->head);
	compose_head(&worker->head, options, bytes_len(&worker->body), "");
	worker->tag.request = player->begun;
	ret_request->head = bytes_span(&worker->head);
	ret_request->body = bytes_span(&worker->body);
	ret_request->keep_body = true;
	return true;
}

static void finished(struct player *player, struct worker *worker,
                     const struct client_outcome *outcome, const struct reply *reply)
{
	if (worker->tag.turn == 0)
		memcpy(worker->first_served, outcome->served, sizeof(outcome->served));
	else if (outcome->status > 0)
		report_turn(&player->report, strcmp(worker->first_served, outcome->served) == 0);
	worker->talking =
	        reply && reply->whole && worker->tag.turn + 1 < (int64_t)player->options->turns;
	if (!worker->talking)
		return;
	compose_message(&worker->messages, "assistant", bytes_span(&worker->text));
	worker->tag.turn++;
}

const struct scenario scenario_conversations = { "conversations", next, finished };
