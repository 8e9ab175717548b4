#!/bin/bash
# engines.sh - three kinds of engines behind real HAProxy: one with vLLM's page, one with SGLang's, one with none. Each is recognised;
# speed, answers' length and time to the first byte are learnt; a page that hangs makes nobody else's values old, and the engine
# without a page is served all the same. Proves B029, B035, B036, R102.
. "$(dirname "$0")/lib.sh"
start_engines 1
OTHERS=$(free_ports 2)
i=0
for page in sglang none; do
	"$SIM" --port-base $((OTHERS + i)) --engines 1 --page $page --ready-file "$T/$page.ready" >"$T/$page.log" 2>&1 &
	PIDS[$page]=$!
	wait_for 10 "the engine with page $page" test -s "$T/$page.ready"
	i=$((i + 1))
done
ENGINES=3
engine_list() { echo "127.0.0.1:$ENGINE_PORT,127.0.0.1:$OTHERS,127.0.0.1:$((OTHERS + 1))"; }
write_haproxy_config
start_haproxy
start_agent
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

show() { "$AGENT_PROGRAM" show engines --server "127.0.0.1:$ADMIN_PORT" "$@"; }
kinds() { show | awk 'NR > 1 { printf "%s ", $3 }'; }
are_known() { [ "$(kinds)" = "vllm sglang ollama " ]; }
wait_for 10 "the engines to be recognised" are_known

# Short and long prompts, so that the time to the first byte has something to be a line over.
for bytes in 1000 8000 24000; do
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --timeout 60 --count 30 --parallel 3 --max-tokens 20 --body-bytes $bytes \
		--seed $bytes --expect-all-200 --output "$T/$bytes.lines" 2>"$T/player.$bytes.log" &
	PIDS[player$bytes]=$!
done
for bytes in 1000 8000 24000; do
	wait "${PIDS[player$bytes]}" || fail "player: $(cat "$T/player.$bytes.log")"
	unset "PIDS[player$bytes]"
done
wait_for 5 "all slots to come back" all_slots_are_back
answers_are_known() { metric instance_output_tokens | awk '{ exit !($1 > 18 && $1 < 22) }'; }
wait_for 5 "20 tokens an answer, which are $(metric instance_output_tokens)" answers_are_known
for r in 0 1 2; do
	served=$(metric replica_ttft_predictions_total "replica=\"r$r\"")
	[ "$served" -ge 8 ] || fail "r$r served only $served of 90"
	metric replica_prefill_tokens_per_second "replica=\"r$r\"" | awk '{ exit !($1 > 1000 && $1 <= 200000) }' ||
		fail "r$r computes $(metric replica_prefill_tokens_per_second "replica=\"r$r\"") prompt tokens/s"
done
for r in 0 1; do
	metric replica_time_per_token_seconds "replica=\"r$r\"" | awk '{ exit !($1 > 0.004 && $1 < 1) }' || fail "time per token of r$r"
done
[ "$(metric replica_engine_running_requests 'replica="r2"')" = 0 ] && ! metrics | has '^inference_spoa_replica_engine_running_requests.*r2' ||
	fail "who has no page says how many it runs"
bytes_are_known() { metric instance_bytes_per_token | awk '{ exit !($1 > 1) }'; }
wait_for 5 "bytes per token" bytes_are_known
show

# One page hangs: its values grow old, and only its.
curl -sSf --max-time 5 -o /dev/null -d '{"fault":"hang","path":"/metrics"}' "http://127.0.0.1:$ENGINE_PORT/sim/fault"
age() { metrics | awk -v r="replica=\"$1\"" '/^inference_spoa_replica_value_age_seconds/ && index($0, r) && /source="page"/ { print $NF }'; }
oldest=0
is_old() {
	oldest=$(age r1 | awk -v o="$oldest" '{ print ($1 > o + 0 ? $1 : o) }')
	age r0 | awk '{ exit !($1 > 3.2) }'
}
wait_for 10 "the value of who hangs to grow old" is_old
awk -v o="$oldest" 'BEGIN { exit !(o <= 2) }' || fail "the other's value was $oldest s old"
show | awk '$2 == "r0" { exit !/[*]$/ }' || fail "an old value has no star"
say "the other's value was at most $oldest s old"
