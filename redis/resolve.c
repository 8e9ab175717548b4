/* resolve.c - getaddrinfo() in a thread, its answer through a socket pair.
 *
 * getaddrinfo() waits for name servers, and nothing in libc tells a loop when it is done
 * without a thread. The thread owns a copy of all it needs, sends one datagram and ends;
 * whether somebody still listens is not its concern. */
#include "redis/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis/url.h"

enum { STACK_BYTES = 256 * 1024 };

struct question {
	struct redis_host host;
	int to; /* the thread's end */
};

struct answer {
	int error; /* of getaddrinfo */
	struct redis_addresses addresses;
};

struct redis_resolve {
	struct ev_loop *loop;
	ev_io io;
	int from; /* -1: no look-up under way */
	struct redis_host host;
	void (*on_resolved)(void *data, const struct redis_addresses *addresses,
	                    const char *problem);
	void *data;
};

static int look_up(const struct redis_host *host, int flags, struct redis_addresses *ret_addresses)
{
	const struct addrinfo wanted = {
		.ai_flags = flags | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found = NULL;
	char port[8];
	int error;

	(void)snprintf(port, sizeof(port), "%u", (unsigned)host->port);
	error = getaddrinfo(host->name, port, &wanted, &found);
	if (error != 0)
		return error;
	ret_addresses->count = 0;
	for (const struct addrinfo *one = found; one; one = one->ai_next) {
		struct redis_address *to = &ret_addresses->at[ret_addresses->count];

		if (ret_addresses->count == REDIS_ADDRESSES_MAX)
			break;
		if (one->ai_addrlen > sizeof(to->storage))
			continue;
		memcpy(&to->storage, one->ai_addr, one->ai_addrlen);
		to->length = one->ai_addrlen;
		ret_addresses->count++;
	}
	freeaddrinfo(found);
	return ret_addresses->count > 0 ? 0 : EAI_NONAME;
}

bool redis_address_read(const char *host, uint16_t port, struct redis_addresses *ret_addresses)
{
	struct redis_addresses addresses = { 0 };
	struct redis_host numbers = { .port = port };

	if (strlen(host) >= sizeof(numbers.name))
		return false;
	memcpy(numbers.name, host, strlen(host) + 1);
	if (look_up(&numbers, AI_NUMERICHOST, &addresses) != 0)
		return false;
	*ret_addresses = addresses;
	return true;
}

void redis_address_of_path(const char *path, struct redis_addresses *ret_addresses)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	memcpy(name.sun_path, path, strnlen(path, sizeof(name.sun_path) - 1));
	memset(ret_addresses, 0, sizeof(*ret_addresses));
	memcpy(&ret_addresses->at[0].storage, &name, sizeof(name));
	ret_addresses->at[0].length = sizeof(name);
	ret_addresses->count = 1;
}

static void *work(void *data)
{
	struct question *question = data;
	struct answer answer = { 0 };

	answer.error = look_up(&question->host, 0, &answer.addresses);
	(void)send(question->to, &answer, sizeof(answer), MSG_NOSIGNAL);
	(void)close(question->to);
	free(question);
	return NULL;
}

/* With all signals blocked: they are the loop's. */
static bool start_thread(struct question *question)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, work, question);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return error == 0;
}

static void forget(struct redis_resolve *resolve)
{
	if (resolve->from < 0)
		return;
	ev_io_stop(resolve->loop, &resolve->io);
	(void)close(resolve->from);
	resolve->from = -1;
}

static void on_answer(struct ev_loop *loop, ev_io *io, int events)
{
	struct redis_resolve *resolve = io->data;
	struct answer answer = { .error = EAI_SYSTEM };
	ssize_t got = recv(resolve->from, &answer, sizeof(answer), MSG_DONTWAIT);
	const char *problem = NULL;

	(void)loop;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != (ssize_t)sizeof(answer))
		problem = "no look-up";
	else if (answer.error != 0)
		problem = gai_strerror(answer.error);
	if (problem)
		answer.addresses.count = 0;
	forget(resolve);
	if (resolve->on_resolved)
		resolve->on_resolved(resolve->data, &answer.addresses, problem);
}

struct redis_resolve *redis_resolve_new(struct ev_loop *loop)
{
	struct redis_resolve *resolve = calloc(1, sizeof(*resolve));

	if (!resolve)
		return NULL;
	resolve->loop = loop;
	resolve->from = -1;
	ev_init(&resolve->io, on_answer);
	resolve->io.data = resolve;
	return resolve;
}

void redis_resolve_free(struct redis_resolve *resolve)
{
	if (!resolve)
		return;
	forget(resolve);
	free(resolve);
}

static bool begin(struct redis_resolve *resolve)
{
	struct question *question = calloc(1, sizeof(*question));
	int ends[2];

	if (!question)
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(question);
		return false;
	}
	question->host = resolve->host;
	question->to = ends[1];
	if (!start_thread(question)) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		free(question);
		return false;
	}
	resolve->from = ends[0];
	ev_io_set(&resolve->io, ends[0], EV_READ);
	ev_io_start(resolve->loop, &resolve->io);
	return true;
}

bool redis_resolve_ask(struct redis_resolve *resolve, const char *host, uint16_t port,
                       void (*on_resolved)(void *data, const struct redis_addresses *addresses,
                                           const char *problem),
                       void *data)
{
	bool same = strcmp(resolve->host.name, host) == 0 && resolve->host.port == port;

	if (!same) {
		forget(resolve);
		(void)snprintf(resolve->host.name, sizeof(resolve->host.name), "%s", host);
		resolve->host.port = port;
	}
	resolve->on_resolved = on_resolved;
	resolve->data = data;
	return resolve->from >= 0 || begin(resolve);
}

void redis_resolve_leave(struct redis_resolve *resolve)
{
	resolve->on_resolved = NULL;
}
