/* check_facts.h - one filter of ours in a haproxy.cfg, and all it hangs together
 * with: what the rules of check_*.c look at.
 *
 * A file may hold several filters (a split in one HAProxy); each gets its own
 * facts and its own walk over the rules. What two walks find alike is reported
 * once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spoa/config/check_haproxy.h"
#include "spoa/config/haproxy_cfg.h"

enum { FACTS_PROXIES_MAX = 512, FACTS_FILES_MAX = 16 };

/* A frontend, backend or listen, and the defaults it stands on. */
struct proxy {
	const struct haproxy_section *section;
	const struct haproxy_section *defaults; /* NULL for none */
	char title[80];                         /* "backend svc-a" */
	bool instance;                          /* its servers are replicas, or lower HAProxys */
};

struct facts {
	const struct check_options *options;
	struct problems *problems;
	const struct ladder *ladder;
	uint32_t version; /* as haproxy_condition_version(); of the walk */
	unsigned ttl_s;

	const char *path;
	const struct haproxy_cfg *cfg; /* of all files together */
	struct {
		const char *path;
		uint32_t end; /* its sections are those from the file before up to here */
	} files[FACTS_FILES_MAX];
	uint32_t file_count;
	const struct haproxy_section *global; /* NULL for none; the last one */
	struct proxy proxies[FACTS_PROXIES_MAX];
	uint32_t proxy_count;

	const char *spoe_path;
	const struct haproxy_cfg *spoe;
	const struct haproxy_section *agent; /* spoe-agent */
	const struct haproxy_section *route; /* spoe-message infer-route */
	const struct haproxy_section *first; /* spoe-message infer-first, NULL for none */
	const struct proxy *frontend;        /* the proxy with the filter; may be a backend */
	const struct proxy *agents;          /* backend of the agent; NULL if there is none */
	const char *engine;                  /* of the filter */
	const char *prefix;                  /* of our variables, behind "txn." */
	const char *agents_name;             /* use-backend; "" for none */
	const struct haproxy_line *ours;     /* check_ours.h; NULL: all are */
};

/* Finds the proxies. False if there are too many, which is reported. */
bool facts_proxies(struct facts *facts);

/* Fills the second half for a filter line; false if the SPOE file is not ours. */
bool facts_filter(struct facts *facts, const struct proxy *proxy, const char *engine);

const struct proxy *facts_proxy_named(const struct facts *facts, const char *name);

/* Lines: the i-th of the defaults and then of the proxy itself; NULL after the last. */
const struct haproxy_line *proxy_line(const struct proxy *proxy, uint32_t i);
/* The last line whose first words are these; second may be NULL. */
const struct haproxy_line *proxy_setting(const struct proxy *proxy, const char *first,
                                         const char *second);
/* Whether "option NAME" holds; ret_line, if wanted, is what said so or NULL. */
bool proxy_option(const struct proxy *proxy, const char *name,
                  const struct haproxy_line **ret_line);
/* Server lines, server-template included: the i-th, NULL after the last. */
const struct haproxy_line *proxy_server(const struct proxy *proxy, uint32_t i);
/* What a server says of a word ("maxconn"), its default-server included: the
 * word behind it, "" if it stands alone, NULL if it is not there. */
const char *proxy_server_word(const struct proxy *proxy, const struct haproxy_line *server,
                              const char *word);

/* True if a word of the line is, or holds, this. */
bool line_has(const struct haproxy_line *line, const char *word);
bool line_holds(const struct haproxy_line *line, const char *part);
/* The word behind this one; NULL if it is not there. */
const char *line_after(const struct haproxy_line *line, const char *word);
/* True if the line is an http-request rule that deletes this header; of a name that ends
 * with "-": all that begin so. */
bool line_deletes(const struct haproxy_line *line, const char *header);
/* True if the condition of the line asks for this text, itself or by the name of
 * an acl of the proxy; negated, if wanted so. */
bool line_asks(const struct proxy *proxy, const struct haproxy_line *line, const char *part,
               bool negated);

/* Milliseconds of HAProxy's time; false if it is none. */
bool time_ms(const char *text, double *ret_ms);
/* ret_ms of "timeout NAME"; false if it is not set. */
bool proxy_timeout(const struct proxy *proxy, const char *name, double *ret_ms);

/* Adds a problem of the main file, at a line, for a proxy or NULL. */
void report(const struct facts *facts, const struct haproxy_line *line, const struct proxy *proxy,
            enum severity severity, const char *rule, const char *format, ...)
        __attribute__((format(printf, 6, 7)));
/* The same of the SPOE file. */
void report_spoe(const struct facts *facts, const struct haproxy_line *line, enum severity severity,
                 const char *rule, const char *format, ...) __attribute__((format(printf, 5, 6)));
