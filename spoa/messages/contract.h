/* contract.h - the words we share with HAProxy: arguments, variables, and the
 * fields of the end-of-stream line.
 *
 * These lists are the only place where the names stand. The SPOE file and the
 * log format are generated from them, the checker compares a haproxy.cfg with
 * them, the decoders look names up in them, docs/wire.md is printed from them.
 *
 * Contract 1. A new field goes to the end; a changed meaning is contract 2. */
#pragma once

enum { CONTRACT_VERSION = 1 };

#define CONTRACT_ENGINE     "infer"
#define CONTRACT_ROUTE      "infer-route" /* group and message that ask */
#define CONTRACT_FIRST      "infer-first" /* group and message that report the first byte */
#define CONTRACT_BACKEND    "infer-agents"
#define CONTRACT_END_PREFIX "infer v=1 "
#define CONTRACT_HEADER     "hdr." /* before the name of a header, as an argument of infer-route */

/* ARGUMENT(id, name, HAProxy's expression, help) of infer-route, in file order.
 * The ladder's h0...hN follow, generated, and hdr.NAME for other headers that affinity
 * rules look at. Any may be NULL or of another type. */
#define ROUTE_ARGUMENTS(ARGUMENT)                                                                  \
	ARGUMENT(VERSION, "v", "int(1)", "version of this contract")                               \
	ARGUMENT(ID, "id", "unique-id", "HAProxy's unique-id, the only key of a request")          \
	ARGUMENT(BACKEND, "be", "var(txn.infer_be)",                                               \
	         "the instance, where HAProxy chose it: then only the replica is asked for")       \
	ARGUMENT(METHOD, "method", "method", "HTTP method")                                        \
	ARGUMENT(HOST, "host", "req.fhdr(host)", "host header")                                    \
	ARGUMENT(PATH, "path", "path", "path of the URL")                                          \
	ARGUMENT(MODEL, "model", "var(txn.infer_model)", "model the client asks for")              \
	ARGUMENT(TENANT, "tenant", "var(txn.infer_tenant)",                                        \
	         "seeded hash of the credential, or a name from a map")                            \
	ARGUMENT(PRIORITY, "prio", "req.fhdr(x-infer-priority)", "priority, of trusted clients")   \
	ARGUMENT(STRATEGY, "strat", "req.fhdr(x-infer-strategy)", "strategy, of trusted clients")  \
	ARGUMENT(ROUTING_STRATEGY, "rstrat", "req.fhdr(routing-strategy)",                         \
	         "strategy, of any client")                                                        \
	ARGUMENT(EXCLUDE, "excl", "req.fhdr(x-infer-exclude)", "replicas not to use")              \
	ARGUMENT(CLIENT_ID, "cid", "req.fhdr(x-request-id)", "the client's own id")                \
	ARGUMENT(RETRY, "retry", "req.fhdr(x-stainless-retry-count)", "the client's try")          \
	ARGUMENT(TIMEOUT, "tmo", "req.fhdr(x-stainless-read-timeout)", "the client's patience, s") \
	ARGUMENT(SESSION0, "s0", "var(txn.infer_s0)", "session: x-infer-session")                  \
	ARGUMENT(SESSION1, "s1", "req.fhdr(x-aibrix-session-key)", "session key")                  \
	ARGUMENT(SESSION2, "s2", "req.fhdr(x-claude-code-session-id)", "session key")              \
	ARGUMENT(SESSION3, "s3", "req.fhdr(session-id)", "session key")                            \
	ARGUMENT(SESSION4, "s4", "req.fhdr(session_id)", "session key")                            \
	ARGUMENT(SESSION5, "s5", "req.fhdr(x-session-id)", "session key")                          \
	ARGUMENT(SESSION6, "s6", "req.fhdr(x-session-affinity)", "session key")                    \
	ARGUMENT(SESSION7, "s7", "req.fhdr(x-session-token)", "session key")                       \
	ARGUMENT(SESSION8, "s8", "req.fhdr(x-smg-routing-key)", "session key")                     \
	ARGUMENT(SESSION9, "s9", "req.fhdr(x-client-request-id)", "session key, the last resort")  \
	ARGUMENT(BODY_BYTES, "blen", "req.body_len", "bytes of the body that are visible")         \
	ARGUMENT(BODY_TOTAL, "bsize", "req.body_size", "bytes of the body as announced")           \
	ARGUMENT(PROMPT_BYTES, "plen", "var(txn.infer_plen)", "bytes of the prompt visible")       \
	ARGUMENT(LADDER, "lid", "", "the ladder's id; its expression is generated")                \
	ARGUMENT(AFFINITY, "hdr.x-infer-affinity", "req.fhdr(x-infer-affinity)",                   \
	         "for affinity rules, of trusted clients; other headers as hdr.NAME")              \
	ARGUMENT(SLO_TTFT, "slo-ttft", "req.fhdr(x-slo-ttft-ms)",                                  \
	         "ms to the first token, as the client wants it")                                  \
	ARGUMENT(SLO_TPOT, "slo-tpot", "req.fhdr(x-slo-tpot-ms)", "ms from token to token")        \
	ARGUMENT(SLO_E2E, "slo-e2e", "req.fhdr(x-slo-e2e-ms)", "ms of the whole request")

/* Of infer-first. */
#define FIRST_ARGUMENTS(ARGUMENT)                                                                  \
	ARGUMENT(VERSION, "v", "int(1)", "version of this contract")                               \
	ARGUMENT(ID, "id", "unique-id", "HAProxy's unique-id")                                     \
	ARGUMENT(BACKEND, "be", "be_name", "backend that serves")                                  \
	ARGUMENT(SERVER, "srv", "srv_name", "server that serves")                                  \
	ARGUMENT(ADDRESS, "addr", "bc_dst", "its address")                                         \
	ARGUMENT(PORT, "port", "bc_dst_port", "its port")                                          \
	ARGUMENT(STATUS, "st", "status", "status of the response")

/* VARIABLE(id, name, type, help): what we may answer, in scope txn, behind the
 * prefix "infer". register-var-names is made of it. */
#define VARIABLES(VARIABLE)                                                                        \
	VARIABLE(INSTANCE, "instance", string, "the backend to use")                               \
	VARIABLE(REPLICA, "replica", string, "the server in it; never without instance")           \
	VARIABLE(ACTION, "action", string, "route, reject, default or observe; always set")        \
	VARIABLE(STATUS, "status", integer, "only to refuse: 400, 404, 429, 503")                  \
	VARIABLE(REASON, "reason", string, "why, in one word")                                     \
	VARIABLE(PRIORITY, "priority", integer, "priority class, lower first")                     \
	VARIABLE(PRIORITY_OFFSET, "priority_offset", integer, "ms, inside a class")                \
	VARIABLE(RETRY_AFTER, "retry_after", integer, "seconds, with a refusal")                   \
	VARIABLE(MODEL, "model", string, "the model's name at the instance, if another")           \
	VARIABLE(PREFILL, "prefill", string, "ip:port of the prefill engine")                      \
	VARIABLE(SESSION, "session", string, "session id for the client")                          \
	VARIABLE(RANK, "rank", integer, "data-parallel rank of the replica, where it has ranks")   \
	VARIABLE(STRATEGY, "strategy", string,                                                     \
	         "what the score was made of, where a header or profile chose")                    \
	VARIABLE(CODE, "code", string, "with 429: what the client is told that it exceeded")       \
	VARIABLE(QUOTA_REQUESTS, "quota_requests", string,                                         \
	         "of the caller's limit of requests: limit;left;time until all is there")          \
	VARIABLE(QUOTA_TOKENS, "quota_tokens", string, "the same of its limit of tokens")

/* FIELD(id, name, HAProxy's expression, help): the end-of-stream line behind
 * CONTRACT_END_PREFIX, in this order, as name=value with one space between. */
#define END_FIELDS(FIELD)                                                                          \
	FIELD(EVENT, "ev", "end", "end")                                                           \
	FIELD(ID, "id", "%ID", "unique-id")                                                        \
	FIELD(PROCESS, "hp", "%H/%pid", "host and pid of the HAProxy process")                     \
	FIELD(BACKEND, "be", "%b", "backend that served")                                          \
	FIELD(SERVER, "srv", "%s", "server that served; <NOSRV> for none")                         \
	FIELD(ADDRESS, "addr", "%si:%sp", "its address; split at the last colon")                  \
	FIELD(STATUS, "st", "%ST", "status, -1 for none")                                          \
	FIELD(TERMINATION, "ts", "%tsc", "termination state")                                      \
	FIELD(RETRIES, "rc", "%rc", "retries; + in front: moved to another server")                \
	FIELD(INSTANCE, "in", "%[var(txn.infer.instance)]", "our answer as HAProxy holds it")      \
	FIELD(REPLICA, "re", "%[var(txn.infer.replica)]", "our answer as HAProxy holds it")        \
	FIELD(ACTION, "ac", "%[var(txn.infer.action)]", "our answer as HAProxy holds it")          \
	FIELD(REASON, "why", "%[var(txn.infer.reason)]", "our answer as HAProxy holds it")         \
	FIELD(ERROR, "err", "%[var(txn.infer.err)]", "SPOE error; - for none")                     \
	FIELD(PROCESSING, "pt", "%[var(txn.infer.pt)]", "ms waited for the answer")                \
	FIELD(DECIDED, "t0", "%[var(txn.infer_t0)]", "epoch ms when it asked; - = not routed")     \
	FIELD(FIRST_BYTE, "t1", "%[var(txn.infer_t1)]", "epoch ms of the first body byte")         \
	FIELD(RETRY_AFTER, "ra", "%[var(txn.infer_ra)]", "the engine's retry-after on 429, 503")   \
	FIELD(QUEUE_MS, "Tw", "%Tw", "ms in queues")                                               \
	FIELD(CONNECT_MS, "Tc", "%Tc", "ms to connect")                                            \
	FIELD(RESPONSE_MS, "Tr", "%Tr", "ms to the headers")                                       \
	FIELD(DATA_MS, "Td", "%Td", "ms of data")                                                  \
	FIELD(TOTAL_MS, "Ta", "%Ta", "ms in all")                                                  \
	FIELD(BYTES_IN, "U", "%U", "bytes from the client")                                        \
	FIELD(BYTES_OUT, "B", "%B", "bytes to the client")                                         \
	FIELD(SERVER_QUEUE, "sq", "%sq", "requests ahead in the server's queue")                   \
	FIELD(BACKEND_QUEUE, "bq", "%bq", "requests ahead in the backend's queue")                 \
	FIELD(FIRST_TRY, "f1", "%[var(txn.infer_f1)]",                                             \
	      "status/retry-after/server of the first answer of 400 or more, of a try that "       \
	      "HAProxy "                                                                           \
	      "may have hidden; may be missing")

/* Lines of a configuration that was written for an older agent may end after so many. */
enum { END_FIELDS_AT_FIRST = 27 };
