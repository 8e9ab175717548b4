/* notify.h - tells the service manager how we are: ready, reloading, stopping, alive.
 *
 * The protocol of systemd's sd_notify(3): datagrams of NAME=VALUE lines to the unix
 * socket that NOTIFY_SOCKET names. Forty lines of our own, because libsystemd brings a
 * cipher and three compressors into a process that needs none of them. Without a
 * manager every call does nothing. */
#pragma once

#include "policies/core/time.h"

struct notify {
	int fd;          /* -1: nobody wants to know */
	usec_t watchdog; /* notify_alive() is wanted at least this often; 0: it is not */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment. */
void notify_open(struct notify *notify);
/* May be called twice, and on a struct that is all -1 and 0. */
void notify_close(struct notify *notify);

/* A change of state, as lines with '\n' between: "READY=1\nSTATUS=...". Waits for a busy
 * manager for at most 100 ms; longer lines than 512 bytes are cut. */
void notify_tell(const struct notify *notify, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The sign of life of the watchdog; never waits, another one follows. */
void notify_alive(const struct notify *notify);
