/* player.c - a test tool: plays clients of an LLM endpoint; starts workers, paces them, ends them.
 */
#include "tests/sim/player.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/clock.h"

enum { SCENARIOS = 4 };

static const struct scenario *const scenarios[SCENARIOS] = {
	&scenario_conversations,
	&scenario_requests,
	&scenario_chaos,
	&scenario_bench,
};

double player_elapsed(const struct player *player)
{
	return (double)(clock_us() - player->report.begun_us) / 1e6;
}

/* Whether the pace allows one more; if not, the timer will. */
static bool is_due(struct player *player)
{
	double wait;

	if (player->late || player->enough)
		return false;
	if (player->options->rate <= 0)
		return true;
	wait = (double)player->begun / player->options->rate - player_elapsed(player);
	if (wait <= 0)
		return true;
	player->pace.repeat = wait;
	ev_timer_again(player->loop, &player->pace);
	return false;
}

static bool starts(struct player *player, struct worker *worker)
{
	struct client_request request = { .timeout_s = player->options->timeout_s,
		                          .send_once = player->options->send_once };

	if (!player->scenario->next(player, worker, &request))
		return false;
	player->begun++;
	player->running++;
	client_begin(&worker->client, &request);
	return true;
}

/* Starts whoever may; ends the play when nobody runs and nobody will. */
static void pump(struct player *player)
{
	bool due = is_due(player);

	for (uint32_t i = 0; i < player->options->parallel && due; i++) {
		if (!client_busy(&player->workers[i].client) && starts(player, &player->workers[i]))
			due = is_due(player);
	}
	if (player->running == 0 && (due || player->late || player->enough))
		ev_break(player->loop, EVBREAK_ALL);
}

static void on_finished(struct client *client, const struct client_outcome *outcome)
{
	struct worker *worker = client->user;
	struct player *player = worker->player;
	struct reply reply;
	bool read = client->request.keep_body && outcome->status == 200 &&
	            outcome->error == CLIENT_NONE;

	player->running--;
	if (read) {
		bytes_clear(&worker->text);
		reply_read(client_body(client), player->options->stream, &reply, &worker->text);
	}
	report_add(&player->report, &worker->tag, outcome, read ? &reply : NULL);
	if (player->scenario->finished)
		player->scenario->finished(player, worker, outcome, read ? &reply : NULL);
	if (player->options->rate > 0 || !is_due(player) || !starts(player, worker))
		pump(player);
}

static void on_pace(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	(void)events;
	ev_timer_stop(loop, watcher);
	pump(watcher->data);
}

/* No more begin; those under way go on to their end. */
static void on_enough(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
	struct player *player = watcher->data;

	(void)loop;
	(void)events;
	player->enough = true;
	pump(player);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	struct player *player = watcher->data;

	(void)events;
	player->late = true;
	ev_break(loop, EVBREAK_ALL);
}

static bool prepares(struct player *player)
{
	const struct player_options *options = player->options;

	player->loop = ev_default_loop(EVFLAG_AUTO);
	player->workers = calloc(options->parallel, sizeof(*player->workers));
	if (!player->workers)
		return false;
	for (uint32_t i = 0; i < options->parallel; i++) {
		player->workers[i].player = player;
		player->workers[i].index = i;
		client_init(&player->workers[i].client, player->loop, &options->address,
		            on_finished, &player->workers[i]);
	}
	player->rng = (struct rng){ options->seed };
	if (player->scenario != &scenario_bench)
		player->report.lines = options->output ? fopen(options->output, "w") : stdout;
	if (options->output && !player->report.lines && player->scenario != &scenario_bench)
		return false;
	ev_init(&player->pace, on_pace);
	ev_timer_init(&player->deadline, on_deadline, options->deadline_s, 0);
	ev_signal_init(&player->stop, on_enough, SIGUSR1);
	player->pace.data = player->deadline.data = player->stop.data = player;
	ev_timer_start(player->loop, &player->deadline);
	ev_signal_start(player->loop, &player->stop);
	return true;
}

static int play(struct player *player)
{
	if (!prepares(player)) {
		perror("player");
		return 2;
	}
	player->report.begun_us = clock_us();
	pump(player);
	if (player->running > 0)
		ev_run(player->loop, 0);
	report_summary(&player->report, stderr);
	if (player->late)
		(void)fprintf(stderr, "deadline passed with %u requests under way\n",
		              player->running);
	for (uint32_t i = 0; i < player->options->parallel; i++) {
		client_done(&player->workers[i].client);
		bytes_done(&player->workers[i].head);
		bytes_done(&player->workers[i].body);
		bytes_done(&player->workers[i].text);
		bytes_done(&player->workers[i].messages);
	}
	free(player->workers);
	if (player->report.lines && fclose(player->report.lines))
		return 2;
	if (player->report.answers == 0)
		return 2;
	return player->late || (player->options->expect_all_200 && player->report.failures > 0);
}

int main(int argc, char **argv)
{
	struct player player = { 0 };
	struct player_options options;
	int status;

	for (int i = 0; argc > 1 && i < SCENARIOS; i++) {
		if (strcmp(argv[1], scenarios[i]->name) == 0)
			player.scenario = scenarios[i];
	}
	if (!player.scenario) {
		status = player_options_read(argc, argv, &options);
		if (status < 0)
			(void)fprintf(stderr, "player: expected a mode, see --help\n");
		return status < 0 ? 2 : status;
	}
	status = player_options_read(argc - 1, argv + 1, &options);
	if (status >= 0)
		return status;
	player.options = &options;
	return play(&player);
}
