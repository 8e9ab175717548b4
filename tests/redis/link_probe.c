/* link_probe.c URL [NAME=VALUE...] - a link to a store, driven by lines and telling what happens in
 * lines; for link.sh.
 *
 * Options: password-file, sentinel-password-file, ca-file, deadline (ms, of a command).
 * From standard input: a command's words, with blanks between. To standard output:
 * "up ADDRESS", "down FAULT TEXT", "reply RESULT TEXT", "refused". It ends with its input. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "redis/link.h"

enum { LINE_BYTES = 4096, WORDS = 64 };

struct probe {
	struct ev_loop *loop;
	struct redis_link *link;
	usec_t deadline;
	char line[LINE_BYTES];
	size_t used;
};

static usec_t now(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (usec_t)at.tv_sec * SECOND + (usec_t)at.tv_nsec / 1000;
}

static void on_up(void *data, const char *address)
{
	(void)data;
	(void)printf("up %s\n", address);
}

static void on_down(void *data, const struct redis_down *down)
{
	(void)data;
	(void)printf("down %s %s\n", redis_fault_label(down->fault), down->text);
}

static void print(const struct redis_reply *reply)
{
	switch (reply->kind) {
	case REDIS_NIL:
		(void)printf(" nil");
		return;
	case REDIS_INTEGER:
		(void)printf(" %lld", (long long)reply->integer);
		return;
	case REDIS_STATUS:
	case REDIS_ERROR:
	case REDIS_STRING:
		(void)printf(" %s", reply->text.at);
		return;
	case REDIS_ARRAY:
		for (size_t i = 0; i < reply->count; i++)
			print(redis_reply_at(reply, i)); /* the reader bounds the depth */
		return;
	}
}

static void on_reply(void *data, enum redis_result result, const struct redis_reply *reply)
{
	(void)data;
	(void)printf("reply %s", redis_result_label(result));
	if (reply)
		print(reply);
	(void)printf("\n");
}

static void run_line(struct probe *probe, char *line)
{
	struct span words[WORDS];
	struct redis_command command = { .words = words,
		                         .deadline = probe->deadline,
		                         .on_reply = on_reply };
	char *rest = line;

	for (char *word; (word = strsep(&rest, " ")) && command.count < WORDS;)
		words[command.count++] = (struct span){ word, strlen(word) };
	if (!redis_link_send(probe->link, &command))
		(void)printf("refused\n");
}

static void on_input(struct ev_loop *loop, ev_io *io, int events)
{
	struct probe *probe = io->data;
	ssize_t got = read(STDIN_FILENO, probe->line + probe->used, LINE_BYTES - probe->used);
	char *end;

	(void)events;
	if (got <= 0) {
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	probe->used += (size_t)got;
	while ((end = memchr(probe->line, '\n', probe->used))) {
		size_t len = (size_t)(end - probe->line) + 1;

		*end = '\0';
		run_line(probe, probe->line);
		probe->used -= len;
		memmove(probe->line, end + 1, probe->used);
	}
}

static int set(struct probe *probe, struct redis_options *options, const char *argument)
{
	static const char *const names[] = { "password-file=", "sentinel-password-file=",
		                             "ca-file=" };
	char *const places[] = { options->password_file, options->sentinel_password_file,
		                 options->tls.ca_file };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(argument, names[i], strlen(names[i])) == 0) {
			(void)snprintf(places[i], REDIS_FILE_MAX, "%s",
			               argument + strlen(names[i]));
			return 1;
		}
	}
	if (strncmp(argument, "deadline=", strlen("deadline=")) != 0)
		return 0;
	probe->deadline = strtoull(argument + strlen("deadline="), NULL, 10) * MSEC;
	return 1;
}

int main(int argc, char **argv)
{
	struct probe probe = { .loop = ev_default_loop(0), .deadline = SECOND };
	struct redis_options options = { .client_name = "link_probe",
		                         .seed = (uint64_t)getpid(),
		                         .retry_max = SECOND,
		                         .now = now };
	struct redis_events events = { .on_up = on_up, .on_down = on_down };
	struct error error = { "" };
	ev_io input;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		(void)fprintf(stderr, "usage: link_probe URL [NAME=VALUE...]\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		if (!set(&probe, &options, argv[i])) {
			(void)fprintf(stderr, "link_probe: %s: no such option\n", argv[i]);
			return 2;
		}
	}
	if (redis_url_read(argv[1], &options.url, &error))
		probe.link = redis_link_new(probe.loop, &options, &events, &error);
	if (!probe.link) {
		(void)fprintf(stderr, "link_probe: %s\n", error.text);
		return 1;
	}
	ev_io_init(&input, on_input, STDIN_FILENO, EV_READ);
	input.data = &probe;
	ev_io_start(probe.loop, &input);
	ev_run(probe.loop, 0);
	redis_link_free(probe.link);
	return 0;
}
