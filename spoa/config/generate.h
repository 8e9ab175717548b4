/* generate.h - what HAProxy reads, printed from the contract and the ladder.
 *
 * The names come from spoa/messages/contract.h, the blocks from a struct ladder;
 * nothing in haproxy/ is written by hand except its README.md and models.map,
 * and a test compares every file there with what these functions print.
 *
 * There are two ways to hash a prompt. The *prompt form* runs on 2.6 and newer:
 * it copies the prompt into a variable and hashes slices of it. The *head form*
 * needs 3.0: it only finds where the prompt begins, within the first
 * GENERATE_HEAD bytes, and hashes slices of the body itself. Whole blocks hash
 * alike in both where the prompt's key lies within the head; else the head form
 * hashes the whole body, and says so by a larger plen. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "policies/core/error.h"
#include "policies/core/ladder.h"
#include "policies/core/span.h"

enum {
	GENERATE_HEAD = 2048,           /* bytes in which the head form looks for the prompt */
	GENERATE_LINE_MAX = 2048,       /* HAProxy's longest line, with its NUL */
	GENERATE_WORDS_MAX = 64,        /* words of a line */
	GENERATE_ARGUMENTS_MAX = 255,   /* of a message; HAProxy wraps the count silently */
	GENERATE_HEAD_FORM_SINCE = 300, /* version from which the head form is printed */
	GENERATE_INSTANCES_MAX = 64,
	GENERATE_SESSION_KEYS_MAX = 4,
	GENERATE_HEADERS_MAX = 7,   /* with the contract's own as many as a request has room for */
	GENERATE_BACKENDS_MAX = 48, /* one line of HAProxy's names them all */
	GENERATE_BACKENDS_BYTES = 1536, /* with the blanks between them */
	GENERATE_AGENTS_MAX = 4,
	GENERATE_SPOP_PORT = 9000,
	GENERATE_INGRESS_VERSION = 302, /* what haproxytech's ingress runs, if nobody says */
};

enum generate_regex {
	GENERATE_REGEX_ANY, /* an .if that asks HAProxy */
	GENERATE_REGEX_PCRE,
	GENERATE_REGEX_POSIX,
};

enum generate_topology {
	GENERATE_COMBINED, /* one HAProxy, one agent, both levels */
	GENERATE_UPPER,    /* level 1 only: a server is a lower HAProxy */
	GENERATE_LOWER,    /* level 2 only: the instance is given */
};

/* Only for generate_ingress and generate_ingress_service; all strings borrowed. */
struct generate_ingress {
	bool on;          /* set by them: the frontend is the ingress' own */
	const char *name; /* of the chart's release: its ConfigMaps and Secrets begin with it */
	/* Backends of the ingress that are instances; none: every one that a rule matches. */
	const char *backends[GENERATE_BACKENDS_MAX];
	size_t backend_count;
	/* Hosts of agents with a Deployment of their own; none: a side-car. */
	struct span agents[GENERATE_AGENTS_MAX];
	unsigned agent_ports[GENERATE_AGENTS_MAX]; /* of SPOP */
	size_t agent_count;
};

struct generate {
	struct ladder ladder;
	unsigned version; /* 100 * major + minor of HAProxy; 0 = any from 2.6 on */
	enum generate_regex regex;
	enum generate_topology topology;
	/* "NAME=ADDRESS,ADDRESS...", borrowed: these backends and engines instead of the
	 * example's. The first is the default backend. Not for GENERATE_UPPER. */
	const char *instances[GENERATE_INSTANCES_MAX];
	size_t instance_count;
	/* Borrowed: the user and group that HAProxy serves as; NULL: those it is started by. */
	const char *user;
	/* Borrowed: headers that affinity rules look at, sent beside the contract's own. */
	const char *headers[GENERATE_HEADERS_MAX];
	size_t header_count;
	/* Borrowed: keys of a JSON body that name a session where x-infer-session does not,
	 * the first that is there. A key that stands late costs HAProxy about 2 ns a byte. */
	const char *session_keys[GENERATE_SESSION_KEYS_MAX];
	size_t session_key_count;
	/* Borrowed: where the agent answers HAProxy's agent-check; NULL: it is not asked. */
	const char *agent_check;
	struct span agent_check_host;
	unsigned agent_check_port;
	struct generate_ingress ingress;
};

/* The default ladder, any version, any regex, combined. */
void generate_init(struct generate *generate);

/* Reads "2.6", "3.0"...; "any" is 0. Below 2.6 is an error. */
MUST_CHECK bool generate_version(const char *text, unsigned *ret_version, struct error *error);
MUST_CHECK bool generate_regex(const char *text, enum generate_regex *ret_regex,
                               struct error *error);
MUST_CHECK bool generate_topology(const char *text, enum generate_topology *ret_topology,
                                  struct error *error);

/* Adds a header to those that are sent; its name in small letters, digits, - and _. */
MUST_CHECK bool generate_header(struct generate *generate, const char *text, struct error *error);
/* Adds a key of the body, "prompt_cache_key" or "metadata.user_id". */
MUST_CHECK bool generate_session_key(struct generate *generate, const char *text,
                                     struct error *error);
/* Adds a "NAME=ADDRESS,ADDRESS...". */
MUST_CHECK bool generate_instance(struct generate *generate, const char *text, struct error *error);
/* Reads HOST:PORT, or [IPV6]:PORT: each server then asks the agent there for its weight and
 * maxconn. */
MUST_CHECK bool generate_agent_check(struct generate *generate, const char *text,
                                     struct error *error);
/* The name of a user of the system, who has a group of the same name. */
MUST_CHECK bool generate_user(struct generate *generate, const char *text, struct error *error);
/* Adds a backend of the ingress, as its controller names it: NAMESPACE_svc_SERVICE_PORT. */
MUST_CHECK bool generate_backend(struct generate *generate, const char *text, struct error *error);
/* Adds an agent that is no side-car: its IPv4 address, or ADDRESS:PORT if HAProxy asks it at
 * another port than 9000: each HAProxy whose servers have other names has a port of its own. */
MUST_CHECK bool generate_agent(struct generate *generate, const char *text, struct error *error);
/* The name of the chart's release: small letters, digits and -, at most 40. */
MUST_CHECK bool generate_name(struct generate *generate, const char *text, struct error *error);
/* Its NAME, or the example's first backend; not terminated. */
struct span generate_first_instance(const struct generate *generate);

/* True if this version gets the head form. */
bool generate_head_form(unsigned version);

/* The SPOE file. The only error is a ladder that makes too many arguments; then
 * nothing has been printed. */
MUST_CHECK bool generate_spoe(const struct generate *generate, FILE *out, struct error *error);

/* The value of log-format, one line, quoted as HAProxy wants it. */
void generate_log_format(FILE *out);

/* The rules that find the prompt and set txn.infer_plen. */
void generate_prompt(const struct generate *generate, FILE *out);

/* The lines of a frontend behind its bind. */
void generate_routing(const struct generate *generate, FILE *out);

/* A whole haproxy.cfg that runs. */
void generate_config(const struct generate *generate, FILE *out);

/* Values for haproxytech's chart kubernetes-ingress, as YAML: timeouts, the snippets of
 * global and frontends, the auxiliary file, and the agent as a side-car. Not for
 * GENERATE_UPPER. False only when memory runs out. */
MUST_CHECK bool generate_ingress(const struct generate *generate, FILE *out, struct error *error);
/* The annotations of a Service whose pods are replicas, as YAML. */
MUST_CHECK bool generate_ingress_service(const struct generate *generate, FILE *out,
                                         struct error *error);

/* docs/wire.md. */
void generate_wire(FILE *out);
