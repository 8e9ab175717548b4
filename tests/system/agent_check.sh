#!/bin/bash
# agent_check.sh - HAProxy's agent-check, as the generator writes it, with real HAProxy: weights follow the policy and health, and HAProxy
# balances by the last of them while the agent is frozen and when it is killed, all served, also by the one that it held for sick; maxconn
# follows what the engine says it can run, what is more waits in HAProxy and not in the engine, and what is more than a server's
# queue may hold is served elsewhere, and counted there. Proves B002, B040, P035.
. "$(dirname "$0")/lib.sh"
ENGINE="--step-us 10000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 --page generic"
# shellcheck disable=SC2086 # several words
start_engines 3 $ENGINE --max-running 64
write_haproxy_config
CHECK_PORT=$(free_ports 1)
"$AGENT_PROGRAM" haproxy config --instance "svc-a=$(engine_list)" --agent-check "127.0.0.1:$CHECK_PORT" |
	sed 's/ agent-inter 2s/ agent-inter 100ms/; s/ maxqueue 32/ maxqueue 4/' >"$T/haproxy.cfg"
"$AGENT_PROGRAM" check --haproxy-config "$T/haproxy.cfg" --agent-check "127.0.0.1:$CHECK_PORT" >"$T/checked" || fail "check: $(cat "$T/checked")"
start_haproxy
RUN="--policy $T/policy.json --agent-check 127.0.0.1:$CHECK_PORT --admin unix:$T/admin.sock"
echo '{"instances": {"svc-a": {"replicas": {"r1": {"weight": 0.5}}}}}' >"$T/policy.json"
# shellcheck disable=SC2086
start_agent $RUN
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

weights() { local r; for r in r0 r1 r2; do echo "$(haproxy_stat svc-a $r 18)/$(haproxy_stat svc-a $r 19)"; done | sed "s/ (agent)//" | tr "\n" " "; }
are() { [ "$(weights)" = "$1 " ]; }
limits() { local r; for r in r0 r1 r2; do haproxy_stat svc-a $r 7; done | tr '\n' ' '; }
limits_are() { [ "$(limits)" = "$1 " ]; }

wait_for 10 "the weights of the policy" are "UP/100 UP/50 UP/100"
wait_for 10 "the engines' limits" limits_are "64 64 64"
"$AGENT_PROGRAM" eject svc-a/r2 --server "unix:$T/admin.sock" >/dev/null
wait_for 10 "the weight of the ejected" are "UP/100 UP/50 UP/1"
"$AGENT_PROGRAM" drain svc-a/r0 --server "unix:$T/admin.sock" >/dev/null
is_drained() { [[ "$(weights)" = "DRAIN/"*" UP/50 UP/1 " ]]; }
wait_for 10 "the drained to be drained in HAProxy, too" is_drained
"$AGENT_PROGRAM" enable svc-a/r0 --server "unix:$T/admin.sock" >/dev/null
wait_for 10 "it to be ready again" are "UP/100 UP/50 UP/1"

# Whoever decides, all are served: in which parts? By closed loops of requests that all take as long.
play() { # NAME
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 450 --parallel 45 --body-bytes 100 --max-tokens 10 --timeout 30 --expect-all-200 \
		--output "$T/$1" 2>>"$T/player.log" || fail "$1: $(cat "$T/player.log")"
	are "UP/100 UP/50 UP/1" || fail "$1: the weights are $(weights)"
	served=$(jq -rs "[range(3) as \$i | map(select(.served == ($ENGINE_PORT + \$i | tostring))) | length] | join(\" \")" "$T/$1")
	say "$1: served by r0, r1, r2: $served"
}
stop_engines_and_start() { # MAX-RUNNING: as an engine that is started anew with another batch
	stop engines
	rm -f "$T/engines.ready"
	# shellcheck disable=SC2086
	"$SIM" --port-base "$ENGINE_PORT" --engines 3 --ready-file "$T/engines.ready" $ENGINE --max-running "$1" >>"$T/engines.log" 2>&1 &
	PIDS[engines]=$!
	wait_for 10 "the engines" test -s "$T/engines.ready"
}
is_away() { [ "$(haproxy_stat infer-agents agent 18)" != UP ]; }
# By twice the weight twice as many; and some by who has a weight of 1, for that is not nothing.
parts() {
	# shellcheck disable=SC2086
	set -- $served
	[ $((10 * $1)) -ge $((15 * $2)) ] && [ $((10 * $1)) -le $((25 * $2)) ] && [ "$3" -ge 1 ] && [ "$3" -le $(($2 / 2)) ] ||
		fail "served by r0, r1, r2: $served, with weights of 100, 50 and 1"
}
kill -STOP "${PIDS[agent]}"
wait_for 10 "HAProxy to see that the agent is frozen" is_away
play frozen
parts
kill -CONT "${PIDS[agent]}"
stop agent KILL
wait_for 10 "HAProxy to see that the agent is gone" is_away
play killed
parts
stop_engines_and_start 8
# shellcheck disable=SC2086
start_agent $RUN

# The backlog. Streams that do not end, pinned to r0 by who must not serve.
wait_for 10 "the limits of the engines that began anew" limits_are "8 8 8"
PINNED=0
pinned() { # COUNT
	local i
	for ((i = 0; i < $1; i++)); do
		PINNED=$((PINNED + 1))
		curl -sSN --max-time 60 -o "$T/stream.$PINNED" -H content-type:application/json -H x-infer-exclude:r1,r2 \
			"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
			-d '{"model":"sim","stream":true,"max_tokens":100000,"messages":[{"role":"user","content":"hello"}]}' 2>>"$T/curl.log" &
		PIDS[pinned$PINNED]=$!
		is_there() { [ "$(($(haproxy_stat svc-a r0 3) + $(haproxy_stat svc-a r0 5) + $(haproxy_stat svc-a r1 5) + $(haproxy_stat svc-a r2 5)))" = $PINNED ]; }
		wait_for 5 "stream $PINNED to be in HAProxy" is_there
	done
}
let_go() {
	local i
	for ((i = 1; i <= PINNED; i++)); do stop pinned$i; done
	PINNED=0
	wait_for 5 "all slots to come back" all_slots_are_back
}
# of r0: at work in HAProxy, in its queue there; running in the engine, waiting there
at_r0() {
	echo "$(haproxy_stat svc-a r0 5) $(haproxy_stat svc-a r0 3) $(curl -sS "http://127.0.0.1:$ENGINE_PORT/sim/state" | jq -r '"\(.running) \(.waiting)"')"
}
holds() { [ "$(at_r0)" = "$1" ]; }
inflight() { metric replica_inflight_requests "replica=\"$1\""; }
is_counted() { [ "$(inflight r0)" = "$1" ] && [ $(($(inflight r1) + $(inflight r2))) = "$2" ]; }
overridden=$(metric pin_overridden_total 'cause="maxqueue"')
pinned 15
wait_for 5 "8 at work and 4 in the queue" holds "8 4 8 0"
wait_for 5 "3 to be counted where they are served" is_counted 12 3
say "15 pinned to one that can do 8: $(at_r0) (at work, in HAProxy's queue; running, waiting in the engine), 3 elsewhere"
let_go
[ $(($(metric pin_overridden_total 'cause="maxqueue"') - overridden)) = 3 ] || fail "pin_overridden_total: $(metrics | grep pin_overridden)"

stop_engines_and_start 3
wait_for 10 "the limits of the engines that began anew" limits_are "3 3 3"
pinned 8
wait_for 5 "3 at work and 4 in the queue" holds "3 4 3 0"
say "8 pinned to one that can do 3: $(at_r0), 1 elsewhere"
# The operator knows better: at once, also for those that wait already.
with_policy '{"instances": {"svc-a": {"replicas": {"r0": {"slots": 2}, "r1": {"slots": 5}}}}}'
wait_for 10 "the policy's slots" limits_are "2 5 3"
let_go
say "ok"
