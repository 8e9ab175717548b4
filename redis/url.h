/* url.h - where the store is, from one text:
 *
 *     redis://[[user][:password]@]host[:port][,host[:port]…][/db]
 *     rediss://…                                        the same over TLS
 *     unix://[[user][:password]@]/path[?db=N]             also unix:/path
 *     redis+sentinel://[[user][:password]@]host[:port],host[:port]…/name[/db]
 *     rediss+sentinel://…                               the same, sentinels and stores over TLS
 *
 * valkey:// and valkeys:// are redis:// and rediss://. Several hosts are nodes of one
 * cluster, tried in turn; they are never independent stores.
 *
 * User and password may have %XX. An IPv6 address stands in [ ]. The password is
 * better kept in a file, then "user@" stands there or nothing: a command line is read by
 * everybody on the machine. */
#pragma once

#include <stdint.h>

#include "policies/core/error.h"

enum {
	REDIS_HOSTS_MAX = 8,
	REDIS_HOST_MAX = 256, /* bytes, with the NUL, here and below */
	REDIS_PATH_MAX = 108, /* sun_path */
	REDIS_USER_MAX = 128,
	REDIS_PASSWORD_MAX = 512,
	REDIS_PRIMARY_MAX = 128,
	REDIS_DB_MAX = 16383,
	REDIS_PORT = 6379,
	REDIS_SENTINEL_PORT = 26379,
};

struct redis_host {
	char name[REDIS_HOST_MAX]; /* a name, or an address without [ ] */
	uint16_t port;
};

enum redis_place {
	REDIS_AT_HOST,     /* one, or any of a cluster */
	REDIS_AT_PATH,     /* a unix socket */
	REDIS_BY_SENTINEL, /* hosts are the sentinels */
};

struct redis_url {
	enum redis_place place;
	bool tls;
	struct redis_host hosts[REDIS_HOSTS_MAX];
	unsigned host_count;             /* 0 for REDIS_AT_PATH, else 1.. */
	char path[REDIS_PATH_MAX];       /* absolute; "" but for REDIS_AT_PATH */
	char primary[REDIS_PRIMARY_MAX]; /* what the sentinels call it; "" but for REDIS_BY_SENTINEL
	                                  */
	char user[REDIS_USER_MAX];       /* "": the default user */
	char password[REDIS_PASSWORD_MAX]; /* "": none */
	unsigned db;
};

/* The error names the place (column from 1) and what was expected, never the password. */
MUST_CHECK bool redis_url_read(const char *text, struct redis_url *ret_url, struct error *error);

enum { REDIS_URL_SHOWN_MAX = 512 };
/* For logs and pages: as it was, with **** for the password. Always ends in NUL. */
void redis_url_show(const struct redis_url *url, char ret_text[REDIS_URL_SHOWN_MAX]);
