/* http.c - lines and words; lenient where a test does not care, strict about lengths. */
#include "tests/sim/http.h"

#include <string.h>
#include <strings.h>

enum chunk_state { SIZE, EXTENSION, DATA, DATA_END, TRAILER, TRAILER_LINE, DONE };

bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

bool span_is_like(struct span span, const char *text)
{
	return span.len == strlen(text) && strncasecmp(span.at, text, span.len) == 0;
}

int64_t span_number(struct span span)
{
	int64_t number = 0;

	if (span.len == 0 || span.len > 18)
		return -1;
	for (size_t i = 0; i < span.len; i++) {
		if (span.at[i] < '0' || span.at[i] > '9')
			return -1;
		number = 10 * number + (span.at[i] - '0');
	}
	return number;
}

static struct span trimmed(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	return (struct span){ from, (size_t)(to - from) };
}

/* The third word keeps its blanks: a reason may have some. */
static bool reads_first_line(const char *at, const char *end, struct http_head *head)
{
	for (int i = 0; i < 2; i++) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));

		if (!blank || blank == at)
			return false;
		head->words[i] = (struct span){ at, (size_t)(blank - at) };
		at = blank + 1;
	}
	head->words[2] = trimmed(at, end);
	return true;
}

static bool reads_field(const char *at, const char *end, struct http_head *head)
{
	const char *colon = memchr(at, ':', (size_t)(end - at));

	if (!colon || colon == at || head->field_count == HTTP_FIELDS_MAX)
		return false;
	head->fields[head->field_count++] = (struct http_field){
		.name = { at, (size_t)(colon - at) },
		.value = trimmed(colon + 1, end),
	};
	return true;
}

static bool reads_length(struct http_head *head, struct span value)
{
	head->content_length = span_number(value);
	return head->content_length >= 0;
}

static bool reads_coding(struct http_head *head, struct span value)
{
	head->chunked = span_is_like(value, "chunked");
	return true;
}

static bool reads_connection(struct http_head *head, struct span value)
{
	head->close =
	        !span_is_like(value, "keep-alive") && (head->close || span_is_like(value, "close"));
	return true;
}

static bool reads_expect(struct http_head *head, struct span value)
{
	head->expects_continue = span_is_like(value, "100-continue");
	return true;
}

/* What frames the message. */
static const struct framing {
	const char *name;
	bool (*read)(struct http_head *head, struct span value);
} framings[] = {
	{ "content-length", reads_length },
	{ "transfer-encoding", reads_coding },
	{ "connection", reads_connection },
	{ "expect", reads_expect },
};

static bool reads_framing(struct http_head *head)
{
	for (int i = 0; i < head->field_count; i++) {
		for (size_t k = 0; k < sizeof(framings) / sizeof(*framings); k++) {
			if (span_is_like(head->fields[i].name, framings[k].name) &&
			    !framings[k].read(head, head->fields[i].value))
				return false;
		}
	}
	return true;
}

int http_head_parse(struct span bytes, struct http_head *ret_head)
{
	size_t look = bytes.len < HTTP_HEAD_MAX ? bytes.len : HTTP_HEAD_MAX;
	const char *at = bytes.at;
	const char *empty = look > 0 ? memmem(at, look, "\r\n\r\n", 4) : NULL;
	const char *line_end;

	if (!empty)
		return bytes.len < HTTP_HEAD_MAX ? 0 : -1;
	ret_head->field_count = 0;
	ret_head->content_length = -1;
	ret_head->chunked = ret_head->expects_continue = false;
	line_end = memchr(at, '\n', (size_t)(empty + 2 - at));
	if (!line_end || !reads_first_line(at, line_end, ret_head))
		return -1;
	ret_head->close =
	        span_is(ret_head->words[2], "HTTP/1.0") || span_is(ret_head->words[0], "HTTP/1.0");
	for (at = line_end + 1; at < empty + 2; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(empty + 2 - at));
		if (!line_end || !reads_field(at, line_end, ret_head))
			return -1;
	}
	return reads_framing(ret_head) ? (int)(empty + 4 - bytes.at) : -1;
}

struct span http_field_named(const struct http_head *head, const char *name)
{
	for (int i = 0; i < head->field_count; i++) {
		if (span_is_like(head->fields[i].name, name))
			return head->fields[i].value;
	}
	return (struct span){ 0 };
}

int http_status(const struct http_head *head)
{
	int64_t status = span_number(head->words[1]);

	return status >= 100 && status <= 999 ? (int)status : -1;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool reads_size(struct http_chunks *chunks, char c)
{
	int digit = hex_digit(c);

	if (digit < 0) {
		chunks->state = EXTENSION;
		return c == '\r' || c == ';' || c == ' ';
	}
	if (chunks->left >> 40)
		return false;
	chunks->left = chunks->left << 4 | (uint64_t)digit;
	return true;
}

/* An empty line is the end. */
static void reads_trailer(struct http_chunks *chunks, char c)
{
	if (c == '\n')
		chunks->state = DONE;
	else if (c != '\r')
		chunks->state = TRAILER_LINE;
}

/* One byte that is not payload. */
static bool reads_frame_byte(struct http_chunks *chunks, char c)
{
	bool line_ends = c == '\n';

	switch ((enum chunk_state)chunks->state) {
	case SIZE:
		return reads_size(chunks, c);
	case EXTENSION:
		if (line_ends)
			chunks->state = chunks->left > 0 ? DATA : TRAILER;
		return true;
	case DATA_END:
		if (line_ends)
			chunks->state = SIZE;
		return c == '\r' || line_ends;
	case TRAILER:
		reads_trailer(chunks, c);
		return true;
	case TRAILER_LINE:
		if (line_ends)
			chunks->state = TRAILER;
		return true;
	case DATA:
	case DONE:
		break;
	}
	return false;
}

int64_t http_chunks_read(struct http_chunks *chunks, struct span bytes, struct span *ret_payload)
{
	size_t used = 0;
	size_t payload;

	*ret_payload = (struct span){ bytes.at, 0 };
	while (used < bytes.len && chunks->state != DONE) {
		if (chunks->state != DATA) {
			if (!reads_frame_byte(chunks, bytes.at[used++]))
				return -1;
			continue;
		}
		payload = bytes.len - used;
		if (payload > chunks->left)
			payload = chunks->left;
		*ret_payload = (struct span){ bytes.at + used, payload };
		chunks->left -= payload;
		if (chunks->left == 0)
			chunks->state = DATA_END;
		return (int64_t)(used + payload);
	}
	return (int64_t)used;
}

bool http_chunks_done(const struct http_chunks *chunks)
{
	return chunks->state == DONE;
}
