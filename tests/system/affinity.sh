#!/bin/bash
# affinity.sh - conversations keep their replica, and first turns spread. Proves R006, R023, R051, B021.
# 200 conversations of three turns over four replicas: one request at a time, then 16 at once.
. "$(dirname "$0")/lib.sh"
start_all 4 --prefill-rate 2000000 --speed 20

play() { # PARALLEL SEED
	"$PLAYER" conversations --to "127.0.0.1:$HTTP_PORT" --count 200 --turns 3 --prompt-bytes 4200 --parallel "$1" \
		--seed "$2" --max-tokens 4 --stream --deadline 120 --expect-all-200 --output "$T/played.$1" 2>"$T/player.$1.log"
	jq -s '
		(map(select(.turn == 1 or .turn == 0)) | min_by(.turn).turn) as $first
		| (map(select(.turn == $first)) | map({key: (.conversation | tostring), value: .served}) | from_entries) as $home
		| map(select(.turn > $first)) as $later
		| { later: ($later | length),
		    kept: ($later | map(select(.served == $home[.conversation | tostring])) | length),
		    spread: ([$home[]] | group_by(.) | map(length)) }' "$T/played.$1" >"$T/result.$1"
	jq -c . "$T/result.$1"
}

say "one request at a time:"
play 1 11
jq -e '.later == 400 and .kept == 400' "$T/result.1" >/dev/null || fail "a later turn left the replica that holds the first"
jq -e '(.spread | length) == 4 and (.spread | max) - (.spread | min) <= 4' "$T/result.1" >/dev/null ||
	fail "first turns do not spread evenly"

# A holder that is four requests busier than another loses a turn of 4 KB: that is the recipe, so the share is only reported,
# and guarded against a plain loss of affinity.
say "16 at once (reported):"
play 16 12
jq -e ".kept >= 280" "$T/result.16" >/dev/null || fail "less than 70 % of later turns kept their replica"

wait_for 5 "all slots to come back" all_slots_are_back
[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired"
say "ok"
