#!/bin/bash
# shared_haproxy.sh - two agents of one HAProxy, of which the first is asked while it is there, over one store and with "loads":
# false: HAProxy's sessions tell each of the other one's requests, and nobody counts one twice, neither while all are the first one's,
# nor when both have some, nor at their end. With loads they would, which this test must see. Proves P058 in part.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
start_engines 3 --step-us 50000 --decode-us 0 --prefill-rate 1000000
base=$(free_ports 4)
SPOP2_PORT=$base LOG2_PORT=$((base + 1)) ADMIN2_PORT=$((base + 2))
# As `haproxy ingress --agent A --agent B` has it: one decides while it lives, both are told of each end.
HAPROXY_EDIT="s|^    server agent \"\${INFER_SPOP}\"|&\n    server agent2 127.0.0.1:$SPOP2_PORT backup|
s|^    log ring@infer-log .*|&\n    log 127.0.0.1:$LOG2_PORT len 2048 format raw local0|
s|^    stats socket .*|&\n    stats socket \${INFER_RUN}/admin.sock mode 600 level admin|"
start_store
policy() { echo "{\"defaults\": {\"health\": {\"ramp\": 0}}, \"redis\": {\"url\": \"redis://127.0.0.1:$STORE_PORT\", \"loads\": $1}}" >"$T/policy.json"; }
policy false
start_haproxy
start_agent --policy "$T/policy.json"
second() { ADMIN_PORT=$ADMIN2_PORT "$@"; }
"$AGENT_PROGRAM" run --haproxy "$T/infer.sock" --spop "127.0.0.1:$SPOP2_PORT" --log-listen "127.0.0.1:$LOG2_PORT" \
	--admin "127.0.0.1:$ADMIN2_PORT" --policy "$T/policy.json" --ready-file "$T/second.ready" >"$T/second.out" 2>"$T/second.log" &
PIDS[second]=$!
wait_for 10 "the second agent" test -s "$T/second.ready"
hear_each_other() { [ "$(metric store_peers)" = 1 ] && [ "$(second metric store_peers)" = 1 ]; }
wait_for 10 "the agents to hear each other" hear_each_other
wait_for 10 "the second to know the servers" second fleet_is_known
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), two agents, folder $T"

# What an agent's decisions look at: requests in flight on all replicas, of whomever.
running() { "$AGENT_PROGRAM" explain --model sim --json --server "127.0.0.1:$ADMIN_PORT" | jq '[.levels[1].candidates[].running] | add'; }
runs() { [ "$(running)" = "$1" ]; }
own() { metric replica_inflight_requests; }
requests() { # COUNT: streams in the background, which end when their client is killed
	for ((; asked_for < $1; asked_for++)); do
		curl -sS -o /dev/null -H content-type:application/json "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
			-d '{"model":"sim","stream":true,"max_tokens":100000,"min_tokens":100000,"messages":[{"role":"user","content":"hello"}]}' &
		PIDS[client$asked_for]=$!
	done
}
asked_for=0
# both WANT1 WANT2 HOW-LONG-MS: seen so by each, and then at each look.
both() {
	local until
	wait_for 5 "the first to see $1" runs "$1"
	wait_for 5 "the second to see $2" second runs "$2"
	until=$(($(now_ms) + $3))
	while [ "$(now_ms)" -lt $until ]; do
		[ "$(running) $(second running)" = "$1 $2" ] || fail "they see $(running) and $(second running) instead of $1 and $2"
	done
}

requests 6
both 6 6 1500
[ "$(own) $(second own)" = "6 0" ] || fail "own slots: $(own) and $(second own)"
say "six requests of the first: six for both"

policy true
kill -HUP "${PIDS[second]}"
wait_for 5 "the second to count them twice, now that it takes loads" second runs 12
policy false
kill -HUP "${PIDS[second]}"
both 6 6 500
say "with loads they were twelve for the second"

# The first is not asked any more: the others are the second's.
echo "disable server infer-agents/agent; shutdown sessions server infer-agents/agent" | socat - "UNIX-CONNECT:$T/admin.sock" >/dev/null
requests 10
both 10 10 1000
[ "$(own) $(second own)" = "6 4" ] || fail "own slots: $(own) and $(second own)"
say "and four of the second: ten for both"

for ((n = 0; n < asked_for; n++)); do stop client$n; done
both 0 0 500
[ "$(own) $(second own)" = "0 0" ] || fail "own slots at the end: $(own) and $(second own)"
say "ok: none is left at either"
