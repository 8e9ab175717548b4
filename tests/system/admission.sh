#!/bin/bash
# admission.sh - limits at their edges, with real HAProxy: holders of a prefix are the only candidates up to their stretched limit and
# spill over beyond it; 429 is answered when all are over trusted limits and not when the engines' pages stand still; a fallback
# service takes what nobody else may, and all when the instance is gone. Proves R028, R051, R052, R053, R057.
. "$(dirname "$0")/lib.sh"
start_engines 2 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 --kv-blocks 100
SPARE_PORT=$(free_ports 1)
"$SIM" --port-base "$SPARE_PORT" --engines 1 --speed 100 --ready-file "$T/spare.ready" >"$T/spare.log" 2>&1 &
PIDS[spare]=$!
wait_for 10 "the spare engine" test -s "$T/spare.ready"
write_haproxy_config
"$AGENT_PROGRAM" haproxy config --instance "svc-a=$(engine_list)" --instance "svc-b=127.0.0.1:$SPARE_PORT" >"$T/haproxy.cfg"
start_haproxy
echo '{}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

requests() { "$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --timeout 100 "$@"; }
running() { metric replica_inflight_requests "instance=\"svc-a\",replica=\"$1\""; }
decided() { metric decisions_total "instance=\"svc-a\",reason=\"$1\""; }
HELD=0
hold() { # COUNT [player options]: streams that stay open, begun one after the other
	local count=$1 i
	shift
	for ((i = 0; i < count; i++)); do
		HELD=$((HELD + 1))
		"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --timeout 100 --count 1 --max-tokens 10000 "$@" --output "$T/held.$HELD" 2>>"$T/player.log" &
		PIDS[held$HELD]=$!
		are_open() { [ "$(metric replica_inflight_requests)" = $HELD ]; }
		wait_for 5 "stream $HELD to be open" are_open
	done
}
let_go() {
	local i
	for ((i = 1; i <= HELD; i++)); do stop held$i; done
	HELD=0
	wait_for 5 "all slots to come back" all_slots_are_back
}
fault() { # FAULT: of both engines' metric pages
	local i
	for i in 0 1; do curl -sSf --max-time 5 -o /dev/null -d "{\"fault\":\"$1\",\"path\":\"/metrics\"}" "http://127.0.0.1:$((ENGINE_PORT + i))/sim/fault"; done
}
ONLY_A='"rules": [{"instances": ["svc-a"]}]'
A_THEN_B='"rules": [{"instances": ["svc-a"], "fallback-services": ["svc-b"]}]'

# 61440 of about 61500 bytes are held: the limit of 2 stretches to 2 * (1 + 1.5 * 0.999), which is just below 5.
SAME="--body-bytes 61400 --same-prefix 61400 --seed 4"
with_policy "{\"strategies\": {\"holders\": {\"signals\": {\"running\": 1}, \"prefix-mode\": \"sole\"}}, $ONLY_A,
	\"defaults\": {\"level2\": {\"strategy\": \"holders\", \"seed-idle\": false, \"admit\": {\"max-running\": 2}, \"relax-on-hit\": 2.5}}}"
# shellcheck disable=SC2086 # several words
requests --count 1 --max-tokens 1 $SAME --header x-infer-debug:1 --expect-all-200 --output "$T/first" 2>>"$T/player.log" || fail "player: $(cat "$T/player.log")"
wait_for 5 "the slot to come back" all_slots_are_back
home=$(jq -r .served "$T/first")
other=r$((1 - ${home#r}))
hits=$(decided prefix)
# shellcheck disable=SC2086
hold 4 $SAME
[ "$(running "$home")" = 4 ] && [ "$(running "$other")" = 0 ] || fail "4 of one prompt: $(running "$home") at its holder, $(running "$other") at the other"
[ "$(($(decided prefix) - hits))" = 4 ] || fail "$(($(decided prefix) - hits)) of 4 were hits"
# shellcheck disable=SC2086
hold 1 $SAME
[ "$(running "$home")" = 4 ] && [ "$(running "$other")" = 1 ] || fail "the fifth is not at the other one"
[ "$(decided spill)" = 1 ] || fail "the fifth did not spill"
hold 1 --body-bytes 3000 --seed 90
[ "$(running "$home")" = 4 ] && [ "$(running "$other")" = 2 ] || fail "another prompt is not at the other one"
before=$(decided fail-open)
expect "200 svc-a * fail-open"
[ "$(decided fail-open)" = $((before + 1)) ] || fail "between the limits a request is not served in turn"
let_go
say "of one prompt 4 ran at its holder, the fifth spilled; of others 2 at each, the next was served in turn"

LIMITS='"strategy": "least-request", "relax-on-hit": 1, "admit": {"max-running": 2}, "hard-limits": {"max-running": 2}'
with_policy "{\"defaults\": {$LIMITS}, $ONLY_A}"
hold 3 --body-bytes 3000
expect "200 svc-a * load"
hold 1 --body-bytes 3000
[ "$(running r0)" = 2 ] && [ "$(running r1)" = 2 ] || fail "$(running r0) and $(running r1) are open, not 2 and 2"
expect "429 - - overload"
jq -e '.error.code == "server_overloaded" and .error.type == "rate_limit_exceeded"' "$T/body" >/dev/null || fail "the refusal: $(cat "$T/body")"
retry=$(tr -d '\r' <"$T/head" | awk 'tolower($1) == "retry-after:" { print $2 }')
[ "${retry:-0}" -ge 1 ] && [ "$retry" -le 120 ] || fail "Retry-After is $retry"
ASK_PATH=/v1/messages expect "429 - - overload"
jq -e '.type == "error" and .error.type == "overloaded_error"' "$T/body" >/dev/null || fail "the refusal of Anthropic's shape: $(cat "$T/body")"
[ "$(metric rejected_total 'cause="overload"')" = 2 ] || fail "rejected_total is $(metric rejected_total)"
with_policy "{\"defaults\": {$LIMITS}, $A_THEN_B}"
expect "200 svc-b r0 fallback"
let_go
expect "200 svc-a * load"
say "with 2 and 2 of 2 running: 429 after $retry s in both shapes; with a fallback service 200 there"

FULL='"strategy": "least-request", "admit": {"max-kv-usage": 0.5}, "hard-limits": {"max-kv-usage": 0.5}'
with_policy "{\"defaults\": {\"strategy\": \"least-request\"}, $ONLY_A}"
# A page that still shows a cache full, of the streams let go, would send all to the other engine: least-request reads it too.
are_empty() { metrics | awk '/^inference_spoa_replica_engine_kv_usage_ratio[{]instance="svc-a"/ { n += $NF < 0.1 } END { exit n != 2 }'; }
wait_for 5 "the pages to show empty caches" are_empty
hold 4 --body-bytes 60000 --seed 21
are_full() { metrics | awk '/^inference_spoa_replica_engine_kv_usage_ratio[{]instance="svc-a"/ { n += $NF > 0.5 } END { exit n != 2 }'; }
wait_for 5 "the pages to show full caches" are_full
with_policy "{\"defaults\": {$FULL}, $ONLY_A}"
expect "429 - - overload"
fault hang
wait_for 10 "the pages to be too old" answers 200
for _ in $(seq 20); do expect "200 svc-a *"; done
say "full caches by fresh pages: 429; by pages that stand still: 20 of 20 served"
with_policy "{\"defaults\": {\"strategy\": \"least-kv-cache\"}, $ONLY_A}"
before=$(metric strategy_degraded_total)
requests --count 60 --rate 60 --parallel 16 --body-bytes 3000 --max-tokens 1 --expect-all-200 --output "$T/blind" 2>>"$T/player.log" ||
	fail "without pages: $(cat "$T/player.log")"
[ $(($(metric strategy_degraded_total) - before)) -ge 60 ] || fail "nobody was told that least-kv-cache is blind"
fault none
with_policy "{\"defaults\": {$FULL}, $ONLY_A}"
wait_for 10 "full caches to be refused again" answers 429
let_go
say "a strategy of the lost pages alone: 60 of 60 served, and counted as degraded; then 429 again"

with_policy "{\"defaults\": {$LIMITS}, $A_THEN_B}"
stop engines
at_b() { [ "$(asked)" = "200 svc-b r0 fallback" ]; }
wait_for 15 "the fallback service to be used" at_b
for _ in $(seq 20); do expect "200 svc-b r0 fallback"; done
[ "$(metric loop_stalls_total)" = 0 ] || say "note: $(metric loop_stalls_total) stalls of the loop"
say "without svc-a: 20 of 20 at the fallback service"
say "ok"
