#!/bin/bash
# slo.sh - objectives of requests, with real HAProxy: the least loaded or the fullest that is in time; where all would be too late no
# replica is named, the request waits in HAProxy's queue for any of them and the first that is free takes it, no longer than timeout
# queue; an earlier deadline goes first. Proves R155, R156, R157, R158.
. "$(dirname "$0")/lib.sh"
# One at a time at each server: a prompt that is computed for half a minute keeps it.
# Without maxqueue: with one HAProxy's leastconn lets a request of no server wait for the queue of one.
HAPROXY_EDIT='s/ maxconn 256 maxqueue 32/ maxconn 1/
s/timeout queue  .*/timeout queue 4s/'
start_engines 2 --step-us 10000 --decode-us 0 --prefill-rate 500 --step-tokens 50
start_haproxy
echo '{"defaults": {"strategy": "slo", "queue": {"client-objectives": true}}, "models": {"long": {"profile": {"strategy": "least-request"}}}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

declare -A CURL=()
long() { # REPLICA EXCEPT: its server is taken, and 15000 tokens wait there
	printf '{"model":"sim","stream":true,"max_tokens":10,"messages":[{"role":"user","content":"%060000d"}]}' 1 >"$T/long.json"
	curl -sSN --max-time 60 -o "$T/long.$1" -H content-type:application/json -H "x-infer-exclude:$2" -H routing-strategy:least-request \
		"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" -d @"$T/long.json" 2>>"$T/curl.log" &
	PIDS[$1]=$!
	is_taken() { [ "$(haproxy_stat svc-a "$1" 5)" = 1 ]; }
	wait_for 5 "$1 to be taken" is_taken "$1"
}
queued() { haproxy_stat svc-a BACKEND 3; }
is_queued() { [ "$(queued)" = "$1" ]; }
# ask NAME [HEADER...]: in the background; "STATUS REPLICA SERVED REASON" is in $T/NAME.said when it is answered, and NAME in $T/order.
ask() {
	local name=$1 header headers=()
	shift
	for header; do headers+=(-H "$header"); done
	(
		curl -sS --max-time 20 -o /dev/null -D "$T/$name.head" -H content-type:application/json -H "x-infer-debug: 1" "${headers[@]}" \
			"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
			-d '{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"hello"}]}' 2>>"$T/curl.log"
		tr -d '\r' <"$T/$name.head" | awk 'BEGIN { r = s = w = "-" } NR == 1 { status = $2 } tolower($1) == "x-infer-replica:" && NF > 1 { r = $2 }
			tolower($1) == "x-infer-served:" && NF > 1 { s = $2 } tolower($1) == "x-infer-reason:" { w = $2 }
			END { print status, r, s, w }' >"$T/$name.new"
		echo "$name" >>"$T/order"
		mv "$T/$name.new" "$T/$name.said"
	) &
	PIDS[ask_$name]=$!
}
said() { wait_for 15 "the answer to $1" test -s "$T/$1.said"; cat "$T/$1.said"; }

long r0 r1
ask spread routing-strategy:slo-least-load x-slo-ttft-ms:20000
[[ "$(said spread)" = "200 r1 r1 "* ]] || fail "the least loaded: $(cat "$T/spread.said")"
ask packed routing-strategy:slo-pack-load x-slo-ttft-ms:20000
wait_for 5 "the packed one to wait at r0" eval '[ "$(haproxy_stat svc-a r0 3)" = 1 ]'
say "in time at both: least-load at r1, pack-load at r0, which is full"

# The packed one goes its way when r0 is free.
stop r0
[[ "$(said packed)" = "200 r0 r0 "* ]] || fail "the fullest: $(cat "$T/packed.said")"
wait_for 5 "all slots to come back" all_slots_are_back

long r0 r1
long r1 r0
ask relaxed x-slo-ttft-ms:600
wait_for 5 "it to wait for any" is_queued 1
ask urgent x-slo-ttft-ms:150
wait_for 5 "both to wait for any" is_queued 2
[ "$(($(haproxy_stat svc-a r0 3) + $(haproxy_stat svc-a r1 3)))" = 0 ] || fail "somebody waits for one server"
stop r1
[ "$(said urgent)" = "200 - r1 late" ] || fail "who was in a hurry: $(cat "$T/urgent.said")"
[ "$(said relaxed)" = "200 - r1 late" ] || fail "who was not: $(cat "$T/relaxed.said")"
[ "$(tail -n 2 "$T/order" | tr '\n' ' ')" = "urgent relaxed " ] || fail "in this order: $(cat "$T/order")"
say "late at both: they waited for any, r1 was free first and served them, the urgent one first"

long r1 r0
ask never x-slo-ttft-ms:100
begun=$(now_ms)
[[ "$(said never)" = "503 - "* ]] || fail "who waited for ever: $(cat "$T/never.said")"
[ $(($(now_ms) - begun)) -ge 3000 ] || fail "not as long as timeout queue"
stop r0
stop r1
wait_for 5 "all slots to come back" all_slots_are_back
say "ok: and with nobody free it was 503 after $(($(now_ms) - begun)) ms of queue"
