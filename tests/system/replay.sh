#!/bin/bash
# replay.sh - what a running agent and HAProxy wrote down can be played again, by other strategies. Proves B051.
. "$(dirname "$0")/lib.sh"
replay() { "$AGENT_PROGRAM" replay "$@"; }

say "made up conversations, twice:"
replay --requests 500 --strategy least-work,random --csv >"$T/once.csv"
replay --requests 500 --strategy least-work --strategy random --csv >"$T/again.csv"
cmp "$T/once.csv" "$T/again.csv" || fail "the same question, another answer"
awk -F, 'NR > 1 { hit[$1] = $2 } END { exit !(hit["least-work"] > hit["random"] + 10) }' "$T/once.csv" ||
	fail "least-work finds no more in the cache than chance does: $(cat "$T/once.csv")"
replay --requests 50 --strategy random --progress=plain 2>"$T/progress" >/dev/null
[ ! -s "$T/progress" ] || grep -q 'random: [0-9]* %' "$T/progress" || fail "progress: $(cat "$T/progress")"

say "the table of the docs names all:"
replay --requests 20 --csv | awk -F, 'NR > 1 { print $1 }' >"$T/names"
sed -n 's/^| `\([^`]*\)`.*/\1/p' "$HERE/../../docs/replay.md" | diff - "$T/names" || fail "run .ci/generate.sh"

say "bad input is named:"
status=0
replay --strategy nonsense >"$T/out" 2>&1 || status=$?
[ $status = 2 ] && grep -q -- '--strategy nonsense: nonsense: unknown name' "$T/out" || fail "exit $status: $(cat "$T/out")"
status=0
replay --replicas 0 >"$T/out" 2>&1 || status=$?
[ $status = 2 ] && grep -q -- '--replicas: expected a number from 1 to 1024, not 0' "$T/out" || fail "exit $status: $(cat "$T/out")"
status=0
echo nothing >"$T/bad"
replay "$T/bad" >"$T/out" 2>&1 || status=$?
[ $status = 1 ] && grep -q 'bad:1: expected a JSON object' "$T/out" || fail "exit $status: $(cat "$T/out")"

say "what an agent wrote down:"
start_engines 2 --prefill-rate 2000000 --speed 20
write_haproxy_config
start_haproxy
start_agent --log-decisions all
"$PLAYER" conversations --to "127.0.0.1:$HTTP_PORT" --count 20 --turns 3 --prompt-bytes 9000 --parallel 4 --seed 3 \
	--max-tokens 4 --stream --deadline 60 --expect-all-200 --output "$T/played" 2>"$T/player.log"
wait_for 5 "all slots to come back" all_slots_are_back
stop agent
grep -c '"hashes"' "$T/decisions.out" >"$T/count"
[ "$(cat "$T/count")" -ge 60 ] || fail "$(cat "$T/count") decisions with hashes, 60 expected"
replay "$T/decisions.out" --replicas 2 --speed 0.001 --strategy least-work --csv >"$T/ours.csv" 2>"$T/err"
[ ! -s "$T/err" ] || fail "$(cat "$T/err")"
awk -F, 'NR == 2 { exit !($2 > 40) }' "$T/ours.csv" || fail "later turns were not found in the cache: $(cat "$T/ours.csv")"
say "ok"
