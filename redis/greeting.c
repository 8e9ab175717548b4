/* greeting.c - AUTH, CLIENT SETNAME, SELECT, ROLE, PING in one go; the last reply decides.
 *
 * PING is there because a store that is still loading takes AUTH and SELECT, and one whose
 * clients are limited by an ACL may refuse PING itself: that is no reason not to use it. */
#include "redis/greeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 200, PATIENCE_S = 60 /* the link's deadline is sooner */ };

static void refuse(struct redis_greeting *greeting, enum redis_fault fault, struct span text)
{
	char kept[TEXT_MAX];

	(void)snprintf(kept, sizeof(kept), "%.*s",
	               text.len < sizeof(kept) ? (int)text.len : (int)sizeof(kept) - 1, text.at);
	greeting->on_refused(greeting->data, fault, kept);
}

/* An error to any of the questions; true if it does not matter. */
static bool judge(struct redis_greeting *greeting, enum redis_result result,
                  const struct redis_reply *reply)
{
	switch (result) {
	case REDIS_RESULT_OK:
		return true;
	case REDIS_RESULT_LATE:
	case REDIS_RESULT_LOST:
		return false; /* the connection broke, and tells so itself */
	case REDIS_RESULT_LOADING:
		refuse(greeting, REDIS_FAULT_LOADING, reply->text);
		return false;
	case REDIS_RESULT_MASTERDOWN:
		refuse(greeting, REDIS_FAULT_NOT_PRIMARY, reply->text);
		return false;
	case REDIS_RESULT_NOAUTH:
		refuse(greeting, REDIS_FAULT_AUTH, reply->text);
		return false;
	case REDIS_RESULT_READONLY:
	case REDIS_RESULT_MOVED:
	case REDIS_RESULT_ASK:
	case REDIS_RESULT_TRYAGAIN:
	case REDIS_RESULT_CLUSTERDOWN:
	case REDIS_RESULT_OOM:
	case REDIS_RESULT_NOPERM:
	case REDIS_RESULT_BUSY:
	case REDIS_RESULT_MISCONF:
	case REDIS_RESULT_NOREPLICAS:
	case REDIS_RESULT_ERROR:
	case REDIS_RESULT_COUNT:
		break;
	}
	refuse(greeting, REDIS_FAULT_REFUSES, reply->text);
	return false;
}

/* Stores before 6 say ERR to a wrong password, and so do all where none is set. "ERR max
 * number of clients reached" may come as the answer to anything. */
static void on_auth(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct redis_greeting *greeting = data;

	if (result == REDIS_RESULT_ERROR &&
	    (memmem(reply->text.at, reply->text.len, "password", strlen("password")) ||
	     memmem(reply->text.at, reply->text.len, "AUTH", strlen("AUTH")) ||
	     memmem(reply->text.at, reply->text.len, "auth", strlen("auth"))))
		refuse(greeting, REDIS_FAULT_AUTH, reply->text);
	else
		(void)judge(greeting, result, reply);
}

static void on_select(void *data, enum redis_result result, const struct redis_reply *reply)
{
	(void)judge(data, result, reply);
}

static bool is(struct span text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

/* An ACL may hide ROLE; then the sentinel's word is taken. */
static void on_role(void *data, enum redis_result result, const struct redis_reply *reply)
{
	static const char problem[] = "the sentinel called it primary, it says it is none";
	struct redis_greeting *greeting = data;

	if (result == REDIS_RESULT_NOPERM || !judge(greeting, result, reply))
		return;
	if (!is(redis_reply_text(redis_reply_at(reply, 0)), "master"))
		refuse(greeting, REDIS_FAULT_NOT_PRIMARY,
		       (struct span){ problem, sizeof(problem) - 1 });
}

/* MISCONF: it cannot write its file, and says so to PING, too; reading goes on. */
static void on_ping(void *data, enum redis_result result, const struct redis_reply *reply)
{
	struct redis_greeting *greeting = data;

	if (result == REDIS_RESULT_NOPERM || result == REDIS_RESULT_MISCONF ||
	    judge(greeting, result, reply))
		greeting->on_greeted(greeting->data);
}

static bool ask(struct redis_greeting *greeting, const char *const *words, size_t count,
                void (*on_reply)(void *data, enum redis_result result,
                                 const struct redis_reply *reply))
{
	struct span spans[4];
	struct redis_command command = {
		.words = spans,
		.count = count,
		.deadline = PATIENCE_S * SECOND,
		.on_reply = on_reply,
		.data = greeting,
	};

	for (size_t i = 0; i < count; i++)
		spans[i] = (struct span){ words[i], strlen(words[i]) };
	return redis_connection_send(greeting->connection, &command);
}

/* The file's first line, anew at each greeting: passwords are changed while we run. A file
 * of a few bytes is read without waiting. */
static bool read_password(const char *path, char ret_password[REDIS_PASSWORD_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, ret_password, REDIS_PASSWORD_MAX - 1);
	(void)close(fd);
	if (got < 0)
		return false;
	ret_password[got] = '\0';
	ret_password[strcspn(ret_password, "\r\n")] = '\0';
	errno = EINVAL;
	return ret_password[0] != '\0';
}

static bool authenticate(struct redis_greeting *greeting)
{
	const struct redis_options *options = greeting->options;
	char password[REDIS_PASSWORD_MAX];
	const char *words[] = { "AUTH", password, NULL };
	size_t count = 2;
	bool sent;

	if (options->password_file[0] != '\0') {
		if (!read_password(options->password_file, password)) {
			char text[TEXT_MAX];

			(void)snprintf(text, sizeof(text), "%.120s: %s", options->password_file,
			               errno == EINVAL ? "expected a password in its first line"
			                               : strerrordesc_np(errno));
			greeting->on_refused(greeting->data, REDIS_FAULT_PASSWORD_FILE, text);
			return false;
		}
	} else if (options->url.password[0] != '\0') {
		memcpy(password, options->url.password, sizeof(password));
	} else if (options->url.user[0] != '\0') {
		greeting->on_refused(greeting->data, REDIS_FAULT_PASSWORD_FILE,
		                     "the url names a user, and no password is given");
		return false;
	} else {
		return true;
	}
	if (options->url.user[0] != '\0') {
		words[1] = options->url.user;
		words[2] = password;
		count = 3;
	}
	sent = ask(greeting, words, count, on_auth);
	explicit_bzero(password, sizeof(password));
	return sent;
}

void redis_greet(struct redis_greeting *greeting)
{
	const struct redis_options *options = greeting->options;
	const char *const name[] = { "CLIENT", "SETNAME", options->client_name };
	const char *const role[] = { "ROLE" };
	const char *const ping[] = { "PING" };
	char number[16];
	const char *const select[] = { "SELECT", number };

	if (!authenticate(greeting))
		return;
	(void)snprintf(number, sizeof(number), "%u", options->url.db);
	if ((options->client_name[0] == '\0' || ask(greeting, name, 3, NULL)) &&
	    (options->url.db == 0 || ask(greeting, select, 2, on_select)) &&
	    (!greeting->primary || ask(greeting, role, 1, on_role)) &&
	    ask(greeting, ping, 1, on_ping))
		return;
	greeting->on_refused(greeting->data, REDIS_FAULT_MEMORY,
	                     "the greeting does not fit the output");
}
