# store.sh - what it costs to share: CPU of the agent per request with a store and without, commands, and the store's memory; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

shared_count() { # FIELD of INFO
	redis-cli -p "$STORE_PORT" info "$1" | tr -d '\r' | awk -F: -v name="$2" '$1 == name { print $2 }'
}

# The agent's CPU per request, the least so far, in SHARED_CPU[$1].
shared_cost() {
	local before spent
	before=$(process_ticks "${PIDS[agent]}")
	agent_load --seconds "$seconds" >"$T/loaded" || fail "agent_load: $(cat "$T/loaded")"
	spent=$((($(process_ticks "${PIDS[agent]}") - before) * TICK_US))
	least SHARED_CPU "$1" "$(divide "$spent" "$(of requests)")"
	wait_for 10 "all slots to come back" all_slots_are_back
}

measure_store() {
	local i at commands told dropped bytes before
	declare -gA SHARED_CPU=()
	command -v redis-server >/dev/null || { note "store: not measured, as redis-server is missing" && return; }
	STORE_PORT=$(free_ports 1)
	redis-server --port "$STORE_PORT" --bind 127.0.0.1 --dir "$T" --save '' --appendonly no >"$T/store.log" 2>&1 &
	PIDS[store]=$!
	store_answers() { [ "$(redis-cli -p "$STORE_PORT" ping 2>/dev/null)" = PONG ]; }
	wait_for 10 "the store" store_answers
	is_linked() { [ "$(metric store_up)" = 1 ]; }
	for ((i = 0; i < 2 * repeat; i++)); do # in turn, as the machine is not the same from one second to the next
		run_agent "$AGENT_PROGRAM"
		shared_cost without
		run_agent "$AGENT_PROGRAM" --redis "redis://127.0.0.1:$STORE_PORT/0"
		wait_for 10 "the store to be linked" is_linked
		shared_cost with
	done
	row "agent alone, sharing by a store, CPU per request" "${SHARED_CPU[with]}" us "${SHARED_CPU[without]}"
	row "sharing over not sharing, agent's CPU per request" "$(divide "${SHARED_CPU[with]}" "${SHARED_CPU[without]}")" x 1

	# 1000 requests in each of five seconds, told to an empty store.
	redis-cli -p "$STORE_PORT" flushall >/dev/null
	run_agent "$AGENT_PROGRAM" --redis "redis://127.0.0.1:$STORE_PORT/0"
	wait_for 10 "the store to be linked" is_linked
	commands=$(shared_count stats total_commands_processed)
	before=$(process_ticks "${PIDS[store]}")
	for ((i = 0; i < 5; i++)); do
		at=${EPOCHREALTIME/[.,]/}
		agent_load --requests 1000 --seconds 5 --groups 500 >"$T/loaded" || fail "agent_load: $(cat "$T/loaded")"
		at=$((1000000 - (${EPOCHREALTIME/[.,]/} - at)))
		[ $at -le 0 ] || sleep "$(divide $at 1000000 %.6f)"
	done
	row "store, commands of one agent at 1000 requests/s" "$(divide $(($(shared_count stats total_commands_processed) - commands)) 5 %.0f)" 1/s "" "<= 200"
	row "store, CPU at these, share of a core" "$(divide $((($(process_ticks "${PIDS[store]}") - before) * TICK_US)) 50000)" %

	is_told() { [ "$(metric store_queue_entries)" = 0 ]; }
	wait_for 10 "all to be told" is_told
	told=$("$AGENT_PROGRAM" show store --json --server "127.0.0.1:$ADMIN_PORT" | jq '[.. | objects | select(has("told")) | .told] | first')
	dropped=$(metric store_dropped_total)
	bytes=$(redis-cli -p "$STORE_PORT" memory usage "infer:1:{default}:kept" samples 0)
	row "store, memory per binding that was told" "$(divide "$bytes" "$told" %.0f)" bytes
	stop store
	run_agent "$AGENT_PROGRAM"
	note "store: prompts of 32 KB, each with a tail of its own; $told bindings of up to 12 blocks were told, $dropped dropped"
}
