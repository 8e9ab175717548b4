/* greeting.h - what is said first on a new connection, and whether the store is one to use. */
#pragma once

#include "redis/connection.h"

struct redis_greeting {
	struct redis_connection *connection;
	const struct redis_options *options; /* borrowed: url, password_file, client_name */
	bool primary;                        /* ask what it is, and take a primary only */
	void *data;
	/* One of them, once, unless the connection breaks first. */
	void (*on_greeted)(void *data);
	void (*on_refused)(void *data, enum redis_fault fault, const char *text);
};

/* On a connection that has just opened: AUTH, CLIENT SETNAME, SELECT, ROLE, PING in one
 * go. on_refused may be called from inside, when the password cannot be read. */
void redis_greet(struct redis_greeting *greeting);
