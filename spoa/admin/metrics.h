/* metrics.h - every number we publish, in the order it is published.
 *
 * METRIC(id, type, name, labels, help). The list is read for the functions that
 * fill it (metric_<id>, in metrics_*.c), for the page, for docs/metrics.md and by
 * the tests. The page puts inference_spoa_ before each name, but process_*.
 *
 * Labels are names of HAProxy's backends and servers, or closed sets of ours:
 * never a tenant, a session, a prefix, a request or a model. Everything is pulled
 * when the page is asked for; nothing registers. What is not known has no line. */
#pragma once

#include <stddef.h>

#include "spoa/admin/page.h"

struct sources;

#define METRICS_AGENT(METRIC)                                                                      \
	METRIC(build_info, gauge, "build_info", "version,commit,libs", "What runs; always 1.")     \
	METRIC(config_info, gauge, "config_info", "hash", "Which policy is in force; always 1.")   \
	METRIC(process_cpu, counter, "process_cpu_seconds_total", "",                              \
	       "User and system CPU time spent.")                                                  \
	METRIC(process_memory, gauge, "process_resident_memory_bytes", "",                         \
	       "Resident memory of the agent.")                                                    \
	METRIC(process_virtual, gauge, "process_virtual_memory_bytes", "",                         \
	       "Virtual memory of the agent.")                                                     \
	METRIC(process_fds, gauge, "process_open_fds", "", "File descriptors open now.")           \
	METRIC(process_max_fds, gauge, "process_max_fds", "",                                      \
	       "File descriptors that may be open.")                                               \
	METRIC(process_start, gauge, "process_start_time_seconds", "",                             \
	       "When the agent started, in seconds since the epoch.")                              \
	METRIC(loop_lag, histogram, "loop_lag_seconds", "", "How late the event loop woke.")       \
	METRIC(loop_stalls, counter, "loop_stalls_total", "",                                      \
	       "Turns of the event loop that were late by more than 100 ms.")                      \
	METRIC(reloads, counter, "config_reload_total", "result", "Policies read, by result.")     \
	METRIC(reloaded, gauge, "config_last_reload_success_timestamp_seconds", "",                \
	       "When the policy in force was read.")                                               \
	METRIC(alarms, gauge, "alarms", "alarm", "1 while the alarm stands.")                      \
	METRIC(spop_connections, gauge, "spop_connections", "", "Connections of HAProxy now.")     \
	METRIC(spop_handshakes, counter, "spop_connections_total", "result",                       \
	       "Connections of HAProxy, by how their handshake ended.")                            \
	METRIC(spop_frames, counter, "spop_frames_total", "type", "Frames read and sent.")         \
	METRIC(spop_errors, counter, "spop_errors_total", "code",                                  \
	       "Disconnections for a fault of the protocol, by its code.")                         \
	METRIC(spop_bad_arguments, counter, "spop_bad_arguments_total", "",                        \
	       "Arguments of a message that had another type than agreed.")                        \
	METRIC(haproxy_up, gauge, "haproxy_up", "haproxy", "1 if its runtime socket answers.")     \
	METRIC(haproxy_info, gauge, "haproxy_info", "haproxy,version",                             \
	       "Version of the HAProxy that is served; always 1.")                                 \
	METRIC(haproxy_age, gauge, "haproxy_age_seconds", "haproxy",                               \
	       "Age of what its runtime socket said last.")                                        \
	METRIC(haproxy_reloads, counter, "haproxy_reloads_total", "haproxy",                       \
	       "Times its process id changed.")                                                    \
	METRIC(haproxy_dropped_logs, counter, "haproxy_dropped_logs_total", "haproxy",             \
	       "Log lines it could not send.")                                                     \
	METRIC(scrapes, counter, "scrapes_total", "result", "Metric pages asked of engines.")      \
	METRIC(agent_checks, counter, "agent_checks_total", "result",                              \
	       "Agent-checks of HAProxy, by what became of them.")                                 \
	METRIC(admin_requests, counter, "admin_requests_total", "path,code",                       \
	       "Pages asked of this agent.")                                                       \
	METRIC(decision_lines, counter, "decision_lines_total", "result",                          \
	       "Decision records streamed as lines, or dropped for a slow reader.")

#define METRICS_DECISIONS(METRIC)                                                                  \
	METRIC(decisions, counter, "decisions_total", "instance,reason",                           \
	       "Requests routed, by the instance and why.")                                        \
	METRIC(decision_time, histogram, "decision_duration_seconds", "",                          \
	       "Time that a decision took.")                                                       \
	METRIC(unanswered, counter, "unanswered_total", "cause",                                   \
	       "Requests left to HAProxy's default, no instance named.")                           \
	METRIC(rejected, counter, "rejected_total", "cause", "Requests refused by us.")            \
	METRIC(limited, counter, "limit_refusals_total", "of,kind",                                \
	       "Requests refused by a limit, by whose and of what.")                               \
	METRIC(limit_keys, gauge, "limit_keys", "", "Tenants, models and both whose use is kept.") \
	METRIC(limits_full, counter, "limits_full_total", "",                                      \
	       "Times that somebody was not limited, for there was no place to keep its use.")     \
	METRIC(tenants, gauge, "tenants", "", "Tenants whose tokens are kept.")                    \
	METRIC(dropped, counter, "candidates_dropped_total", "level,stage",                        \
	       "Candidates that a stage of the walk dropped.")                                     \
	METRIC(chain_miss, counter, "policy_chain_miss_total", "",                                 \
	       "Requests for which no entry of the chain gave a target.")                          \
	METRIC(fail_open, counter, "fail_open_total", "",                                          \
	       "Requests served without a choice of ours.")                                        \
	METRIC(degraded, counter, "strategy_degraded_total", "strategy",                           \
	       "Levels of decisions whose strategy lacked its data and fell back.")                \
	METRIC(asked, counter, "strategy_headers_total", "result",                                 \
	       "Requests whose header asked for a strategy, by what became of it.")                \
	METRIC(pairs, counter, "pair_decisions_total", "type",                                     \
	       "Decisions of strategy pd: prefill elsewhere (remote), by the decode replica "      \
	       "(local), one replica for all of it (combined), or nobody left to prefill "         \
	       "(alone).")                                                                         \
	METRIC(ignored, counter, "messages_ignored_total", "cause",                                \
	       "Messages of another contract, hashes of another ladder, unknown priorities.")      \
	METRIC(late_answers, counter, "late_answers_total", "",                                    \
	       "Answers that HAProxy no longer waited for.")                                       \
	METRIC(without_slot, counter, "decisions_without_slot_total", "",                          \
	       "Decisions made while the table of open requests was full.")                        \
	METRIC(inflight_open, gauge, "inflight_open", "", "Open requests known by their id.")      \
	METRIC(inflight_capacity, gauge, "inflight_capacity", "",                                  \
	       "Open requests that can be known by their id.")                                     \
	METRIC(first_bytes, counter, "first_bytes_total", "result",                                \
	       "Messages of HAProxy that the first byte came.")                                    \
	METRIC(log_lines, counter, "log_lines_total", "result",                                    \
	       "End-of-stream lines of HAProxy, by what they were good for.")                      \
	METRIC(log_lost, counter, "log_lines_lost_total", "",                                      \
	       "Log lines that the kernel dropped before we read them.")                           \
	METRIC(adopted, counter, "adopted_total", "",                                              \
	       "Streams that HAProxy routed without us, or before our start.")                     \
	METRIC(early_ends, counter, "ended_before_decision_total", "",                             \
	       "Streams that ended before they were decided.")

#define METRICS_TRAFFIC(METRIC)                                                                    \
	METRIC(responses, counter, "responses_total", "instance,replica,class",                    \
	       "Streams ended, by the replica that served and the class of the status.")           \
	METRIC(terminations, counter, "terminations_total", "instance,cause",                      \
	       "Streams ended, by who ended them.")                                                \
	METRIC(pin_overridden, counter, "pin_overridden_total", "instance,cause",                  \
	       "Streams that another replica served than the chosen one.")                         \
	METRIC(ttft, histogram, "ttft_seconds", "instance,replica",                                \
	       "Time to the first byte of the body, since the decision.")                          \
	METRIC(e2e, histogram, "e2e_seconds", "instance,replica",                                  \
	       "Time to the end of the stream, since the decision.")                               \
	METRIC(queue, histogram, "queue_seconds", "instance,replica", "Time in HAProxy's queues.") \
	METRIC(slots_expired, counter, "slots_expired_total", "instance,replica",                  \
	       "Slots that nobody released before their time was up.")                             \
	METRIC(slots_moved, counter, "slots_moved_total", "instance,replica",                      \
	       "Slots that moved here, to the replica that really served.")                        \
	METRIC(slots_released, counter, "slots_released_total", "source",                          \
	       "Slots released, by what told us.")                                                 \
	METRIC(prefix_lookups, counter, "prefix_lookups_total", "instance,result",                 \
	       "Decisions, by how much of the prompt the chosen one held.")                        \
	METRIC(prefix_predicted, counter, "prefix_predicted_tokens_total", "instance",             \
	       "Prompt tokens that we believed cached where we sent them.")

#define METRICS_REPLICAS(METRIC)                                                                   \
	METRIC(instance_inflight, gauge, "instance_inflight_requests", "instance",                 \
	       "Slots held by an instance.")                                                       \
	METRIC(instance_ready, gauge, "instance_ready_replicas", "instance",                       \
	       "Replicas that may get requests.")                                                  \
	METRIC(instance_queue, gauge, "instance_queue_requests", "instance",                       \
	       "Requests in HAProxy's queues, of its servers and of the backend.")                 \
	METRIC(instance_saturation, gauge, "instance_saturation_ratio", "instance",                \
	       "Mean over ready replicas of the fullest of slots, engine queue and KV cache.")     \
	METRIC(inflight, gauge, "replica_inflight_requests", "instance,replica",                   \
	       "Slots held by a replica.")                                                         \
	METRIC(inflight_tokens, gauge, "replica_inflight_tokens", "instance,replica",              \
	       "Tokens of the requests that hold its slots.")                                      \
	METRIC(prefill_tokens, gauge, "replica_prefill_tokens", "instance,replica",                \
	       "Uncached prompt tokens that wait for their first byte.")                           \
	METRIC(drift, gauge, "replica_drift_requests", "instance,replica",                         \
	       "What HAProxy's session counts say beyond our own.")                                \
	METRIC(peers_requests, gauge, "replica_peers_requests", "instance,replica",                \
	       "Slots that other agents hold there, as they say.")                                 \
	METRIC(replica_state, gauge, "replica_state", "instance,replica,state",                    \
	       "1 for the state it is in, 0 for the others.")                                      \
	METRIC(ttft_average, gauge, "replica_ttft_average_seconds", "instance,replica",            \
	       "Time-decayed average of the time to the first byte.")                              \
	METRIC(e2e_average, gauge, "replica_e2e_average_seconds", "instance,replica",              \
	       "Time-decayed average of the time to the end.")                                     \
	METRIC(engine_running, gauge, "replica_engine_running_requests", "instance,replica",       \
	       "Requests that the engine says it runs.")                                           \
	METRIC(engine_waiting, gauge, "replica_engine_waiting_requests", "instance,replica",       \
	       "Requests that the engine says wait in it.")                                        \
	METRIC(engine_kv_usage, gauge, "replica_engine_kv_usage_ratio", "instance,replica",        \
	       "Share of the engine's KV cache in use.")                                           \
	METRIC(engine_kv_tokens, gauge, "replica_engine_kv_capacity_tokens", "instance,replica",   \
	       "Size of the engine's KV cache.")                                                   \
	METRIC(engine_hit_ratio, gauge, "replica_engine_cache_hit_ratio", "instance,replica",      \
	       "Share of prompt tokens the engine found cached, since it started.")                \
	METRIC(prefix_actual, counter, "prefix_actual_tokens_total", "instance,replica",           \
	       "Prompt tokens the engine found cached, by its own count.")                         \
	METRIC(haproxy_queue, gauge, "replica_haproxy_queue_requests", "instance,replica",         \
	       "Requests in HAProxy's queue of this server.")                                      \
	METRIC(check_weight, gauge, "agent_check_weight", "instance,replica",                      \
	       "Percent of its weight that HAProxy was told for the server.")                      \
	METRIC(value_age, gauge, "replica_value_age_seconds", "instance,replica,source",           \
	       "Age of what is known of a replica.")                                               \
	METRIC(engine_info, gauge, "replica_engine_info", "instance,replica,engine",               \
	       "What kind of engine it is, by its own page or models; always 1.")                  \
	METRIC(capacity, gauge, "replica_capacity_tokens_per_second", "instance,replica",          \
	       "Output tokens that the engine can make, from what it did make.")                   \
	METRIC(throughput, gauge, "replica_throughput_tokens_per_second", "instance,replica",      \
	       "Twice the prompt tokens plus the output tokens that it computes, smoothed.")       \
	METRIC(tpot, gauge, "replica_time_per_token_seconds", "instance,replica",                  \
	       "Time between two output tokens, by the engine's histogram, of late.")              \
	METRIC(prefill_rate, gauge, "replica_prefill_tokens_per_second", "instance,replica",       \
	       "Prompt tokens computed, learnt from times to the first byte.")                     \
	METRIC(ttft_base, gauge, "replica_ttft_base_seconds", "instance,replica",                  \
	       "Time to the first byte with nothing to compute, learnt likewise.")                 \
	METRIC(ttft_error, counter, "replica_ttft_prediction_error_total", "instance,replica",     \
	       "Sum of the relative errors of predicted times to the first byte.")                 \
	METRIC(ttft_predictions, counter, "replica_ttft_predictions_total", "instance,replica",    \
	       "Times to the first byte that were predicted.")                                     \
	METRIC(output_tokens, gauge, "instance_output_tokens", "instance",                         \
	       "Mean output tokens of a request, by the engines' counters.")                       \
	METRIC(token_bytes, gauge, "instance_bytes_per_token", "instance",                         \
	       "Mean bytes that HAProxy sends for an output token.")                               \
	METRIC(prefix_held, gauge, "replica_prefix_records", "instance,replica",                   \
	       "Prompt blocks we believe cached there.")                                           \
	METRIC(prefix_records, gauge, "prefix_records", "", "Records of the prefix index in use.") \
	METRIC(prefix_capacity, gauge, "prefix_capacity", "", "Records it has room for.")          \
	METRIC(prefix_bytes, gauge, "prefix_bytes", "", "Memory of the prefix index.")             \
	METRIC(prefix_evicted, counter, "prefix_evicted_total", "cause", "Records removed from it.")

#define METRICS_HEALTH(METRIC)                                                                     \
	METRIC(ejections, counter, "ejections_total", "instance,replica,cause",                    \
	       "Times a replica was taken out of service, and why.")                               \
	METRIC(ejections_refused, counter, "ejections_refused_total", "instance",                  \
	       "Ejections that max-ejected did not allow.")                                        \
	METRIC(stalls, counter, "stalls_total", "instance,replica",                                \
	       "Times that requests waited and nothing came for stall-after.")                     \
	METRIC(probes, counter, "probes_total", "instance,replica,result",                         \
	       "Probes of replicas out of service, by result.")

#define METRICS_SESSIONS(METRIC)                                                                   \
	METRIC(sessions, gauge, "sessions", "", "Sessions pinned to a replica now.")               \
	METRIC(session_lookups, counter, "session_lookups_total", "result",                        \
	       "Requests with a session, by how its replica was found.")                           \
	METRIC(sessions_spilled, counter, "sessions_spilled_total", "",                            \
	       "Requests whose session's replica was too busy.")                                   \
	METRIC(session_moves, counter, "session_moves_total", "cause",                             \
	       "Sessions that moved to another replica.")                                          \
	METRIC(sessions_dropped, counter, "sessions_dropped_total", "cause",                       \
	       "Pins of sessions that were forgotten.")

#define METRICS_ADAPTERS(METRIC)                                                                   \
	METRIC(adapters, gauge, "adapters", "", "LoRA adapters that are known.")                   \
	METRIC(adapter_requests, counter, "replica_adapter_requests_total", "instance,replica",    \
	       "Requests for LoRA adapters sent there.")                                           \
	METRIC(adapter_loads, counter, "replica_adapter_loads_total", "instance,replica",          \
	       "Such requests whose adapter was not there, by all that was known.")                \
	METRIC(adapter_slots, gauge, "replica_adapter_slots", "instance,replica",                  \
	       "LoRA adapters that the engine has room for.")                                      \
	METRIC(adapter_slots_used, gauge, "replica_adapter_slots_used", "instance,replica",        \
	       "LoRA adapters that the engine says are in use.")                                   \
	METRIC(adapters_spilled, counter, "adapters_spilled_total", "",                            \
	       "Requests for a LoRA adapter whose replicas were all too busy.")                    \
	METRIC(adapters_uncounted, counter, "adapters_uncounted_total", "",                        \
	       "Requests for a LoRA adapter that found no place in the table of heats.")

#define METRICS_STORE(METRIC)                                                                      \
	METRIC(store_up, gauge, "store_up", "",                                                    \
	       "1 if the store by which agents share can be read and written.")                    \
	METRIC(store_lag, gauge, "store_lag_seconds", "",                                          \
	       "Age of the newest entry taken from the store, by the store's own clock.")          \
	METRIC(store_warmup, gauge, "store_warmup_ratio", "",                                      \
	       "Part of what was kept in the store that was read since the start.")                \
	METRIC(store_peers, gauge, "store_peers", "", "Other agents that are heard.")              \
	METRIC(store_peers_lost, counter, "store_peers_lost_total", "",                            \
	       "Other agents that fell silent and were forgotten with their counts.")              \
	METRIC(store_queue, gauge, "store_queue_entries", "",                                      \
	       "Things learnt that the store has not got yet.")                                    \
	METRIC(store_dropped, counter, "store_dropped_total", "",                                  \
	       "Things learnt that were never told, for the queue was full.")                      \
	METRIC(store_again, counter, "store_told_again_total", "",                                 \
	       "Things learnt that were told again, for the store had lost them.")                 \
	METRIC(store_ops, counter, "store_ops_total", "op,result",                                 \
	       "Commands to the store, by how they ended.")                                        \
	METRIC(store_op_time, histogram, "store_op_duration_seconds", "op",                        \
	       "Time from a command to its reply; of reads that wait there is none.")              \
	METRIC(store_faults, counter, "store_faults_total", "fault",                               \
	       "Links to the store that were lost or not made, by why.")                           \
	METRIC(store_bytes, counter, "store_bytes_total", "direction",                             \
	       "Bytes sent to the store and read from it.")                                        \
	METRIC(store_entries, counter, "store_entries_total", "kind,result",                       \
	       "Things heard of other agents, taken or left.")                                     \
	METRIC(store_batches, counter, "store_batches_total", "result",                            \
	       "Entries of the store's streams, by whether they could be read.")                   \
	METRIC(store_restarts, counter, "store_restarts_total", "",                                \
	       "Times that a stream was found to have begun anew, or to have lost its end.")

#define METRICS(METRIC)                                                                            \
	METRICS_AGENT(METRIC)                                                                      \
	METRICS_DECISIONS(METRIC)                                                                  \
	METRICS_TRAFFIC(METRIC)                                                                    \
	METRICS_REPLICAS(METRIC)                                                                   \
	METRICS_HEALTH(METRIC)                                                                     \
	METRICS_SESSIONS(METRIC)                                                                   \
	METRICS_ADAPTERS(METRIC)                                                                   \
	METRICS_STORE(METRIC)

struct metric {
	const char *name, *type, *labels, *help;
	void (*fill)(struct page *page, const struct sources *sources);
};

/* NULL after the last. */
const struct metric *metric_at(size_t i);
/* "inference_spoa_", or "" for the standard process_*. */
const char *metric_prefix(const struct metric *metric);

/* The whole page in text format 0.0.4, appended. */
void metrics_print(struct page *page, const struct sources *sources);

#define AS_FUNCTION(id, ...) void metric_##id(struct page *page, const struct sources *sources);
METRICS(AS_FUNCTION)
#undef AS_FUNCTION
