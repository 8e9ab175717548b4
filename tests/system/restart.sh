#!/bin/bash
# restart.sh - long streams outlive the agent and HAProxy's process: none is cut, a new agent sees their load in HAProxy's
# sessions, and their slots stay over a HAProxy reload until they end. Proves B009, R086, P054.
. "$(dirname "$0")/lib.sh"
start_all 4 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000
LONG=60000 # bytes of a prefix that is worth more than ten requests in flight

streams() { # COUNT TOKENS SEED: that many at once, all with one prefix
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 1 --body-bytes $((LONG + 100)) --same-prefix $LONG --max-tokens 1 \
		--seed "$3" --stream --expect-all-200 --output "$T/first" 2>"$T/player.log" || fail "player: $(cat "$T/player.log")"
	wait_for 5 "the slot to come back" all_slots_are_back
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count "$1" --parallel "$1" --body-bytes $((LONG + 100)) --same-prefix $LONG \
		--max-tokens "$2" --seed "$3" --stream --expect-all-200 --timeout 60 --output "$T/streams" 2>"$T/player.log" &
	PIDS[player]=$!
	wanted=$1
	are_open() { [ "$(metric replica_inflight_requests)" = "$wanted" ]; }
	wait_for 10 "the streams to be open" are_open
	busy=$(metrics | awk '/^inference_spoa_replica_inflight_requests[{]/ && $NF > most { most = $NF; line = $0 }
		END { sub(/.*replica="/, "", line); sub(/".*/, "", line); print line }')
	[ "$(metric replica_inflight_requests "replica=\"$busy\"")" = "$1" ] || fail "the streams are not on one replica"
}
load() { # of the busy replica, as a decision sees it
	echo $(($(metric replica_inflight_requests "replica=\"$busy\"") + $(metric replica_drift_requests "replica=\"$busy\"")))
}
streams_end_well() {
	kill -0 "${PIDS[player]}" 2>/dev/null || fail "the streams had ended before: too early to prove anything"
	wait "${PIDS[player]}" || fail "streams failed: $(cat "$T/player.log")"
	unset "PIDS[player]"
	wait_for 2 "all slots to come back" all_slots_are_back
}

streams 10 450 3
say "10 streams on $busy, load $(load)"
stop agent KILL
start_agent
begun=$(now_ms)
is_seen() { [ "$(load)" = 10 ]; }
wait_for 5 "HAProxy's sessions to be seen as load" is_seen
say "the new agent sees them after $(($(now_ms) - begun)) ms: $(metric replica_inflight_requests) slots, drift $(metric replica_drift_requests)"
[ $(($(now_ms) - begun)) -le 3000 ] || fail "later than 3 s"
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 12 --parallel 4 --body-bytes 1000 --max-tokens 20 --stream --header x-infer-debug:1 \
	--seed 9 --expect-all-200 --output "$T/next" 2>"$T/next.log" || fail "player: $(cat "$T/next.log")"
say "the next 12 went to: $(jq -r .served "$T/next" | sort | uniq -c | tr -s ' \n' ' ')"
! jq -r .served "$T/next" | has -x "$busy" || fail "one of the next went to $busy"
streams_end_well
no_drift() { [ "$(metrics | grep -c '^inference_spoa_replica_drift_requests{.* -*[1-9]')" = 0 ]; }
wait_for 5 "the drift to end with them" no_drift
say "all 10 ended well, nothing is counted any more"

streams 5 400 4
old=${PIDS[haproxy]}
start_haproxy -sf "$old"
is_reloaded() { grep -q "was reloaded" "$T/agent.log"; }
wait_for 5 "the agent to see the reload" is_reloaded
say "HAProxy reloaded: pid $old -> ${PIDS[haproxy]}"
for _ in $(seq 12); do # several counts of HAProxy's sessions
	seen=$(load)
	kill -0 "${PIDS[player]}" 2>/dev/null || fail "the streams ended too early"
	[ "$seen" = 5 ] || fail "load $seen while 5 streams are open on the old process"
	sleep 0.25
done
say "5 slots are held over twelve looks in three seconds"
streams_end_well
[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired"
[ "$(metric slots_released_total 'source="log"')" -ge 6 ] || fail "the old process's lines did not release them"
say "ok"
