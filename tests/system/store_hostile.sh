#!/bin/bash
# store_hostile.sh - somebody writes noise, broken batches and lies into the agents' streams: they live, stay small, serve each request
# by one of their own candidates, and agree again when it is over. Proves B004.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
start_engines 4 --speed 100 --prefill-rate 1000000 --max-running 256
start_store
start_pairs 2 --redis "redis://127.0.0.1:$STORE_PORT/0" --log-decisions all
linked() { [ "$(metric store_up)" = 1 ] && [ "$(metric store_peers)" = 1 ]; }
wait_for 10 "the agents to know each other" everywhere linked
resident() { awk '/^VmRSS/ { print $2 }' "/proc/${PIDS[agent$1]}/status"; }
play() { # NAME COUNT: through both
	local pair
	for pair in 1 2; do
		"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --count "$2" --rate 60 --parallel 64 --body-bytes 6000 --same-prefix 4800 --groups 50 \
			--max-tokens 4 --stream --seed 5 --timeout 10 --deadline 60 --expect-all-200 --output "$FOLDER/$1.$pair" 2>"$FOLDER/player.$pair.log" &
		PIDS[player$pair]=$!
	done
}
played() {
	local pair
	for pair in 1 2; do
		wait "${PIDS[player$pair]}" || fail "requests failed: $(cat "$FOLDER/player.$pair.log")"
		unset "PIDS[player$pair]"
	done
}
play before 120
played
before1=$(resident 1) before2=$(resident 2)

play during 480
# shellcheck disable=SC2046 # several words
written=$(python3 "$HERE/../redis/hostile.py" "$STORE_PORT" 7 "${CHAOS_SEED:-1}" $(engine_list | tr , ' ') @svc-a)
played
say "written: $written"
for pair in 1 2; do
	kill -0 "${PIDS[agent$pair]}" || fail "agent $pair is gone"
	[ "$(jq -r 'select(.action == "route") | .addr' "$FOLDER/$pair/decisions.out" | sort -u | grep -cvxF "$(engine_list | tr , '\n')" || true)" = 0 ] ||
		fail "agent $pair chose somebody else: $(jq -r .addr "$FOLDER/$pair/decisions.out" | sort | uniq -c)"
	left=$(at $pair metrics | awk '/^inference_spoa_store_batches_total/ && !/"ok"|"own"/ { n += $NF } END { print n + 0 }')
	say "agent $pair: $left batches could not be read; $(resident $pair) KB, $((before1 * (2 - pair) + before2 * (pair - 1))) before; $(at $pair metric loop_stalls_total) stalls"
	[ "$left" -gt 100 ] || fail "nothing was refused: $(at $pair metrics | grep store_)"
done
# What it may hold of others is bounded: agents, sessions, prefixes, names.
[ "$(resident 1)" -lt $((before1 + 60000)) ] || fail "memory: $before1, now $(resident 1) KB"

say "the liar is gone:"
quiet() { [ "$(metric store_peers)" = 1 ] && [ "$(metric replica_peers_requests)" = 0 ]; }
wait_for 10 "strangers to be forgotten" everywhere quiet
play after 120
played
wait_for 5 "all slots to come back" everywhere all_slots_are_back
say "and keys of another type:"
store del "infer:1:{default}:live" "infer:1:{default}:kept" >/dev/null
store set "infer:1:{default}:live" x >/dev/null
play wrong 120
played
store del "infer:1:{default}:live" >/dev/null
wait_for 15 "the agents to know each other again" everywhere linked
say "ok"
