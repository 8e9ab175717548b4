#!/bin/bash
# reload.sh - SIGHUP swaps a good policy under load, refuses a bad one with its place, keeps what was learnt. Proves R013, P121.
. "$(dirname "$0")/lib.sh"
start_engines 4 --speed 50 --prefill-rate 1000000
write_haproxy_config
start_haproxy
good() { echo "{\"defaults\": {\"strategy\": \"$1\"}}" >"$T/policy.json"; }
good least-work
# A profile of engines of its own beside it: read again with the policy, and refused with it.
mkdir "$T/engines"
profile() { # NAME PREFIX-OF-ITS-METRICS
	echo "{\"engine\": \"$1\", \"recognise\": [\"$2\"], \"pages\": [\"/metrics\"], \"health\": \"/health\", \"models\": \"/v1/models\",
		\"metrics\": {\"running\": [\"vllm:num_requests_running\"]}}" >"$T/engines/$1.json"
}
profile second no_such_engine:
start_agent --policy "$T/policy.json" --engine-profiles "$T/engines"
kinds() { metrics | sed -n 's/^inference_spoa_replica_engine_info{.*engine="\([^"]*\)".*/\1/p' | sort -u | tr '\n' ' '; }
are_kind() { [ "$(kinds)" = "$1 " ]; }
wait_for 10 "the engines to be known" are_kind vllm

"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 2000 --rate 200 --parallel 128 --body-bytes 6000 --same-prefix 5000 --groups 20 \
	--max-tokens 8 --stream --expect-all-200 --deadline 60 --output "$T/played" 2>"$T/player.log" &
PIDS[player]=$!
reloads() { metric config_reload_total "result=\"$1\""; }
for i in $(seq 20); do
	if [ "$i" = 7 ]; then
		printf '{"defaults": {\n  "strategy": "least-wrok"}}\n' >"$T/policy.json"
		before=$(reloads refused)
		kill -HUP "${PIDS[agent]}"
		is_refused() { [ "$(reloads refused)" -gt "$before" ]; }
		wait_for 5 "the bad policy to be refused" is_refused
		continue
	fi
	if [ "$i" = 11 ]; then
		echo '{"engine": "second"' >"$T/engines/second.json"
		before=$(reloads refused)
		kill -HUP "${PIDS[agent]}"
		wait_for 5 "the bad profile to be refused" is_refused
		profile vllm no_such_engine: # in place of the program's own
		profile second vllm:
	fi
	good "$([ $((i % 2)) = 0 ] && echo least-work || echo soft-k-choice)"
	before=$(reloads ok)
	kill -HUP "${PIDS[agent]}"
	is_swapped() { [ "$(reloads ok)" -gt "$before" ]; }
	wait_for 5 "the policy to be swapped" is_swapped
done
wait_for 5 "the engines to be of the new kind" are_kind second
wait "${PIDS[player]}" || fail "requests failed: $(cat "$T/player.log")"
unset "PIDS[player]"
grep 'policy.json:2:' "$T/agent.log" | sed -n 1p | tee "$T/refused"
grep -q 'least-work' "$T/refused" || fail "the refusal names no near match"
[ "$(metric prefix_records)" -gt 0 ] || fail "bindings were lost"
wait_for 5 "all slots to come back" all_slots_are_back
grep -q 'second.json:2:1:' "$T/agent.log" || fail "nothing says what is wrong with the profile"
say "20 reloads of a policy, one refused, and one for its profile of engines, 2000 requests, none failed"
