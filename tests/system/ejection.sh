#!/bin/bash
# ejection.sh - a replica that fails, hangs or is gone loses its traffic and gets it back by itself; overload takes out nobody.
# Proves R065-R068, B006, B008, B032, B033, B034, P076, P078, P081.
HAPROXY_EDIT='s/timeout server .*/timeout server 5s/; s/wait-for-body time 540s/wait-for-body time 5s/'
. "$(dirname "$0")/lib.sh"
# Four engines, of which the last is a process of its own.
start_last() {
	"$SIM" --port-base "$LAST" --engines 1 --speed 20 --prefill-rate 400000 --ready-file "$T/last.ready" >>"$T/last.log" 2>&1 &
	PIDS[last]=$!
	wait_for 10 "the last engine" test -s "$T/last.ready"
}
start_engines 4 --speed 20 --prefill-rate 400000 # to find free ports
stop engines
ENGINES=3 LAST=$((ENGINE_PORT + 3))
"$SIM" --port-base "$ENGINE_PORT" --engines 3 --speed 20 --prefill-rate 400000 --ready-file "$T/three.ready" >"$T/engines.log" 2>&1 &
PIDS[engines]=$!
wait_for 10 "the engines" test -s "$T/three.ready"
start_last
ENGINES=4
write_haproxy_config
start_haproxy
# At random, so that nothing but its health keeps requests from a replica. Only time ends a ramp, so that every look, once a second, sees it.
echo '{"strategies": {"any": {"signals": {}, "picker": "random"}}, "defaults": {"strategy": "any", "health": {"ejection-time": "1s",
	"probe-interval": "400ms", "probe-timeout": "400ms", "probe-token-timeout": "1s", "ramp": "2s", "ramp-restored": "2s", "ramp-requests": 1000000, "stall-after": "2s"}}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

begin() { # NAME RATE: traffic of different prompts, in the background, until it is enough
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 1000000 --rate "$2" --parallel 128 --body-bytes 1500 --max-tokens 8 --stream \
		--timeout 20 --deadline 120 --output "$T/$1" --seed "$2" 2>"$T/player.log" &
	PIDS[player]=$!
}
enough() { kill -USR1 "${PIDS[player]}"; wait "${PIDS[player]}" || true; unset "PIDS[player]"; }
fault() { curl -sSf --max-time 5 -o /dev/null -d "{\"fault\":\"$2\"}" "http://127.0.0.1:$1/sim/fault"; }
reached() { curl -sS --max-time 5 "http://127.0.0.1:$LAST/sim/state" | jq .requests; }
is() { [ "$(metric replica_state "replica=\"r3\",state=\"$1\"")" = 1 ]; }
failed() { jq -s 'map(select(.status != 200)) | length' "$T/$1"; }
all() { jq -s length "$T/$1"; }
ejections() { metric ejections_total; }
# The agent says what it sees of a replica once a second.
said() { [ "$(grep -c ": $1" "$T/agent.log")" -ge "$2" ]; }

say "one of four answers 500:"
fault "$LAST" 500
begin errors 100
wait_for 30 "it to be ejected" is ejected
before=$(reached)
trials() { [ "$(metric ejections_total 'cause="half-open"')" -ge 1 ]; }
wait_for 20 "a request on trial to fail" trials
tried=$(($(reached) - before))
fault "$LAST" none
wait_for 30 "it to be up" is up
said ramp 1 || fail "it came back at once, without a ramp"
enough
say "$before requests reached it, $tried on trial; $(failed errors) of $(all errors) failed, $(ejections) ejections"
[ "$before" -le 20 ] && [ "$tried" -le 5 ] || fail "too many requests reached it"
[ "$(failed errors)" = 0 ] || fail "a request failed that three others could have served"
[ "$(metric probes_total 'result="ok"')" -ge 2 ] || fail "it came back without probes"
[ "$(metric probes_total)" = "$(metric probes_total 'replica="r3"')" ] || fail "a healthy replica was probed"

say "one of four hangs, though its /health is 200:"
before=$(ejections)
begin hanging 100
fault "$LAST" hang
wait_for 10 "it to be suspect" is suspect
stuck=$(reached)
sleep 1
[ $(($(reached) - stuck)) -le 2 ] || fail "requests went to a suspect: $stuck, then $(reached)"
wait_for 20 "a request on trial to hang, too" is ejected
fault "$LAST" none
wait_for 20 "it to be up again" is up
enough
say "$(failed hanging) of $(all hanging) failed, $(metric stalls_total) stalls, $(($(ejections) - before)) ejections"
[ "$(failed hanging)" -le 300 ] || fail "too many requests hung"
[ "$(metric stalls_total)" -ge 1 ] || fail "no stall was counted"

say "the process of one of four is killed:"
begin killed 100
stop last KILL
gone() { is ejected || is down || is suspect; }
wait_for 10 "it to be out" gone
sleep 3
rm -f "$T/last.ready"
start_last
wait_for 30 "it to be back" is up
enough
say "$(failed killed) of $(all killed) failed"
# Of streams that had begun on it.
[ "$(failed killed)" -le 20 ] || fail "too many requests failed"

say "all four answer 503 for 4 s:"
before=$(ejections)
for i in 0 1 2 3; do fault $((ENGINE_PORT + i)) 503; done
begin overload 100
sleep 4
enough
for i in 0 1 2 3; do fault $((ENGINE_PORT + i)) none; done
sleep 1
begin after 100
sleep 2
enough
say "$(failed overload) of $(all overload) refused, then $(failed after) of $(all after); $(($(ejections) - before)) ejections"
[ "$(ejections)" = "$before" ] || fail "an overloaded engine was ejected"
[ "$(failed after)" = 0 ] || fail "traffic is not back after a second"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
