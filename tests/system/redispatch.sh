#!/bin/bash
# redispatch.sh - HAProxy sends requests elsewhere than the agent chose, for a full queue or a dead replica: the slot goes along, and
# it is counted. Proves P035, B028.
. "$(dirname "$0")/lib.sh"
HAPROXY_EDIT='s/maxconn [0-9]* maxqueue [0-9]*/maxconn 1 maxqueue 1/'
start_all 2 --step-us 20000 --prefill-rate 1000000 --output-tokens 100000
LONG=60000

play() { # COUNT TOKENS SEED
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count "$1" --parallel "$1" --body-bytes $((LONG + 100)) --same-prefix $LONG \
		--max-tokens "$2" --seed "$3" --stream --expect-all-200 --timeout 60 --header x-infer-debug:1 --output "$T/played" 2>"$T/player.log" ||
		fail "player: $(cat "$T/player.log")"
	jq -r .served "$T/played" | sort | uniq -c | tr -s ' \n' ' '
	echo
	wait_for 5 "all slots to come back" all_slots_are_back
	[ "$(metrics | grep -c 'inflight.* -')" = 0 ] || fail "a gauge is negative"
}
overridden() { metric pin_overridden_total "$@"; }
play 1 1 1
home=$(jq -r .served "$T/played")
say "the prefix is on $home; four at once, one runs and one waits there:"
play 4 25 1
jq -s --arg home "$home" -e '[.[] | select(.served == $home)] | length == 2' "$T/played" >/dev/null || fail "expected two and two"
metrics | grep '^inference_spoa_pin_overridden_total' | grep -v ' 0$' || true
[ "$(overridden)" = 2 ] || fail "pin_overridden_total is $(overridden), not 2"
play 1 1 2 # another prefix, which only one has
home=$(jq -r .served "$T/played")
say "now $home, which has it, answers 500 once, and HAProxy asks the other one:"
before=$(overridden)
curl -sf "http://127.0.0.1:$((ENGINE_PORT + ${home#r}))/sim/fault" -d '{"fault":"500","count":1}' >/dev/null
play 1 4 2
[ "$(jq -r .served "$T/played")" != "$home" ] || fail "it was served by $home"
metrics | grep '^inference_spoa_pin_overridden_total' | grep -v ' 0$' || true
[ "$(overridden)" = $((before + 1)) ] || fail "pin_overridden_total is $(overridden), not $((before + 1))"
[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired"
say "ok"
