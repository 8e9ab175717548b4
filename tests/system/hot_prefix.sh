#!/bin/bash
# hot_prefix.sh - a hot prefix does not bury one replica, a common system prompt does not herd. Proves P065, P066, R053, B010, B011.
. "$(dirname "$0")/lib.sh"
start_all 4 --prefill-rate 20000

share() { jq -s 'map(select(.served != "")) | group_by(.served) | map(length) | {most: max, all: add, engines: length}' "$1"; }

say "400 requests, one prefix of 8 KB, 16 at once:"
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 400 --parallel 16 --body-bytes 8300 --same-prefix 8192 --max-tokens 16 \
	--stream --deadline 120 --expect-all-200 --output "$T/hot" 2>"$T/player.log"
share "$T/hot" | tee "$T/share" | jq -c .
jq -e '.most <= 0.4 * .all' "$T/share" >/dev/null || fail "a replica got more than 40 %"

say "400 requests, a system prompt of 2 KB in common, the rest their own:"
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 400 --parallel 16 --body-bytes 8300 --same-prefix 2048 --max-tokens 16 \
	--seed 5 --stream --deadline 120 --expect-all-200 --output "$T/common" 2>>"$T/player.log"
share "$T/common" | tee "$T/share" | jq -c .
jq -e '.most <= 1.3 * .all / 4' "$T/share" >/dev/null || fail "the fullest replica is above 1.3 of the mean"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
