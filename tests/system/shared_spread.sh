#!/bin/bash
# shared_spread.sh - soft-k-choice by three agents, each of which sees the others' work late, spreads requests in flight as evenly as
# one agent that sees all: the fullest engine has at most 1.3 times as much over the mean. The standard deviation is printed; of a run of
# seconds it is too uncertain for a bound, which tests/policies/test_herd_agents.c has. Proves R106, P058.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
start_engines 6 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 --max-running 256
start_store
echo '{"strategies": {"wide": {"signals": {"running": 1}, "picker": "soft-k"}}, "defaults": {"strategy": "wide"}}' >"$FOLDER/policy.json"
start_pairs 3 --policy "$FOLDER/policy.json" --redis "redis://127.0.0.1:$STORE_PORT/0"
linked() { [ "$(metric store_up)" = 1 ] && [ "$(metric store_peers)" = 2 ]; }
wait_for 10 "the agents to know each other" everywhere linked
urls=()
for ((i = 0; i < ENGINES; i++)); do urls+=("http://127.0.0.1:$((ENGINE_PORT + i))/sim/state"); done
# spread NAME PAIR...: 60 requests/s through these together, about 24 in flight; how much more than the mean the fullest
# engine runs, mean of all looks, in SPREAD.
spread() {
	local name=$1 pair until
	shift
	for pair; do
		"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --count 100000 --rate $((60 / $#)) --parallel 128 --body-bytes 800 --max-tokens 19 --stream \
			--seed "$pair" --timeout 20 --deadline 60 --expect-all-200 --output "$FOLDER/$name.$pair" 2>"$FOLDER/player.$pair.log" &
		PIDS[player$pair]=$!
	done
	sleep 1.5
	until=$(($(now_ms) + 8000))
	: >"$FOLDER/$name"
	while [ "$(now_ms)" -lt "$until" ]; do
		curl -sS --max-time 5 "${urls[@]}" | jq -s -c 'map(.running + .waiting)' >>"$FOLDER/$name"
	done
	for pair; do
		kill -USR1 "${PIDS[player$pair]}"
		wait "${PIDS[player$pair]}" || fail "player $pair: $(cat "$FOLDER/player.$pair.log")"
		unset "PIDS[player$pair]"
	done
	SPREAD=$(jq -s 'map(max * length / add) | add / length * 1000 | round / 1000' "$FOLDER/$name")
	DEVIATION=$(jq -s 'map((add / length) as $m | map(. - $m | . * .) | add / length | sqrt) | add / length * 1000 | round / 1000' "$FOLDER/$name")
	say "$name: $(wc -l <"$FOLDER/$name") looks, $(jq -s 'map(add) | add / length * 10 | round / 10' "$FOLDER/$name") in flight, spread $SPREAD, standard deviation $DEVIATION"
}
spread one 1
one=$SPREAD one_deviation=$DEVIATION
spread three 1 2 3
three=$SPREAD
ratio=$(awk -v a="$three" -v b="$one" 'BEGIN { printf "%.2f", a / b }')
say "three agents spread $ratio times as much as one, by the standard deviation $(awk -v a="$DEVIATION" -v b="$one_deviation" 'BEGIN { printf "%.2f", a / b }') times"
awk -v r="$ratio" 'BEGIN { exit !(r <= 1.3) }' || fail "they herd"
say "ok"
