#!/bin/bash
# operator.sh - what people do at night: drain a replica and wait for its streams, take one out, give both back, reload.
# Proves R013, R015, R019, R068.
. "$(dirname "$0")/lib.sh"
start_engines 3 --speed 4
write_haproxy_config
start_haproxy
start_agent --admin "unix:$T/admin.sock"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"
S=unix:$T/admin.sock

act() { "$AGENT_PROGRAM" "$@" --server "$S"; }
requests() { curl -sS --max-time 5 "http://127.0.0.1:$((ENGINE_PORT + $1))/sim/state" | jq .requests; }
play() { # COUNT RATE MAX_TOKENS
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count "$1" --rate "$2" --parallel 64 --body-bytes 1500 --max-tokens "$3" --stream \
		--timeout 20 --deadline 30 --output "$T/played" --seed "$1" 2>"$T/player.log"
	[ "$(jq -s 'map(select(.status != 200)) | length' "$T/played")" = 0 ] || fail "a request failed"
}

say "a replica is drained under load, and its streams end:"
play 150 50 400 &
PIDS[player]=$!
wait_for 10 "streams" sh -c "[ \"\$(curl -sS 127.0.0.1:$ADMIN_PORT/metrics | grep -c 'replica_inflight_requests{.*r0.* [1-9]')\" = 1 ]"
code=0
act drain svc-a/r0 --wait 0 2>/dev/null || code=$?
[ "$code" = 4 ] || fail "something runs there, and the command ended with $code"
act drain svc-a/r0 --wait 20s
before=$(requests 0)
wait "${PIDS[player]}"
unset "PIDS[player]"
play 60 100 4
[ "$(requests 0)" = "$before" ] || fail "a drained replica got requests"

say "an ejected one gets none either, and both are given back:"
act eject svc-a/r1
[ "$(metric replica_state 'replica="r1",state="ejected"')" = 1 ] || fail "r1 is not ejected"
act enable svc-a/r0
act enable svc-a/r1
[ "$(metric replica_state 'state="up"')" = 3 ] || fail "not all are up"
act flush prefix svc-a
play 60 100 4
[ "$(requests 0)" -gt "$before" ] || fail "an enabled replica got nothing"

say "what runs is checked against a policy:"
"$AGENT_PROGRAM" check --live --haproxy "$T/infer.sock" >"$T/checked" || fail "$(cat "$T/checked")"
[ "$(grep -c 'serves sim' "$T/checked")" = 3 ] || fail "$(cat "$T/checked")"
grep -q "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p')" "$T/checked" || fail "$(cat "$T/checked")"
echo '{"instances":{"svc-a":{"models":["other"]},"svc-z":{}}}' >"$T/other.json"
code=0
"$AGENT_PROGRAM" check -c "$T/other.json" --live --haproxy "$T/infer.sock" >"$T/checked" || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'does not serve other; it serves sim' "$T/checked")" = 3 ] && grep -q 'instances.svc-z: no HAProxy' "$T/checked" ||
	fail "$code: $(cat "$T/checked")"

say "a good policy is in force at once, a bad one is refused:"
act reload
code=0
act drain nobody 2>/dev/null || code=$?
[ "$code" = 1 ] || fail "a target that is not there: $code"
code=0
"$AGENT_PROGRAM" drain svc-a/r0 --server "127.0.0.1:$ADMIN_PORT" 2>/dev/null || code=$?
[ "$code" = 1 ] || fail "changed over TCP: $code"
say "passed"
