#!/bin/bash
# counts.sh - 5000 requests that end in every way, an agent restart and a HAProxy reload in the middle: every count comes
# back to 0, none is ever negative, none expires, and the gauges equal HAProxy's sessions. Proves R110, R111, R113, R121, B009, B024,
# P027, P035, P053, P054.
. "$(dirname "$0")/lib.sh"
# A timeout of an engine within the test's patience; the rest is as shipped.
HAPROXY_EDIT='s/timeout server .*/timeout server 3s/; s/wait-for-body time 540s/wait-for-body time 3s/'
start_all 4 --speed 20 --prefill-rate 400000

play() { # NAME COUNT SEED [player options]
	local name=$1 count=$2 seed=$3
	shift 3
	"$PLAYER" chaos --to "127.0.0.1:$HTTP_PORT" --count "$count" --rate 140 --parallel 200 --body-bytes 3000 --same-prefix 2000 \
		--groups 40 --max-tokens 24 --stream --seed "$seed" --timeout 20 --deadline 200 "$@" --output "$T/$name" 2>"$T/$name.log" &
	PIDS[player]=$!
}
# 2500 without resets before the headers: of those HAProxy 2.6 writes no end line (see missing.c), so that its
# sessions and our slots differ until they have been compared.
play first 2500 7 --without reset --without close

# One sample: HAProxy's sessions before and after the gauges; the gauge must lie between them, give or take one.
compare() {
	local before after gauges i low high gauge
	before=$(sessions)
	gauges=$(metrics)
	after=$(sessions)
	for ((i = 0; i < ENGINES; i++)); do
		low=$(echo "$before $after" | awk -v n=$((i + 1)) -v all="$ENGINES" '{ a = $n; b = $(n + all); print (a < b ? a : b) - 1 }')
		high=$(echo "$before $after" | awk -v n=$((i + 1)) -v all="$ENGINES" '{ a = $n; b = $(n + all); print (a > b ? a : b) + 1 }')
		gauge=$(echo "$gauges" | awk -v r="replica=\"r$i\"" '/^inference_spoa_replica_inflight_requests[{]/ && index($0, r) { print $NF }')
		samples=$((samples + 1))
		if awk -v g="$gauge" -v l="$low" -v h="$high" 'BEGIN { exit !(g >= l && g <= h) }'; then
			agreed=$((agreed + 1))
		fi
		awk -v g="$gauge" 'BEGIN { exit !(g >= 0) }' || fail "a gauge is negative: r$i $gauge"
	done
}
sessions() {
	echo "show stat" | socat - "UNIX-CONNECT:$T/infer.sock" |
		awk -F, '$1 == "svc-a" && $2 ~ /^r/ { v[$2] = $5 + $3 } END { for (i = 0; ("r" i) in v; i++) printf "%d ", v["r" i] }'
}
begun=$SECONDS
after() { while [ $((SECONDS - begun)) -lt "$1" ]; do sleep 0.05; done; }
samples=0 agreed=0

after 2; while [ $((SECONDS - begun)) -lt 8 ]; do compare; sleep 0.1; done
say "before the agent's restart: $agreed of $samples gauges within 1 of HAProxy's sessions"
[ $((agreed * 100)) -ge $((samples * 95)) ] || fail "gauges and sessions differ"

stop agent KILL; start_agent; say "agent killed and restarted at $((SECONDS - begun)) s"
after 13; samples=0 agreed=0
while [ $((SECONDS - begun)) -lt 17 ]; do compare; sleep 0.1; done
say "after it: $agreed of $samples"
[ $((agreed * 100)) -ge $((samples * 95)) ] || fail "gauges and sessions differ after the restart"

wait "${PIDS[player]}" || fail "player: $(cat "$T/first.log")"
wait_for 2 "every in-flight gauge to be 0" all_slots_are_back

say "now with resets, and a HAProxy reload in the middle:"
play second 2500 8
after $((SECONDS - begun + 6))
old=${PIDS[haproxy]}
start_haproxy -sf "$old"
say "HAProxy reloaded at $((SECONDS - begun)) s: pid $old -> ${PIDS[haproxy]}"
wait "${PIDS[player]}" || fail "player: $(cat "$T/second.log")"
unset "PIDS[player]"
cat "$T/first.log" "$T/second.log"
# The client's streams are at their end; within two seconds every slot is back.
wait_for 2 "every in-flight gauge to be 0" all_slots_are_back
metrics | grep -E '^inference_spoa_(replica_inflight_requests|instance_inflight_requests|slots_expired_total|slots_moved_total|pin_overridden_total|log_lines_total|terminations_total)' || true
[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired"
[ "$(metrics | grep -c 'inflight.* -')" = 0 ] || fail "a gauge is negative"
[ "$(cat "$T/first" "$T/second" | jq -s length)" = 5000 ] || fail "not all 5000 were played"
say "ok"
