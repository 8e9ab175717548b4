/* chunks.c - a test tool: reads one stream from each address at the same time and tells when its
 * bytes came.
 *
 *   chunks PROMPT-BYTES TOKENS LEAVE-MS HOST:PORT...
 *
 * A line for each read: number of the address, microseconds since the start, bytes, and how many
 * microseconds ago the engine wrote the first token in it, by its stamp (engine_sim --stamp; -1: no
 * token in it). A prompt of another length has another letter. The first line of each is its
 * request, with 0 bytes. LEAVE-MS 0: to the end of each stream; else all are left so long after the
 * start. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS_MAX = 8, READ_MAX = 65536, PROMPT_MAX = 60000, PATIENCE_MS = 30000 };

static long long now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int dial(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const char *colon = strrchr(address, ':');
	char host[64] = "";
	int fd;

	if (!colon || (size_t)(colon - address) >= sizeof(host))
		return -1;
	memcpy(host, address, (size_t)(colon - address));
	to.sin_port = htons((unsigned short)strtol(colon + 1, NULL, 10));
	if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static bool asks(int fd, int prompt_bytes, int tokens)
{
	static char body[PROMPT_MAX + 256];
	static char text[PROMPT_MAX + 512];
	char prompt[PROMPT_MAX + 1];
	int len;

	memset(prompt, 'a' + prompt_bytes % 26, (size_t)prompt_bytes);
	prompt[prompt_bytes] = '\0';
	(void)snprintf(body, sizeof(body),
	               "{\"model\":\"sim\",\"stream\":true,\"max_tokens\":%d,\"min_tokens\":%d,"
	               "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
	               tokens, tokens, prompt);
	len = snprintf(text, sizeof(text),
	               "POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\n"
	               "content-type: application/json\r\ncontent-length: %zu\r\n\r\n%s",
	               strlen(body), body);
	return write(fd, text, (size_t)len) == len;
}

/* Since the engine wrote what is here; -1: it does not say. */
static long long lag_us(const char *data)
{
	static const char key[] = "\"sim_us\":";
	const char *stamp = strstr(data, key);

	return stamp ? now_us() - strtoll(stamp + sizeof(key) - 1, NULL, 10) : -1;
}

/* True when the stream is at its end. */
static bool hears(int fd, int number, long long begun)
{
	static char data[READ_MAX + 1];
	ssize_t got = read(fd, data, READ_MAX);

	if (got <= 0)
		return true;
	data[got] = '\0';
	printf("%d %lld %zd %lld\n", number, now_us() - begun, got, lag_us(data));
	return got >= 5 && memcmp(data + got - 5, "0\r\n\r\n", 5) == 0;
}

static int listens(struct pollfd *streams, int count, long long begun, int leave_ms)
{
	int open = count;

	while (open > 0) {
		long long spent_ms = (now_us() - begun) / 1000;
		long long left_ms = (leave_ms ? leave_ms : PATIENCE_MS) - spent_ms;

		if (left_ms <= 0)
			return leave_ms ? 0 : 1;
		if (poll(streams, (nfds_t)count, (int)left_ms) < 0 && errno != EINTR)
			return 1;
		for (int i = 0; i < count; i++) {
			if (!streams[i].revents || !hears(streams[i].fd, i, begun))
				continue;
			streams[i].fd =
			        -1; /* poll leaves it out; the end of the process closes it */
			open--;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct pollfd streams[STREAMS_MAX];
	int count = argc - 4;
	int prompt_bytes;
	int tokens;
	long long begun = now_us();

	if (count < 1 || count > STREAMS_MAX) {
		(void)fprintf(stderr, "chunks PROMPT-BYTES TOKENS LEAVE-MS HOST:PORT...\n");
		return 2;
	}
	prompt_bytes = (int)strtol(argv[1], NULL, 10);
	tokens = (int)strtol(argv[2], NULL, 10);
	if (prompt_bytes < 1 || prompt_bytes > PROMPT_MAX || tokens < 1)
		return 2;
	for (int i = 0; i < count; i++) {
		streams[i] = (struct pollfd){ .fd = dial(argv[4 + i]), .events = POLLIN };
		printf("%d %lld 0 -1\n", i, now_us() - begun);
		if (streams[i].fd < 0 || !asks(streams[i].fd, prompt_bytes, tokens)) {
			(void)fprintf(stderr, "chunks: %s: %s\n", argv[4 + i], strerror(errno));
			return 1;
		}
	}
	return listens(streams, count, begun, (int)strtol(argv[3], NULL, 10));
}
