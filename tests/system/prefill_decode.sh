#!/bin/bash
# prefill_decode.sh - prefill and decode replicas behind real HAProxy, with a side-car before each decode engine: who computes a prompt is named to
# who decodes it, and by nobody else; both hold a slot, each until its own work is done; and no prefill engine that dies or freezes
# makes a client wait for long. Proves R101, R112, R159, B063, P096, P097, P099.
HAPROXY_EDIT='s/inter 2s fastinter 500ms fall 3/inter 200ms fastinter 100ms fall 2/; s/\(server r[01] .*\)/\1 backup/'
. "$(dirname "$0")/lib.sh"
# r0 computes prompts for r2 and r3, r1 for r4 and r5; each prefill engine is a process of its own.
ENGINES=6 ENGINE_PORT=$(free_ports 6)
P0=127.0.0.1:$ENGINE_PORT P1=127.0.0.1:$((ENGINE_PORT + 1))
start() { # NAME FIRST COUNT [engine_sim options]
	rm -f "$T/$1.ready"
	"$SIM" --port-base $((ENGINE_PORT + $2)) --engines "$3" --speed 20 --ready-file "$T/$1.ready" "${@:4}" >>"$T/$1.log" 2>&1 &
	PIDS[$1]=$!
	wait_for 10 "the engines of $1" test -s "$T/$1.ready"
}
start p0 0 1
start p1 1 1
start decode 2 4 --sidecar --sidecar-timeout 1.5
write_haproxy_config
start_haproxy
cat >"$T/policy.json" <<-END
	{ "instances": { "svc-a": { "strategy": "pd", "prefill": { "strategy": "token-load" }, "decode": { "strategy": "least-work" },
	  "replicas": { "r0": { "role": "prefill", "roleset": "one" }, "r1": { "role": "prefill", "roleset": "two" },
	    "r2": { "role": "decode", "roleset": "one" }, "r3": { "role": "decode", "roleset": "one" },
	    "r4": { "role": "decode", "roleset": "two" }, "r5": { "role": "decode", "roleset": "two" } } } } }
END
"$AGENT_PROGRAM" check --policy "$T/policy.json" --haproxy-config "$T/haproxy.cfg" >"$T/check.log" 2>&1 || fail "check: $(cat "$T/check.log")"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

text=$(printf '%08000d' 0)
# ask SEED TOKENS [curl options]: a prompt of 8 KB that begins with the seed, or of a few bytes for a seed of "short": "STATUS REPLICA".
ask() {
	local rest=$text
	[ "$1" != short ] || rest=
	printf '{"model":"sim","max_tokens":%s,"min_tokens":%s,"stream":true,"messages":[{"role":"user","content":"%s.%s"}]}' "$2" "$2" "$1" "$rest" |
		curl -sS --max-time 20 -o /dev/null -H content-type:application/json -H x-infer-debug:1 -w '%{http_code} %header{x-infer-replica}\n' \
			-H 'authorization: Bearer it' "${@:3}" --data-binary @- "http://127.0.0.1:$HTTP_PORT/v1/chat/completions"
}
of() { curl -sS --max-time 5 "http://127.0.0.1:$((ENGINE_PORT + $1))/sim/${3:-state}" | jq -r "$2"; } # REPLICA JQ-FILTER [PAGE]
all_of() { local r sum=0; for r in 2 3 4 5; do sum=$((sum + $(of $r "$1"))); done; echo $sum; } # of the decode engines
told() { of "$1" '.headers["x-prefiller-host-port"]' last; }
decided() { metric pair_decisions_total "type=\"$1\""; }
held() { metric replica_inflight_requests "replica=\"$1\""; }
state() { metric replica_state "replica=\"$1\",state=\"$2\""; }

say "a pair, both slots, and a header that is ours:"
kill -STOP "${PIDS[p0]}" "${PIDS[p1]}"
ask first 8000 -H 'x-prefiller-host-port: 127.0.0.1:1' -H 'X-data-parallel-rank: 7' -H 'x-llm-d-prefiller-host-port: 127.0.0.1:1' >"$T/first" &
PIDS[first]=$!
slots_are() { [ "$(held r0) $(held r1)" = "$1" ] || [ "$(held r1) $(held r0)" = "$1" ]; }
wait_for 1 "the slot of a prefill replica" slots_are "1 0"
[ "$(metric replica_inflight_requests)" = 2 ] && [ "$(metric instance_inflight_requests)" = 1 ] || fail "$(metrics | grep inflight_requests)"
kill -CONT "${PIDS[p0]}" "${PIDS[p1]}"
wait_for 5 "the first byte to give the prefill slot back" slots_are "0 0"
for r in 2 3 4 5; do [ "$(held r$r)" = 0 ] || break; done
[ "$(held r$r)" = 1 ] || fail "who decodes holds no slot any more"
[ "$(told $r)" = $([ $r -lt 4 ] && echo "$P0" || echo "$P1") ] || fail "r$r was told $(told $r)"
[ "$(of $r '.headers | keys | map(select(test("data-parallel|llm-d"))) | length' last)" = 0 ] || fail "headers of the client's reached r$r: $(of $r . last)"
[ "$(of $((r / 4)) '.headers.authorization' last)" = "Bearer it" ] || fail "the prefill engine was not asked in the client's name"
wait "${PIDS[first]}" && unset "PIDS[first]"
[ "$(cat "$T/first")" = "200 r$r" ] || fail "$(cat "$T/first") instead of 200 r$r"
[ "$(of $r .prefill_failed)" = 0 ] || fail "the prompt was computed by r$r"

say "the same prompt again, and short ones, need no second engine:"
before=$(all_of .prefill_asked)
[ "$(ask first 4)" = "200 r$r" ] && [ "$(told $r)" = null ] || fail "a prompt that is cached at r$r: $(told $r)"
for i in 1 2 3 4; do ask short 4 >/dev/null; done
[ "$(all_of .prefill_asked)" = "$before" ] && [ "$(decided local)" = 5 ] && [ "$(decided remote)" = 1 ] || fail "$(metrics | grep pair_decisions)"

say "64 at once:"
base=("$(of 0 .requests)" "$(of 1 .requests)")
for i in $(seq 64); do ask "many-$i" 40 >"$T/many.$i" & PIDS[many$i]=$!; done
for i in $(seq 64); do wait "${PIDS[many$i]}"; unset "PIDS[many$i]"; done
[ "$(cut -d' ' -f1 "$T"/many.* | sort | uniq -c | tr -s ' ')" = " 64 200" ] || fail "$(cat "$T"/many.*)"
got=("$(($(of 0 .requests) - base[0]))" "$(($(of 1 .requests) - base[1]))")
say "prompts by prefill engine: ${got[*]}, answers by decode engine: $(cut -d' ' -f2 "$T"/many.* | sort | uniq -c | tr -s ' \n' ' ')"
[ $((got[0] + got[1])) = 64 ] && [ "${got[0]}" -ge 24 ] && [ "${got[1]}" -ge 24 ] || fail "they are not spread"
[ "$(all_of .prefill_failed)" = 0 ] || fail "a prompt was computed where it is decoded"
for i in 2 3 4 5; do
	[ "$(told $i)" = $([ $i -lt 4 ] && echo "$P0" || echo "$P1") ] || fail "r$i was told $(told $i), of another roleset"
done
wait_for 5 "all slots to come back" all_slots_are_back

# timed SEED: what one request came to, and no wait of more than a connect timeout and the side-car's.
timed() {
	local before got
	before=$(now_ms)
	got=$(ask "$1" 4)
	[ $(($(now_ms) - before)) -lt 5000 ] || fail "$1 hung: $got"
	[ "${got% *}" = 200 ] || fail "$1: $got"
	echo "${got#* }"
}
say "a prefill engine hangs, then is killed:"
curl -sSf -o /dev/null -d '{"fault":"hang","count":1}' "http://$P1/sim/fault"
for i in 1 2 3 4; do timed "hang-$i"; done >"$T/hanging"
[ "$(all_of .prefill_failed)" = 1 ] || fail "nobody met the one that hangs"
stop p1 KILL
for i in 1 2 3 4 5 6; do timed "dead-$i"; done >"$T/dead"
is_down() { [ "$(state "$1" down)" = 1 ]; }
wait_for 10 "HAProxy to see it" is_down r1
before=$(all_of .prefill_asked)
for i in 1 2 3 4 5 6; do timed "one-$i"; done >"$T/one"
grep -q 'r[45]' "$T/one" && fail "a decode replica whose prefill engine is gone got a prompt: $(tr '\n' ' ' <"$T/one")"
[ "$(all_of .prefill_asked)" = $((before + 6)) ] || fail "not all were prefilled elsewhere"
for i in $(seq 8); do ask short 4; done | sort -u >"$T/short"
grep -q 'r[45]' "$T/short" || fail "short prompts do not go to who needs nobody"

say "no prefill engine is left, and a side-car that wants one:"
stop p0 KILL
wait_for 10 "HAProxy to see it" is_down r0
before=$(all_of .prefill_asked)
for i in 1 2 3 4; do timed "alone-$i"; done >"$T/alone"
[ "$(all_of .prefill_asked)" = "$before" ] && [ "$(decided alone)" = 4 ] || fail "$(metrics | grep pair_decisions)"
stop decode
start decode 2 4 --sidecar --sidecar-strict
start p0 0 1
is_up() { [ "$(state "$1" up)" = 1 ] || [ "$(state "$1" ramp)" = 1 ]; }
for r in 0 2 3 4 5; do wait_for 10 "r$r to be back" is_up r$r; done
[ "$(ask again 4 | cut -d' ' -f1)" = 200 ] && [ "$(of 0 .served)" = 1 ] || fail "pairs are not made again"
stop p0 KILL
before=$(now_ms)
got=$(ask refused 4)
[ "${got% *}" = 503 ] && [ $(($(now_ms) - before)) -lt 5000 ] || fail "a side-car that wants a prefill engine: $got after $(($(now_ms) - before)) ms"

say "nobody is left to ask:"
start p0 0 1
wait_for 10 "r0 to be back" is_up r0
wait_for 5 "all slots to come back" all_slots_are_back
[ "$(metric replica_prefill_tokens)" = 0 ] || fail "tokens wait for nobody: $(metrics | grep prefill_tokens)"
[ "$(metric slots_expired_total)" = 0 ] || fail "a slot had to expire"
stop agent
away() { [ "$(haproxy_stat infer-agents agent 18)" = DOWN ]; }
wait_for 10 "HAProxy to see that the agent is gone" away
for i in $(seq 6); do timed "silent-$i"; done >"$T/silent"
[ "$(of 0 .requests)" = 0 ] || fail "HAProxy sent whole requests to who only computes prompts"
say "ok"
