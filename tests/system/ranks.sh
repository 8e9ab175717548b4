#!/bin/bash
# ranks.sh - engines of four data-parallel ranks behind real HAProxy: each rank is chosen by itself and named to the engine, by nobody else;
# a conversation comes back to its rank; HAProxy knows two servers, and each rank's slots come back. Proves B066.
. "$(dirname "$0")/lib.sh"
start_engines 2 --speed 20 --ranks 4 --block-tokens 64
write_haproxy_config
start_haproxy
cat >"$T/policy.json" <<-END
	{ "instances": { "svc-a": { "replicas": { "*": { "ranks": 4 } } } } }
END
"$AGENT_PROGRAM" check --policy "$T/policy.json" --haproxy-config "$T/haproxy.cfg" >"$T/check.log" 2>&1 || fail "check: $(cat "$T/check.log")"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"
are_known() { [ "$(metrics | grep -c '^inference_spoa_replica_inflight_requests{')" = 8 ]; }
wait_for 5 "eight ranks" are_known

of() { curl -sS --max-time 5 "http://127.0.0.1:$((ENGINE_PORT + $1))/sim/${3:-state}" | jq -c "$2"; } # ENGINE JQ-FILTER [PAGE]
text=$(printf '%06000d' 0)
# ask WORD TOKENS [curl options]: a prompt of 6 KB that begins with the word: "STATUS REPLICA RANK".
ask() {
	printf '{"model":"sim","max_tokens":%s,"min_tokens":%s,"stream":true,"messages":[{"role":"user","content":"%s.%s"}]}' "$2" "$2" "$1" "$text" |
		curl -sS --max-time 20 -o /dev/null -D - -H content-type:application/json -H x-infer-debug:1 "${@:3}" --data-binary @- \
			"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" | tr -d '\r' |
		awk 'NR == 1 { s = $2 } tolower($1) == "x-infer-replica:" { r = $2 } tolower($1) == "x-sim-rank:" { k = $2 } END { print s, r, k }'
}

say "64 at once:"
for i in $(seq 64); do ask "many-$i" 400 >"$T/many.$i" & PIDS[many$i]=$!; done
for i in $(seq 64); do wait "${PIDS[many$i]}"; unset "PIDS[many$i]"; done
[ "$(cut -d' ' -f1 "$T"/many.* | sort | uniq -c | tr -s ' ')" = " 64 200" ] || fail "$(cat "$T"/many.*)"
say "by engine and rank: $(of 0 .ranks) $(of 1 .ranks)"
for i in 0 1; do [ "$(of $i '.ranks | min >= 4 and max <= 12')" = true ] || fail "not spread over the ranks"; done
wait_for 5 "all slots to come back" all_slots_are_back

say "a conversation comes back to its rank, whatever the client asks for:"
for word in one two three; do
	first=$(ask $word 4)
	wait_for 5 "all slots to come back" all_slots_are_back
	for header in x-nothing:1 X-data-parallel-rank:9 x-data-parallel-host-port:127.0.0.1:1; do
		again=$(ask $word 4 -H "$header")
		[ "$again" = "$first" ] && [ "${first% * *}" = 200 ] || fail "$word went to $first, then to $again"
	done
	[ "$(of "${first:5:1}" '.headers["x-data-parallel-host-port"]' last)" = null ] || fail "a client's header reached the engine"
	[ "$(of "${first:5:1}" '.headers["x-data-parallel-rank"]' last)" = "\"${first##* }\"" ] || fail "who served was not told: $(of "${first:5:1}" . last)"
done
"$AGENT_PROGRAM" show replicas --server "127.0.0.1:$ADMIN_PORT"
is_read() { [ "$(metrics | grep -c '^inference_spoa_replica_engine_running_requests{')" = 8 ]; }
wait_for 5 "the engines' pages to be read by rank" is_read

say "what HAProxy counts for a server agrees with its ranks; without the agent the engines choose:"
for i in $(seq 8); do ask "long-$i" 9000 >"$T/long.$i" & PIDS[long$i]=$!; done
one_each() { [ "$(metrics | awk '/^inference_spoa_replica_inflight_requests{/ && $NF == 1' | wc -l)" = 8 ]; }
wait_for 5 "a slot at each rank" one_each
for i in $(seq 8); do wait "${PIDS[long$i]}"; unset "PIDS[long$i]"; done
wait_for 5 "all slots to come back" all_slots_are_back
agrees() { metrics | awk '/^inference_spoa_replica_drift_requests{/ && $NF != 0 { bad = 1 } END { exit bad }'; }
wait_for 10 "HAProxy's counts to agree" agrees
[ "$(metric slots_expired_total)" = 0 ] || fail "a slot had to expire"
stop agent
away() { [ "$(haproxy_stat infer-agents agent 18)" = DOWN ]; }
wait_for 10 "HAProxy to see that the agent is gone" away
[ "$(ask alone 4 | cut -d' ' -f1)" = 200 ] || fail "no answer without the agent"
told="$(of 0 '.headers["x-data-parallel-rank"]' last) $(of 1 '.headers["x-data-parallel-rank"]' last)"
case $told in
*null*) ;;
*) fail "somebody told a rank: $told" ;;
esac
say "ok"
