/* options.c - every knob, its range and its default. */
#include "policies/defaults.h"

#define OF_POLICY(field)   offsetof(struct policy, field)
#define OF_PREFIX(field)   offsetof(struct prefix_policy, field)
#define OF_HEALTH(field)   offsetof(struct health_policy, field)
#define OF_ENTRY(field)    offsetof(struct entry_policy, field)
#define OF_LIMITS(field)   offsetof(struct limits, field)
#define OF_INSTANCE(field) offsetof(struct instance_policy, field)
#define OF_REPLICA(field)  offsetof(struct replica_policy, field)
#define OF_AFFINITY(field) offsetof(struct affinity, field)
#define OF_SESSION(field)  offsetof(struct session_policy, field)
#define OF_SHARING(field)  offsetof(struct sharing_policy, field)
#define OF_BLEND(field)    offsetof(struct blend_policy, field)
#define OF_TENANT(field)   offsetof(struct tenant_policy, field)
#define OF_QUOTA(field)    offsetof(struct quota, field)

#define DAY     (86400.0 * 1e6)
#define MINUTES (60.0 * 1e6)
#define SECONDS (1e6)

const struct option policy_options[] = {
	{ "levels", OPTION_CHOICE, OF_POLICY(levels), 0, 2, LEVELS_BOTH, "",
	  "Whether this agent chooses the instance, the replica, or both.", "both|instance|replica",
	  false },
	{ "bytes-per-token", OPTION_NUMBER, OF_POLICY(bytes_per_token), 0.5, 32, 4, "bytes",
	  "How many bytes of prompt make a token, on average.", NULL, false },
	{ "default-output-tokens", OPTION_NUMBER, OF_POLICY(default_output_tokens), 1, 1e6, 256,
	  "tokens", "How long an answer is expected to be.", NULL, false },
	{ "reject-on-overload", OPTION_BOOL, OF_POLICY(reject_on_overload), 0, 1, 1, "",
	  "Refuse a request when every candidate is over its hard limits by trusted numbers.", NULL,
	  false },
	{ "overload-status", OPTION_COUNT, OF_POLICY(overload_status), 429, 503, 429, "",
	  "Status of a refusal for overload, 429 or 503.", NULL, false },
	{ "reject-unknown-model", OPTION_BOOL, OF_POLICY(reject_unknown_model), 0, 1, 0, "",
	  "Answer 404 for a model that nobody serves, instead of leaving it to HAProxy.", NULL,
	  false },
	{ "limits-need-redis", OPTION_BOOL, OF_POLICY(limits_need_redis), 0, 1, 0, "",
	  "Refuse requests that have a limit while the store is away, in place of limiting them by "
	  "what "
	  "this agent alone knows.",
	  NULL, false },
	{ "lock-strategy", OPTION_BOOL, OF_POLICY(lock_strategy), 0, 1, 0, "",
	  "Ignore the strategy that a request header asks for.", NULL, false },
	{ "reject-unknown-strategy", OPTION_BOOL, OF_POLICY(reject_unknown_strategy), 0, 1, 0, "",
	  "Answer 400 to a header that asks for an unknown strategy, instead of taking the next "
	  "that "
	  "counts.",
	  NULL, false },
	{ "stale-after", OPTION_DURATION, OF_POLICY(stale_after), 0.1 * SECONDS, 10 * MINUTES,
	  3 * SECONDS, "", "Age from which a reading of an engine or of HAProxy is unknown.", NULL,
	  false },
	{ "ledger-ttl", OPTION_DURATION, OF_POLICY(ledger_ttl), 10 * SECONDS, DAY, 10 * MINUTES, "",
	  "Age at which a request whose end was never seen stops counting as load.", NULL, true },
	{ "ledger-width", OPTION_DURATION, OF_POLICY(ledger_width), 1 * SECONDS, 5 * MINUTES,
	  5 * SECONDS, "", "How finely the ages of open requests are told apart.", NULL, true },
	{ "max-inflight", OPTION_COUNT, OF_POLICY(max_inflight), 1024, 4194304, 65536, "requests",
	  "How many open requests are remembered at most.", NULL, true },
	{ "average-tau-ttft", OPTION_DURATION, OF_POLICY(average_tau_ttft), 1 * SECONDS,
	  60 * MINUTES, 30 * SECONDS, "", "How long the average time to first token remembers.",
	  NULL, false },
	{ "average-tau-e2e", OPTION_DURATION, OF_POLICY(average_tau_e2e), 1 * SECONDS, 60 * MINUTES,
	  60 * SECONDS, "", "How long the average time of a whole request remembers.", NULL,
	  false },
	{ "engine-credential-file", OPTION_TEXT, OF_POLICY(engine_credential_file), 0,
	  NAME_MAX_BYTES - 1, 0, "",
	  "File whose first line is sent to engines as a bearer token: by probes, and when they "
	  "are asked for their models and metrics. Read at the start and at each reload.",
	  NULL, false },
	{ "default-model", OPTION_TEXT, OF_POLICY(default_model), 0, NAME_MAX_BYTES - 1, 0, "",
	  "The model of requests that name none.", NULL, false },
	{ 0 },
};

const struct option prefix_options[] = {
	{ "min-match", OPTION_SIZE, OF_PREFIX(min_match), 0, 1e9, 4096, "",
	  "Fewer bytes held of a prompt do not count as a hit.", NULL, false },
	{ "min-match-share", OPTION_NUMBER, OF_PREFIX(min_match_share), 0, 1, 0.10, "",
	  "A smaller share held of a prompt does not count as a hit.", NULL, false },
	{ "hold-share", OPTION_NUMBER, OF_PREFIX(hold_share), 0, 1, 0.8, "",
	  "Share of the best holder's bytes that makes another one as good, where holders go "
	  "first.",
	  NULL, false },
	{ "discount-shared", OPTION_BOOL, OF_PREFIX(discount_shared), 0, 1, 1, "",
	  "Count what everybody holds, like a system prompt, for little.", NULL, false },
	{ "ttl", OPTION_DURATION, OF_PREFIX(ttl), 1 * SECONDS, 30 * DAY, 30 * MINUTES, "",
	  "How long a binding is believed without being confirmed again.", NULL, false },
	{ "provisional-ttl", OPTION_DURATION, OF_PREFIX(provisional_ttl), 1 * SECONDS, 60 * MINUTES,
	  30 * SECONDS, "", "How long a binding waits for its first byte.", NULL, false },
	{ "holder-bytes", OPTION_SIZE, OF_PREFIX(holder_bytes), 65536, 1e12, 2e6, "",
	  "Bytes of prompt that an engine keeps whose cache size is not known.", NULL, false },
	{ "max-records", OPTION_COUNT, OF_PREFIX(max_records), 1024, 16777216, 1048576, "records",
	  "How many blocks the index remembers; 32 bytes each.", NULL, true },
	{ 0 },
};

const struct option blend_options[] = {
	{ "load-balance", OPTION_NUMBER, OF_BLEND(load_balance), 0, 1e6, 1, "",
	  "Weight of load-balance in strategies that do not look at the load of all; 0 adds "
	  "nothing "
	  "to any.",
	  NULL, false },
	{ "least-request", OPTION_NUMBER, OF_BLEND(least_request), 0, 1e6, 1, "",
	  "Weight of least-request beside it, where requests are not counted already.", NULL,
	  false },
	{ "prefix-cache", OPTION_NUMBER, OF_BLEND(prefix_cache), 0.001, 1e6, 5, "",
	  "Weight of the prefix in the strategy prefix-cache, when it is named alone.", NULL,
	  false },
	{ "prefix-cache-load", OPTION_NUMBER, OF_BLEND(prefix_cache_load), 0, 1e6, 4, "",
	  "Weight of load-balance beside it.", NULL, false },
	{ 0 },
};

const struct option health_options[] = {
	{ "eject-after", OPTION_COUNT, OF_HEALTH(eject_after), 0, 1000, 5, "failures",
	  "Failures in a row that take a replica out of service; 0 for never.", NULL, false },
	{ "eject-share", OPTION_NUMBER, OF_HEALTH(eject_share), 0, 1, 0.5, "",
	  "Share of failures among the last outcomes that takes it out; 0 for never.", NULL,
	  false },
	{ "eject-outcomes", OPTION_NUMBER, OF_HEALTH(eject_outcomes), 1, 1e6, 20, "outcomes",
	  "Outcomes within about 30 s before their share counts.", NULL, false },
	{ "ejection-time", OPTION_DURATION, OF_HEALTH(ejection), 0.1 * SECONDS, 60 * MINUTES,
	  10 * SECONDS, "", "How long the first ejection lasts at least; each next one twice.",
	  NULL, false },
	{ "ejection-time-max", OPTION_DURATION, OF_HEALTH(ejection_max), 0.1 * SECONDS, DAY,
	  5 * MINUTES, "", "Longest time of an ejection, and time in service that forgives.", NULL,
	  false },
	{ "max-ejected", OPTION_NUMBER, OF_HEALTH(max_ejected), 0, 1, 0.5, "",
	  "Largest share of an instance's replicas that may be ejected at a time.", NULL, false },
	{ "stall-after", OPTION_DURATION, OF_HEALTH(stall_after), 0, DAY, 60 * SECONDS, "",
	  "Waiting for a replica that long, while none of its answers begins or ends, makes it "
	  "suspect; 0 for never.",
	  NULL, false },
	{ "probe", OPTION_BOOL, OF_HEALTH(probe), 0, 1, 1, "",
	  "Ask ejected and stalled replicas whether they are well before requests go there.", NULL,
	  false },
	{ "probe-path", OPTION_TEXT, OF_HEALTH(probe_path), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Path that a probe asks for; the engine's own, mostly /health, if not given.", NULL,
	  false },
	{ "probe-interval", OPTION_DURATION, OF_HEALTH(probe_interval), 0.1 * SECONDS, 60 * MINUTES,
	  5 * SECONDS, "", "Time from one probe of a replica to the next.", NULL, false },
	{ "probe-timeout", OPTION_DURATION, OF_HEALTH(probe_timeout), 0.1 * SECONDS, 10 * MINUTES,
	  5 * SECONDS, "", "A probe that takes longer has failed.", NULL, false },
	{ "probe-token", OPTION_CHOICE, OF_HEALTH(probe_token), 0, 2, TOKEN_STALLED, "",
	  "Which probes ask for one token of an answer, instead of a page: those of replicas that "
	  "let requests wait in vain, all, or none.",
	  "never|stalled|always", false },
	{ "probe-token-timeout", OPTION_DURATION, OF_HEALTH(probe_token_timeout), 0.1 * SECONDS,
	  10 * MINUTES, 10 * SECONDS, "", "The same for a probe that asks for a token.", NULL,
	  false },
	{ "probe-successes", OPTION_COUNT, OF_HEALTH(probe_successes), 1, 1000, 2, "probes",
	  "Good probes in a row after which requests are tried.", NULL, false },
	{ "probe-concurrent", OPTION_COUNT, OF_HEALTH(probe_concurrent), 1, 1000, 1, "requests",
	  "Requests that are tried at a time.", NULL, false },
	{ "trial-successes", OPTION_COUNT, OF_HEALTH(trial_successes), 1, 1000, 3, "requests",
	  "Good answers in a row after which it is in service again.", NULL, false },
	{ "ramp", OPTION_DURATION, OF_HEALTH(ramp), 0, DAY, 5 * MINUTES, "",
	  "Time in which a new replica comes to its full part; 0 for at once.", NULL, false },
	{ "ramp-restored", OPTION_DURATION, OF_HEALTH(ramp_restored), 0, DAY, 30 * SECONDS, "",
	  "The same after an ejection.", NULL, false },
	{ "ramp-requests", OPTION_NUMBER, OF_HEALTH(ramp_requests), 1, 1e6, 50, "requests",
	  "First bytes after which it has its full part, however early.", NULL, false },
	{ 0 },
};

const struct option session_options[] = {
	{ "ttl", OPTION_DURATION, OF_SESSION(ttl), 1 * SECONDS, 30 * DAY, 60 * MINUTES, "",
	  "How long a session that is not used stays pinned to its replica.", NULL, false },
	{ "max-pins", OPTION_COUNT, OF_SESSION(max_pins), 1024, 16777216, 100000, "sessions",
	  "How many sessions are remembered; the one used longest ago goes first.", NULL, true },
	{ "format", OPTION_CHOICE, OF_SESSION(format), 0, 1, SESSION_ADDRESS, "",
	  "What x-session-id shows to a client: the replica's address in base64, or a number that "
	  "tells nothing without the secret.",
	  "address|opaque", false },
	{ "secret-file", OPTION_TEXT, OF_SESSION(secret_file), 0, NAME_MAX_BYTES - 1, 0, "",
	  "File whose first line is the secret of opaque ids, the same for all agents.", NULL,
	  false },
	{ 0 },
};

const struct option sharing_options[] = {
	{ "url", OPTION_TEXT, OF_SHARING(url), 0, NAME_MAX_BYTES - 1, 0, "",
	  "The Redis or Valkey that agents share what they know by, as redis://HOST:PORT/DB, "
	  "rediss://, unix:///PATH or redis+sentinel://HOST:PORT,HOST:PORT/NAME/DB, without a "
	  "password; a longer one is given by --redis, which counts more.",
	  NULL, true },
	{ "password-file", OPTION_TEXT, OF_SHARING(password_file), 0, NAME_MAX_BYTES - 1, 0, "",
	  "File whose first line is the password; read at each connecting. Its user, if it is not "
	  "the default one, stands in the url: redis://USER@HOST.",
	  NULL, true },
	{ "sentinel-password-file", OPTION_TEXT, OF_SHARING(sentinel_password_file), 0,
	  NAME_MAX_BYTES - 1, 0, "", "The same of the sentinels, where they have one.", NULL,
	  true },
	{ "space", OPTION_TEXT, OF_SHARING(space), 0, 63, 0, "",
	  "Name that keeps deployments apart which use one store, part of all keys; default if not "
	  "given.",
	  NULL, true },
	{ "memory", OPTION_SIZE, OF_SHARING(memory), 1 << 20, 1e12, 64 << 20, "",
	  "How much of the store's memory bindings and pins may take, about; the oldest go first.",
	  NULL, false },
	{ "loads", OPTION_BOOL, OF_SHARING(loads), 0, 1, 1, "",
	  "Count what other agents have in flight; false where all agents poll the same HAProxy "
	  "processes, whose sessions tell it already.",
	  NULL, false },
	{ "ca-file", OPTION_TEXT, OF_SHARING(ca_file), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Whom to trust with rediss://, in PEM; whom the system trusts if not given.", NULL,
	  true },
	{ "cert-file", OPTION_TEXT, OF_SHARING(cert_file), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Our own certificate with rediss://, if the store asks for one.", NULL, true },
	{ "key-file", OPTION_TEXT, OF_SHARING(key_file), 0, NAME_MAX_BYTES - 1, 0, "", "Its key.",
	  NULL, true },
	{ 0 },
};

const struct option entry_options[] = {
	{ "relax-on-hit", OPTION_NUMBER, OF_ENTRY(relax_on_hit), 1, 10, 2.5, "times",
	  "How far the limits stretch for a target that holds the whole prompt.", NULL, false },
	{ "prefer-serving-below", OPTION_NUMBER, OF_ENTRY(prefer_serving_below), 0, 1e6, 1,
	  "requests",
	  "A target that runs fewer is admitted whatever its averages say; 0 for never.", NULL,
	  false },
	{ "max-share", OPTION_NUMBER, OF_ENTRY(max_share), 0, 1, 1, "",
	  "Largest share of the running requests that one target may have; 1 for no limit.", NULL,
	  false },
	{ "share-min", OPTION_NUMBER, OF_ENTRY(share_min), 0, 1e6, 10, "requests",
	  "Requests that must be running before max-share counts.", NULL, false },
	{ "min-score", OPTION_NUMBER, OF_ENTRY(min_score), 0, 1, 0, "",
	  "A lower score of the one picked passes the request on to the next entry; 0 for never.",
	  NULL, false },
	{ "uncached-weight", OPTION_NUMBER, OF_ENTRY(uncached_weight), 0, 100, 3, "times",
	  "Signal work: weight of the tokens that the target would have to compute.", NULL, false },
	{ "inflight-tokens", OPTION_NUMBER, OF_ENTRY(inflight_tokens), 0, 1e6, 1000, "tokens",
	  "Signal work: what one request in flight weighs.", NULL, false },
	{ "gap", OPTION_NUMBER, OF_ENTRY(gate_gap), 0, 1e6, 8, "requests",
	  "Imbalance gate: difference of the most and the least loaded from which it fires.", NULL,
	  false },
	{ "factor", OPTION_NUMBER, OF_ENTRY(gate_factor), 0, 1e6, 2, "times",
	  "Imbalance gate: how far the most loaded must be above the mean of the others.", NULL,
	  false },
	{ "slo-reject-below", OPTION_NUMBER, OF_ENTRY(slo_reject_below), SLO_REJECT_NEVER, 1,
	  SLO_REJECT_NEVER, "",
	  "Refuse when the headroom (1 less predicted / objective) of all candidates is certainly "
	  "lower; -1 is twice the objective, -1000 is never.",
	  NULL, false },
	{ "sigma", OPTION_NUMBER, OF_ENTRY(sigma), 0, 100, 1, "",
	  "Sigma filter: standard deviations above the mean that are still kept; 0 for no filter.",
	  NULL, false },
	{ "session-mode", OPTION_CHOICE, OF_ENTRY(session_mode), 0, 3, SESSION_AUTO, "",
	  "What the session of a request counts: nothing, as much as all signals together, or all "
	  "while its replica is not too busy; auto for hard with session-affinity, else off.",
	  "auto|off|soft|hard", false },
	{ "balance-pending", OPTION_NUMBER, OF_ENTRY(balance_pending), 0, 1000, 0, "times",
	  "Signal load-balance: what a request waiting at the engine weighs beside one in flight.",
	  NULL, false },
	{ "balance-kv", OPTION_NUMBER, OF_ENTRY(balance_kv), 0, 1000, 2, "times",
	  "Signal load-balance: how far a full KV cache makes a load heavier.", NULL, false },
	{ "balance-critical", OPTION_NUMBER, OF_ENTRY(balance_critical), 0, 1, 0.1, "",
	  "Signal load-balance: with less of its KV cache free a target comes last.", NULL, false },
	{ "remote-prefill-min-bytes", OPTION_SIZE, OF_ENTRY(pair.remote_min_bytes), 0, 1e9, 4096,
	  "",
	  "Strategy pd: fewer bytes that the decode replica lacks it computes itself; 0 for "
	  "never.",
	  NULL, false },
	{ "pair-spread", OPTION_NUMBER, OF_ENTRY(pair.spread), 0, 1e6, 16, "requests",
	  "Strategy pd: difference of the most and the least loaded of a role from which only "
	  "requests in flight count; 0 for never.",
	  NULL, false },
	{ "combined-below", OPTION_NUMBER, OF_ENTRY(pair.combined_below), 0, 1000, 0.25, "",
	  "Strategy pd: share of its slots below which a combined replica may take a request of "
	  "a pair.",
	  NULL, false },
	{ "combined-above", OPTION_NUMBER, OF_ENTRY(pair.combined_above), 0, 1000, 1, "",
	  "Strategy pd: ... namely when one of the pair has more than this share of its own; 0 "
	  "for never.",
	  NULL, false },
	{ "decode-alone", OPTION_BOOL, OF_ENTRY(pair.alone), 0, 1, 1, "",
	  "Strategy pd: where nobody is left to prefill, a decode replica computes all of it.",
	  NULL, false },
	{ "seed-idle", OPTION_BOOL, OF_ENTRY(seed_idle), 0, 1, 1, "",
	  "Compute a shared prompt once on each idle target before its holders are preferred.",
	  NULL, false },
	{ 0 },
};

const struct option limits_options[] = {
	{ "max-running", OPTION_NUMBER, OF_LIMITS(running), 0, 1e6, 0, "requests",
	  "Most requests in flight on one target; 0 for no limit.", NULL, false },
	{ "max-pending", OPTION_NUMBER, OF_LIMITS(pending), 0, 1e6, 0, "requests",
	  "Most requests waiting for one target; 0 for no limit.", NULL, false },
	{ "max-ttft", OPTION_MSEC, OF_LIMITS(ttft_ms), 0, 1e6, 0, "",
	  "Highest average time to first token; 0 for no limit.", NULL, false },
	{ "max-e2e", OPTION_MSEC, OF_LIMITS(e2e_ms), 0, 1e7, 0, "",
	  "Highest average time of a whole request; 0 for no limit.", NULL, false },
	{ "max-kv-usage", OPTION_NUMBER, OF_LIMITS(kv_usage), 0, 1, 0, "",
	  "Largest share of its KV cache that an engine may use; 0 for no limit.", NULL, false },
	{ 0 },
};

const struct option instance_options[] = {
	{ "weight", OPTION_NUMBER, OF_INSTANCE(weight), 0, 1000, 1, "times",
	  "Factor on the instance's score; 0 takes no new requests while another is there.", NULL,
	  false },
	{ "kv-pool", OPTION_CHOICE, OF_INSTANCE(kv_pool), 0, 1, KV_REPLICA, "",
	  "Where its engines keep the KV cache: each replica its own, or in a store that all share "
	  "and that outlives them.",
	  "replica|shared", false },
	{ "upstream-model", OPTION_TEXT, OF_INSTANCE(upstream_model), 0, NAME_MAX_BYTES - 1, 0, "",
	  "The model's name at the instance's engines, answered to HAProxy, which sends it as "
	  "x-infer-model.",
	  NULL, false },
	{ 0 },
};

const struct option replica_options[] = {
	{ "weight", OPTION_NUMBER, OF_REPLICA(weight), 0, 1000, 1, "times",
	  "Factor on the load the replica can bear, beside HAProxy's own weight.", NULL, false },
	{ "role", OPTION_CHOICE, OF_REPLICA(role), 0, 2, ROLE_COMBINED, "",
	  "Whether it serves whole requests, only computes prompts for decode replicas, or decodes "
	  "what those computed; see strategy pd.",
	  "combined|prefill|decode", false },
	{ "roleset", OPTION_TEXT, OF_REPLICA(roleset), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Prefill and decode replicas of one label make pairs; without a label all of the "
	  "instance without one.",
	  NULL, false },
	{ "min-prompt", OPTION_NUMBER, OF_REPLICA(min_prompt), 0, 1e9, 0, "tokens",
	  "Shorter prompts are not sent there.", NULL, false },
	{ "max-prompt", OPTION_NUMBER, OF_REPLICA(max_prompt), 0, 1e9, 0, "tokens",
	  "Longer prompts are not sent there; 0 for no limit.", NULL, false },
	{ "ranks", OPTION_COUNT, OF_REPLICA(ranks), 0, RANKS_MAX, 0, "",
	  "Data-parallel ranks of its engine, which shall be chosen one by one: each is a replica, "
	  "and HAProxy names it in x-data-parallel-rank; 0 for an engine that is asked as a whole.",
	  NULL, false },
	{ "slots", OPTION_NUMBER, OF_REPLICA(slots), 0, 1e6, 0, "requests",
	  "How many requests it computes at a time, or each of its ranks; what the engine says if "
	  "0, else HAProxy's maxconn.",
	  NULL, false },
	{ 0 },
};

const struct option affinity_options[] = {
	{ "on", OPTION_CHOICE, OF_AFFINITY(on), 0, 2, AFFINITY_TENANT, "",
	  "Which feature of a request is looked at; a request without a tenant is of the tenant "
	  "anonymous.",
	  "tenant|session|header", false },
	{ "header", OPTION_TEXT, OF_AFFINITY(header), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Which header, with on: header; HAProxy must send it (inference-spoa haproxy spoe "
	  "--header NAME).",
	  NULL, false },
	{ "strict", OPTION_BOOL, OF_AFFINITY(strict), 0, 1, 0, "",
	  "Hold for fallback services too; a request that nobody may serve is refused with 503.",
	  NULL, false },
	{ 0 },
};

const struct option tenant_options[] = {
	{ "weight", OPTION_NUMBER, OF_TENANT(weight), 0.001, 1000, 1, "times",
	  "Part of the fleet that the tenant may have, where a strategy is fair: twice the weight, "
	  "twice the tokens.",
	  NULL, false },
	{ 0 },
};

const struct option quota_options[] = {
	{ "requests", OPTION_RATE, OF_QUOTA(requests), 0, 1e6, 0, "",
	  "Requests in a time, as 50/s or 600/m; 0 for no limit.", NULL, false },
	{ "requests-burst", OPTION_NUMBER, OF_QUOTA(requests_burst), 0, 1e9, 0, "requests",
	  "Requests that may come at once; 0 for those of a second of a rate per second, of ten "
	  "of any other, but at least one.",
	  NULL, false },
	{ "tokens", OPTION_RATE, OF_QUOTA(tokens), 0, 1e9, 0, "",
	  "Tokens of prompts and answers in a time, as 1M/m; 0 for no limit.", NULL, false },
	{ "tokens-burst", OPTION_NUMBER, OF_QUOTA(tokens_burst), 0, 1e12, 0, "tokens",
	  "Tokens that may be asked for at once; 0 as for requests.", NULL, false },
	{ "max-inflight", OPTION_COUNT, OF_QUOTA(max_inflight), 0, 1000000, 0, "requests",
	  "Requests at a time, each to the end of its stream; 0 for no limit.", NULL, false },
	{ 0 },
};
