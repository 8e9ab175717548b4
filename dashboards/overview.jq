# overview.jq - the Grafana dashboard, from a list of panels; `jq -n -f overview.jq`.
# A panel is [title, unit, description, [legend, expression]...]; three stand in a row.
def panels: [
  ["Requests decided", "reqps", "Added up over all agents.",
    ["{{instance}} {{reason}}", "sum by (instance, reason) (rate(inference_spoa_decisions_total[$__rate_interval]))"]],
  ["Refused and unanswered", "reqps", "429, 503 and 404 of ours; requests left to HAProxy's default.",
    ["refused: {{cause}}", "sum by (cause) (rate(inference_spoa_rejected_total[$__rate_interval]))"],
    ["unanswered: {{cause}}", "sum by (cause) (rate(inference_spoa_unanswered_total[$__rate_interval]))"],
    ["fail open", "sum(rate(inference_spoa_fail_open_total[$__rate_interval]))"]],
  ["Answers by status", "reqps", "Of the engines, by HAProxy's end lines.",
    ["{{instance}} {{class}}", "sum by (instance, class) (rate(inference_spoa_responses_total[$__rate_interval]))"]],

  ["Time to the first byte", "s", "From the decision to the first byte of the body.",
    ["{{instance}} p50", "histogram_quantile(0.5, sum by (instance, le) (rate(inference_spoa_ttft_seconds_bucket[$__rate_interval])))"],
    ["{{instance}} p99", "histogram_quantile(0.99, sum by (instance, le) (rate(inference_spoa_ttft_seconds_bucket[$__rate_interval])))"]],
  ["Time in HAProxy's queue, p99", "s", "Of the backend and of the server.",
    ["{{instance}}", "histogram_quantile(0.99, sum by (instance, le) (rate(inference_spoa_queue_seconds_bucket[$__rate_interval])))"]],
  ["Prompts found in a cache", "percentunit", "Share of prompts of which a part that counts was held; and what the engines themselves say.",
    ["{{instance}} predicted", "sum by (instance) (rate(inference_spoa_prefix_lookups_total{result=\"hit\"}[$__rate_interval])) / sum by (instance) (rate(inference_spoa_prefix_lookups_total[$__rate_interval]))"],
    ["{{instance}} engines", "avg by (instance) (max by (instance, replica) (inference_spoa_replica_engine_cache_hit_ratio))"]],

  ["In flight by replica", "short", "Requests this agent sent; added up over all agents.",
    ["{{instance}}/{{replica}}", "sum by (instance, replica) (inference_spoa_replica_inflight_requests)"]],
  ["Waiting prefill by replica", "short", "Tokens of prompts without a first byte.",
    ["{{instance}}/{{replica}}", "sum by (instance, replica) (inference_spoa_replica_prefill_tokens)"]],
  ["Waiting in engines and in HAProxy", "short", "",
    ["{{instance}}/{{replica}} engine", "max by (instance, replica) (inference_spoa_replica_engine_waiting_requests)"],
    ["{{instance}}/{{replica}} HAProxy", "sum by (instance, replica) (inference_spoa_replica_haproxy_queue_requests)"]],

  ["KV cache in use", "percentunit", "By the engines' own pages.",
    ["{{instance}}/{{replica}}", "max by (instance, replica) (inference_spoa_replica_engine_kv_usage_ratio)"]],
  ["Out of service", "short", "1: ejected, suspect or on trial.",
    ["{{instance}}/{{replica}} {{state}}", "max by (instance, replica, state) (inference_spoa_replica_state{state=~\"ejected|suspect|half-open\"}) > 0"]],
  ["Served elsewhere than chosen", "reqps", "Full or dead servers, and rules that do not match.",
    ["{{instance}} {{cause}}", "sum by (instance, cause) (rate(inference_spoa_pin_overridden_total[$__rate_interval]))"]],

  ["Cost of a decision, p99", "s", "Of each agent.",
    ["decision", "histogram_quantile(0.99, sum by (le) (rate(inference_spoa_decision_duration_seconds_bucket[$__rate_interval])))"],
    ["loop late", "histogram_quantile(0.99, sum by (le) (rate(inference_spoa_loop_lag_seconds_bucket[$__rate_interval])))"]],
  ["Slots", "short", "Expired ones were never released; drift is traffic HAProxy has and we did not send.",
    ["expired", "sum(increase(inference_spoa_slots_expired_total[$__rate_interval]))"],
    ["drift {{instance}}/{{replica}}", "max by (instance, replica) (inference_spoa_replica_drift_requests) != 0"]],
  ["Alarms", "short", "1 while one stands.",
    ["{{alarm}}", "max by (alarm) (inference_spoa_alarms) > 0"],
    ["HAProxy {{haproxy}} silent", "1 - max by (haproxy) (inference_spoa_haproxy_up) > 0"]]
];
{
  title: "inference-spoa", uid: "inference-spoa", schemaVersion: 38, editable: true, refresh: "10s",
  tags: ["inference-spoa"], time: { from: "now-1h", to: "now" },
  templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Prometheus" }] },
  panels: [panels | to_entries[] | .key as $i | .value as $p | {
    id: ($i + 1), type: "timeseries", title: $p[0], description: $p[2],
    datasource: { type: "prometheus", uid: "${datasource}" },
    gridPos: { h: 8, w: 8, x: ($i % 3 * 8), y: (($i / 3 | floor) * 8) },
    fieldConfig: { defaults: { unit: $p[1], min: 0 }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: [$p[3:] | to_entries[] | { refId: ([65 + .key] | implode), legendFormat: .value[0], expr: .value[1] }]
  }]
}
