# agent.sh - the agent alone, loaded by an SPOP peer; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

agent_load() {
	"$BUILD/tests/bench/agent_load" --spop "127.0.0.1:$SPOP_PORT" --log "127.0.0.1:$LOG_PORT" \
		--engine-port "$ENGINE_PORT" "$@"
}

of() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" "$T/loaded"; }

measure_agent() {
	local i before spent rate
	declare -A AGENT=()
	for ((i = 0; i < repeat; i++)); do
		before=$(process_ticks "${PIDS[agent]}")
		agent_load --seconds "$seconds" >"$T/loaded" || fail "agent_load: $(cat "$T/loaded")"
		spent=$((($(process_ticks "${PIDS[agent]}") - before) * TICK_US))
		least AGENT cpu "$(divide "$spent" "$(of requests)")"
		most AGENT rate "$(of rps)"
		least AGENT p50 "$(of p50_us)"
		least AGENT p99 "$(of p99_us)"
		least AGENT own "$(of own_cpu_us)"
		progress "agent alone: $(divide "$spent" "$(of requests)") us; $(cat "$T/loaded")"
	done
	wait_for 10 "all slots to come back" all_slots_are_back
	rate=$(divide 1000000 "${AGENT[cpu]}" %.0f)
	row "agent alone, CPU per request" "${AGENT[cpu]}" us "" "<= 15"
	row "agent alone, requests/s that a core has CPU for" "$rate" 1/s "" ">= 60000"
	row "agent alone, requests/s beside the load" "${AGENT[rate]}" 1/s
	row "agent alone, 32 under way, answer p50" "${AGENT[p50]}" us
	row "agent alone, 32 under way, answer p99" "${AGENT[p99]}" us
	row "agent, resident memory" "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/${PIDS[agent]}/status")" MB
	note "agent alone: infer-route with 61 arguments, infer-first and end line each; the load itself costs ${AGENT[own]} us per request, so that requests/s of a core are 1 s over CPU per request"
}

# What it costs when nobody asks: engines are scraped, HAProxy is asked who is there.
measure_idle() {
	local before
	before=$(process_ticks "${PIDS[agent]}")
	sleep 5
	row "agent, idle, 8 engines scraped, share of a core" \
		"$(divide $((($(process_ticks "${PIDS[agent]}") - before) * TICK_US)) 50000)" %
}

# Another agent in the place of the one that runs.
run_agent() { # PROGRAM [run options]
	local program=$1
	shift
	stop agent
	rm -f "$T/agent.ready"
	"$program" run --haproxy "$T/ours/infer.sock" --spop "127.0.0.1:$SPOP_PORT" --log-listen "127.0.0.1:$LOG_PORT" \
		--admin "127.0.0.1:$ADMIN_PORT" --ready-file "$T/agent.ready" "$@" >/dev/null 2>>"$T/agent.log" &
	PIDS[agent]=$!
	wait_for 10 "the agent" test -s "$T/agent.ready"
	wait_for 10 "HAProxy to see the agent" agent_is_up
	wait_for 10 "the agent to know the servers" fleet_is_known
}

# A start with HAProxy there: until the first request is routed to a replica.
measure_start() {
	local i at began_at
	declare -A START=()
	for ((i = 0; i < repeat + 2; i++)); do
		stop agent
		agent_load --first >"$T/loaded" &
		began_at=${EPOCHREALTIME/[.,]/}
		"$AGENT_PROGRAM" run --haproxy "$T/ours/infer.sock" --spop "127.0.0.1:$SPOP_PORT" \
			--log-listen "127.0.0.1:$LOG_PORT" --admin "127.0.0.1:$ADMIN_PORT" >/dev/null 2>>"$T/agent.log" &
		PIDS[agent]=$!
		wait $! 2>/dev/null &
		wait_for 10 "a first decision" test -s "$T/loaded"
		at=$(of first_at_us)
		least START ms "$(divide $((at - began_at)) 1000 %.1f)"
	done
	row "start to first decision" "${START[ms]}" ms "" "<= 50"
}
