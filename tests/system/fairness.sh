#!/bin/bash
# fairness.sh - a heavy caller cannot make a light one wait, with real HAProxy: with vtc-basic the light one's p95 beside a heavy one
# that keeps all engines full and a backlog in HAProxy stays within 1.2 of its p95 alone, while the heavy one is served at full
# speed; where nobody is fair the light one stands in the heavy one's queue. Proves B042.
. "$(dirname "$0")/lib.sh"
# The tenant is named by a header, as a map of credentials would; 32 at a time at each of two engines.
HAPROXY_EDIT='s/set-var(txn.infer_tenant) "req.fhdr(authorization),xxh64(${INFER_SEED})"/set-var(txn.infer_tenant) req.fhdr(x-tenant)/
/set-var(txn.infer_tenant) "req.fhdr(x-api-key)/d
s/ maxconn 256 maxqueue 32/ maxconn 32 maxqueue 256/'
start_engines 2 --step-us 10000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000
start_haproxy
echo '{"defaults": {"strategy": "vtc-basic"}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

requests() { "$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --body-bytes 200 --timeout 60 "$@" 2>>"$T/player.log"; }
# The light one: ten a second, half a second of work each. p95 of all, in ms, in $P95.
light() { # NAME COUNT
	requests --header x-tenant:light --count "$2" --rate 10 --parallel "$2" --max-tokens 50 --stream --expect-all-200 --output "$T/$1" ||
		fail "light: $(cat "$T/player.log")"
	P95=$(jq -s 'map(.total_us / 1000) | sort | .[length * 0.95 - 1 | floor] | round' "$T/$1")
}
# The heavy one: 192 at once without end, of several lengths, where 64 can run.
LENGTHS="31 37 43 47 53 59"
heavy() {
	local tokens
	for tokens in $LENGTHS; do
		"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --body-bytes 200 --timeout 60 --header x-tenant:heavy --count 100000 --parallel 32 \
			--max-tokens "$tokens" --seed "$tokens" --output "$T/heavy.$tokens" 2>>"$T/player.log" &
		PIDS[heavy$tokens]=$!
	done
	has_backlog() { [ "$(metric instance_queue_requests)" -ge 64 ]; }
	wait_for 5 "the backlog" has_backlog
}
served() { echo $(($(haproxy_stat svc-a r0 8) + $(haproxy_stat svc-a r1 8))); }
no_more() {
	local tokens
	for tokens in $LENGTHS; do stop heavy$tokens; done
	wait_for 5 "all slots to come back" all_slots_are_back
}

light alone 40
alone=$P95
heavy
sleep 1.5 # until the heavy one has had much
# What else the machine does can hold up some of 40: then once more.
for attempt in 1 2; do
	before=$(served)
	light beside 40
	beside=$P95
	at_work=$(($(served) - before - 40))
	backlog=$(metric instance_queue_requests)
	say "attempt $attempt: p95 of the light one alone $alone ms, beside the heavy one $beside ms; $backlog in the queue, $at_work of the heavy one served"
	[ "$beside" -gt $((alone * 12 / 10)) ] || break
done
[ "$beside" -le $((alone * 12 / 10)) ] || fail "beside a heavy one the light one's p95 is $beside ms, alone $alone ms"
[ "$backlog" -ge 64 ] || fail "there was no backlog: $backlog"
[ "$at_work" -ge 300 ] || fail "the heavy one was held up: $at_work served"
no_more
with_policy '{"defaults": {"strategy": "least-request"}}'
heavy
light unfair 20
no_more
[ "$P95" -gt $((alone * 3 / 2)) ] || fail "without fairness the light one does not wait either ($P95 ms): then the test shows nothing"
say "ok: where nobody is fair the light one's p95 is $P95 ms"
