/* compose.c - letters, quotes, headers. */
#include "tests/sim/compose.h"

#include <string.h>

enum { WORD = 6 };

void compose_words(struct bytes *out, struct rng *rng, size_t len)
{
	char *at = bytes_room(out, len);
	uint64_t bits = 0;

	for (size_t i = 0; i < len; i++) {
		if (i % WORD == 0)
			bits = rng_next(rng);
		at[i] = i % WORD == WORD - 1 ? ' ' : (char)('a' + (bits >> 8 * (i % WORD)) % 26);
	}
	bytes_added(out, len);
}

void compose_message(struct bytes *messages, const char *role, struct span content)
{
	bytes_format(messages, "%s{\"role\":\"%s\",\"content\":\"",
	             bytes_len(messages) > 0 ? "," : "", role);
	bytes_span_add(messages, content);
	bytes_text(messages, "\"}");
}

void compose_body(struct bytes *out, const struct player_options *options, struct span messages,
                  bool stream)
{
	bytes_format(out, "{\"model\":\"%s\",\"messages\":[", options->model);
	bytes_span_add(out, messages);
	bytes_text(out, "]");
	if (options->max_tokens > 0)
		bytes_format(out, ",\"max_tokens\":%u", options->max_tokens);
	if (stream)
		bytes_text(out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
	bytes_text(out, "}");
}

void compose_head(struct bytes *out, const struct player_options *options, size_t body_len,
                  const char *extra)
{
	bytes_format(out,
	             "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
	             "Content-Length: %zu\r\n%s",
	             options->path, options->to, body_len, extra);
	for (int i = 0; i < options->headers.count; i++)
		bytes_format(out, "%s\r\n", options->headers.texts[i]);
	bytes_text(out, "\r\n");
}
