/* url.c - reads the text from left to right, and says where it stopped.
 *
 * The authority ends at the first '/' or '?'; user and password end at its last '@',
 * so that a password with an '@' that nobody encoded is still read right. */
#include "redis/url.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reading {
	const char *text; /* whole, ends in NUL */
	const char *at;
	struct error *error;
};

static bool expected(const struct reading *reading, const char *at, const char *what)
{
	return error_set(reading->error, "store url: column %zu: expected %s",
	                 (size_t)(at - reading->text) + 1, what);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* [at, end) without its %XX; room counts the NUL. */
static bool decode(const struct reading *reading, const char *at, const char *end, char *ret_text,
                   size_t room)
{
	size_t used = 0;

	while (at < end) {
		char c = *at;

		if (c == '%') {
			int high = end - at > 2 ? hex(at[1]) : -1;
			int low = end - at > 2 ? hex(at[2]) : -1;

			if (high < 0 || low < 0 || (high | low) == 0)
				return expected(reading, at, "%XX with two hex digits, not 00");
			c = (char)(high << 4 | low);
			at += 2;
		}
		if ((unsigned char)c < 0x20)
			return expected(reading, at, "no control character");
		if (used + 1 >= room)
			return expected(reading, at, "a shorter text");
		ret_text[used++] = c;
		at++;
	}
	ret_text[used] = '\0';
	return true;
}

static bool number(const struct reading *reading, const char *at, const char *end, unsigned max,
                   const char *what, unsigned *ret_number)
{
	unsigned value = 0;

	if (at == end)
		return expected(reading, at, what);
	for (const char *digit = at; digit < end; digit++) {
		if (*digit < '0' || *digit > '9')
			return expected(reading, digit, what);
		value = value * 10 + (unsigned)(*digit - '0');
		if (value > max)
			return expected(reading, at, what);
	}
	*ret_number = value;
	return true;
}

static bool read_user(struct reading *reading, const char *end, struct redis_url *url)
{
	const char *sign = memrchr(reading->at, '@', (size_t)(end - reading->at));
	const char *colon;

	if (!sign)
		return true;
	colon = memchr(reading->at, ':', (size_t)(sign - reading->at));
	if (sign == reading->at)
		return expected(reading, sign, "a user or :password before @");
	if (!colon) {
		if (!decode(reading, reading->at, sign, url->user, sizeof(url->user)))
			return false;
		reading->at = sign + 1;
		return true;
	}
	if (colon + 1 == sign)
		return expected(reading, sign, "a password before @");
	if (!decode(reading, reading->at, colon, url->user, sizeof(url->user)) ||
	    !decode(reading, colon + 1, sign, url->password, sizeof(url->password)))
		return false;
	reading->at = sign + 1;
	return true;
}

/* A name is put into a look-up and into logs: only what names are made of. */
static bool copy_name(const struct reading *reading, const char *at, const char *end, bool numeric,
                      char *ret_name)
{
	if (at == end)
		return expected(reading, at, "a host");
	if ((size_t)(end - at) >= REDIS_HOST_MAX)
		return expected(reading, at, "a host of at most 255 bytes");
	for (const char *c = at; c < end; c++) {
		bool word = (*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z');

		if (!word && *c != '.' &&
		    !(numeric ? *c == ':' || *c == '%' : *c == '-' || *c == '_'))
			return expected(reading, c, numeric ? "an IPv6 address" : "a host");
	}
	memcpy(ret_name, at, (size_t)(end - at));
	ret_name[end - at] = '\0';
	return true;
}

static bool read_host(struct reading *reading, const char *end, unsigned port,
                      struct redis_host *host)
{
	const char *at = reading->at;
	const char *name_end, *after;
	bool numeric = at < end && *at == '[';

	if (numeric) {
		name_end = memchr(at, ']', (size_t)(end - at));
		if (!name_end)
			return expected(reading, end, "] after an IPv6 address");
		at++;
		after = name_end + 1;
	} else {
		name_end = memchr(at, ':', (size_t)(end - at));
		name_end = name_end ? name_end : end;
		after = name_end;
	}
	if (!copy_name(reading, at, name_end, numeric, host->name))
		return false;
	if (after < end && *after != ':')
		return expected(reading, after, "a colon and a port");
	if (after < end && !number(reading, after + 1, end, 65535, "a port from 1 to 65535", &port))
		return false;
	if (port == 0)
		return expected(reading, after + 1, "a port from 1 to 65535");
	host->port = (uint16_t)port;
	reading->at = end;
	return true;
}

static bool read_hosts(struct reading *reading, const char *end, struct redis_url *url)
{
	bool sentinels = url->place == REDIS_BY_SENTINEL;

	for (;;) {
		const char *comma = memchr(reading->at, ',', (size_t)(end - reading->at));

		if (url->host_count == REDIS_HOSTS_MAX)
			return expected(reading, reading->at, "at most 8 hosts");
		if (!read_host(reading, comma ? comma : end,
		               sentinels ? REDIS_SENTINEL_PORT : REDIS_PORT,
		               &url->hosts[url->host_count]))
			return false;
		url->host_count++;
		if (!comma)
			return true;
		reading->at = comma + 1;
	}
}

static bool read_db(struct reading *reading, struct redis_url *url)
{
	const char *end = reading->at + strlen(reading->at);

	return number(reading, reading->at, end, REDIS_DB_MAX, "a database from 0 to 16383",
	              &url->db);
}

/* What follows the authority: nothing, "/db", or for sentinels "/name[/db]". */
static bool read_tail(struct reading *reading, struct redis_url *url)
{
	if (url->place == REDIS_BY_SENTINEL) {
		const char *end;

		if (*reading->at != '/')
			return expected(reading, reading->at, "/ and the primary's name");
		reading->at++;
		end = strchrnul(reading->at, '/');
		if (end == reading->at)
			return expected(reading, end, "the primary's name");
		if (!decode(reading, reading->at, end, url->primary, sizeof(url->primary)))
			return false;
		reading->at = end;
	}
	if (*reading->at == '\0')
		return true;
	if (*reading->at != '/')
		return expected(reading, reading->at, "/ and a database, or the end");
	reading->at++;
	return *reading->at == '\0' || read_db(reading, url);
}

static bool read_unix(struct reading *reading, struct redis_url *url)
{
	const char *end;

	if (strncmp(reading->at, "//", 2) == 0) {
		reading->at += 2;
		end = strchrnul(reading->at, '/');
		if (!read_user(reading, end, url))
			return false;
	}
	if (*reading->at != '/')
		return expected(reading, reading->at, "an absolute path");
	end = strchrnul(reading->at, '?');
	if (end - reading->at < 2)
		return expected(reading, end, "a path");
	if (!decode(reading, reading->at, end, url->path, sizeof(url->path)))
		return false;
	reading->at = end;
	if (*end == '\0')
		return true;
	if (strncmp(end, "?db=", strlen("?db=")) != 0)
		return expected(reading, end, "?db=N or the end");
	reading->at += strlen("?db=");
	return read_db(reading, url);
}

static bool read_scheme(struct reading *reading, struct redis_url *url)
{
	static const struct {
		const char *text;
		enum redis_place place;
		bool tls;
	} schemes[] = {
		{ "redis://", REDIS_AT_HOST, false },
		{ "rediss://", REDIS_AT_HOST, true },
		{ "valkey://", REDIS_AT_HOST, false },
		{ "valkeys://", REDIS_AT_HOST, true },
		{ "unix:", REDIS_AT_PATH, false },
		{ "redis+sentinel://", REDIS_BY_SENTINEL, false },
		{ "rediss+sentinel://", REDIS_BY_SENTINEL, true },
	};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t len = strlen(schemes[i].text);

		if (strncmp(reading->at, schemes[i].text, len) == 0) {
			url->place = schemes[i].place;
			url->tls = schemes[i].tls;
			reading->at += len;
			return true;
		}
	}
	return expected(reading, reading->at,
	                "redis://, rediss://, unix:///, redis+sentinel:// or rediss+sentinel://");
}

bool redis_url_read(const char *text, struct redis_url *ret_url, struct error *error)
{
	struct reading reading = { .text = text, .at = text, .error = error };
	struct redis_url url = { 0 };

	if (!read_scheme(&reading, &url))
		return false;
	if (url.place == REDIS_AT_PATH) {
		if (!read_unix(&reading, &url))
			return false;
	} else {
		const char *end = reading.at + strcspn(reading.at, "/?");

		if (!read_user(&reading, end, &url) || !read_hosts(&reading, end, &url) ||
		    !read_tail(&reading, &url))
			return false;
	}
	*ret_url = url;
	return true;
}

/* Appends; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t *used, const char *format,
                                                      ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(text + *used, REDIS_URL_SHOWN_MAX - *used, format, arguments);
	va_end(arguments);
	if (more > 0)
		*used += (size_t)more;
	if (*used >= REDIS_URL_SHOWN_MAX)
		*used = REDIS_URL_SHOWN_MAX - 1;
}

void redis_url_show(const struct redis_url *url, char ret_text[REDIS_URL_SHOWN_MAX])
{
	static const char *const names[] = {
		[REDIS_AT_HOST] = "redis",
		[REDIS_AT_PATH] = "unix",
		[REDIS_BY_SENTINEL] = "redis",
	};
	bool sentinels = url->place == REDIS_BY_SENTINEL;
	size_t used = 0;

	add(ret_text, &used, "%s%s%s://", names[url->place], url->tls ? "s" : "",
	    sentinels ? "+sentinel" : "");
	if (url->user[0] != '\0' || url->password[0] != '\0')
		add(ret_text, &used, "%s%s@", url->user, url->password[0] != '\0' ? ":****" : "");
	for (unsigned i = 0; i < url->host_count; i++) {
		bool numeric = strchr(url->hosts[i].name, ':') != NULL;

		add(ret_text, &used, "%s%s%s%s:%u", i > 0 ? "," : "", numeric ? "[" : "",
		    url->hosts[i].name, numeric ? "]" : "", (unsigned)url->hosts[i].port);
	}
	add(ret_text, &used, "%s%s%s", url->path, sentinels ? "/" : "", url->primary);
	if (url->db != 0)
		add(ret_text, &used, "%s%u", url->place == REDIS_AT_PATH ? "?db=" : "/", url->db);
}
