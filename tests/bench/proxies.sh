# proxies.sh - HAProxy in several shapes before the same engines, loaded in turn; sourced.
#
#   plain  buffers the body and balances by leastconn: what a proxy costs at all
#   rules  our whole configuration without the filter: what the question costs
#   ours   our whole configuration; asks the agent by TCP
#   unix   the same, by a unix socket
#   once   as ours, but only a failed connection is tried again (retry-on conn-failure)
#   ours3  as ours, HAProxy 3.x, where HAPROXY3 is set
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

declare -A PORT=() CPU=() CPU_AGENT=() RATE=() LATE50=() LATE99=()
SIZES="1024 32768 131072"

size_name() { echo "$(($1 / 1024)) KB"; }
haproxy_version() { "$1" -v 2>/dev/null | sed -n 's/^HAProxy version \([^ -]*\).*/\1/p'; }

# proxy NAME PROGRAM CONFIG [VARIABLE=VALUE]...: starts it, with files in a folder of its own.
proxy() {
	local name=$1 program=$2 config=$3
	shift 3
	mkdir -p "$T/$name"
	PORT[$name]=$(free_ports 1)
	env INFER_RUN="$T/$name" INFER_BIND="127.0.0.1:${PORT[$name]}" "$@" \
		"$program" -db -f "$config" >"$T/$name.log" 2>&1 &
	PIDS[$name]=$!
	wait_for 10 "HAProxy $name" tcp_open "${PORT[$name]}"
}

plain_config() {
	local i
	cat <<-CONFIG
		global
		    maxconn 4096
		    nbthread 1
		    tune.bufsize 131072
		defaults
		    mode http
		    timeout client 75s
		    timeout connect 2s
		    timeout server 540s
		frontend llm
		    bind "\${INFER_BIND}"
		    option http-no-delay
		    http-request wait-for-body time 30s
		    default_backend pool
		backend pool
		    balance leastconn
		    default-server maxconn 256 pool-purge-delay 2s
	CONFIG
	for ((i = 0; i < ENGINES; i++)); do echo "    server r$i 127.0.0.1:$((ENGINE_PORT + i))"; done
}

asks_the_agent() { # NAME
	curl -sS --max-time 5 -o /dev/null -D - -H 'content-type: application/json' -H 'x-infer-debug: 1' \
		-d '{"model":"sim","max_tokens":1,"messages":[{"role":"user","content":"hello"}]}' \
		"http://127.0.0.1:${PORT[$1]}/v1/chat/completions" | grep -qi '^x-infer-replica'
}

agent_is_up() { asks_the_agent ours; }
fleet_is_known() { [ "$(metrics | grep -c '^inference_spoa_replica_inflight_requests{')" -ge "$ENGINES" ]; }

start_ours() { # [run options]
	local name
	for name in "${ASKING[@]}"; do set -- "$@" --haproxy "$T/$name/infer.sock"; done
	"$AGENT_PROGRAM" run "$@" --spop "127.0.0.1:$SPOP_PORT" --spop "unix:$T/spop.sock" \
		--log-listen "127.0.0.1:$LOG_PORT" --admin "127.0.0.1:$ADMIN_PORT" --ready-file "$T/agent.ready" \
		>"$T/decisions.out" 2>>"$T/agent.log" &
	PIDS[agent]=$!
	for name in "${ASKING[@]}"; do wait_for 10 "HAProxy $name to ask the agent" asks_the_agent "$name"; done
	wait_for 10 "the agent to know the servers" fleet_is_known
}

proxies_start() { # [engine_sim options]
	progress "engines, agent, HAProxy $(haproxy_version "$HAPROXY_PROGRAM")${HAPROXY3:+ and $(haproxy_version "$HAPROXY3")} in their shapes"
	[ $# -gt 0 ] || set -- --speed 0 --bare
	start_engines 8 "$@"
	HAPROXY_EDIT='s/^global$/global\n    nbthread 1/' write_haproxy_config
	sed '/filter spoe/d; /send-spoe-group/d' "$T/haproxy.cfg" >"$T/rules.cfg"
	plain_config >"$T/plain.cfg"
	proxy plain "$HAPROXY_PROGRAM" "$T/plain.cfg"
	proxy rules "$HAPROXY_PROGRAM" "$T/rules.cfg"
	proxy ours "$HAPROXY_PROGRAM" "$T/haproxy.cfg"
	proxy unix "$HAPROXY_PROGRAM" "$T/haproxy.cfg" INFER_SPOP="unix@$T/spop.sock"
	sed 's/^\( *retry-on\) .*/\1 conn-failure/' "$T/haproxy.cfg" >"$T/once.cfg"
	proxy once "$HAPROXY_PROGRAM" "$T/once.cfg"
	ASKING=(ours unix once)
	if [ -n "${HAPROXY3:-}" ]; then
		proxy ours3 "$HAPROXY3" "$T/haproxy.cfg"
		ASKING+=(ours3)
	fi
	start_ours
}

# load PLAY NAME BODY-BYTES KEY [player options]: one repetition by that client; keeps the least CPU of
# the proxy with the agent, and of the agent, under KEY.
load() {
	local play=$1 name=$2 bytes=$3 key=$4 before agent after
	shift 4
	before=$(session_or_process "$name") agent=$(process_ticks "${PIDS[agent]}")
	"$play" "${PORT[$name]}" 32 "$bytes" "$@"
	after=$(session_or_process "$name")
	agent=$(divide $((($(process_ticks "${PIDS[agent]}") - agent) * TICK_US)) "$PLAYED")
	after=$(divide $(((after - before) * TICK_US)) "$PLAYED")
	case $name in
	ours | unix | once | ours3) ;;
	*) agent=0 ;;
	esac
	least CPU "$key" "$(awk -v a="$after" -v b="$agent" 'BEGIN { printf "%.1f", a + b }')"
	least CPU_AGENT "$key" "$agent"
	most RATE "$key" "$RPS"
	progress "  $key: $after + $agent us, $RPS requests/s"
}

session_or_process() { # NAME
	case $1 in
	peer) session_ticks "${PIDS[peer]}" ;;
	*) process_ticks "${PIDS[$1]}" ;;
	esac
}

measure_costs() {
	local names=(plain rules ours once) play=play name size i
	[ -z "${KIT_CLIENT:-}" ] || play=play_kit
	[ -z "${PORT[ours3]:-}" ] || names+=(ours3)
	[ -z "${PORT[peer]:-}" ] || names+=(peer)
	for ((i = 0; i < repeat; i++)); do
		progress "CPU per request, repetition $((i + 1)) of $repeat: ${names[*]}, 32 connections"
		for size in $SIZES; do
			for name in "${names[@]}"; do load $play "$name" "$size" "$name $size"; done
		done
	done
	for size in $SIZES; do cost_rows "$size"; done
	if [ $play = play_kit ]; then
		note "the load of HAProxy and SGLang's router is the kit's client: 256 bodies in 64 prefix groups, each new at its end"
	else
		note "the load of HAProxy is the player: a body a connection, each new at its end"
	fi
	[ -n "${HAPROXY3:-}" ] || note "HAProxy 3.x is skipped: HAPROXY3 is not set"
	note "retry-on with anything but conn-failure makes HAProxy copy a whole tune.bufsize per request, whatever the body, to send it again; the rows with conn-failure only show what that costs"
	note "128 KB bodies are larger than the reference configuration's tune.bufsize of 131072, with their headers; what lies beyond is passed on unread"
}

cost_rows() { # BODY-BYTES
	local size=$1 kb target=0.6 name
	kb=$(size_name "$1")
	row "HAProxy alone, buffered body, $kb, CPU per request" "${CPU[plain $size]}" us
	row "HAProxy, our rules without the filter, $kb, CPU per request" "${CPU[rules $size]}" us "${CPU[plain $size]}"
	row "HAProxy + agent, $kb, CPU per request" "${CPU[ours $size]}" us "${CPU[plain $size]}"
	row "HAProxy + agent, retry-on conn-failure only, $kb, CPU per request" "${CPU[once $size]}" us "${CPU[ours $size]}"
	row "HAProxy + agent, $kb, of which the agent" "${CPU_AGENT[ours $size]}" us "" "<= 15"
	row "HAProxy + agent, $kb, requests/s of this machine" "${RATE[ours $size]}" 1/s "${RATE[plain $size]}"
	row "HAProxy + agent over HAProxy alone, $kb" "$(divide "${CPU[ours $size]}" "${CPU[plain $size]}")" x 1
	if [ -n "${PORT[ours3]:-}" ]; then
		row "HAProxy 3 + agent, $kb, CPU per request" "${CPU[ours3 $size]}" us
		row "HAProxy 3 + agent, $kb, of which the agent" "${CPU_AGENT[ours3 $size]}" us "" "<= 15"
	fi
	[ -n "${PORT[peer]:-}" ] || return 0
	case $size in 1024) target=0.55 ;; 131072) target=0.75 ;; esac
	row "SGLang's router, cache_aware, $kb, CPU per request" "${CPU[peer $size]}" us
	row "HAProxy + agent over SGLang's router, retry-on conn-failure only, $kb" "$(divide "${CPU[once $size]}" "${CPU[peer $size]}")" x 1
	row "HAProxy + agent over SGLang's router, $kb" "$(divide "${CPU[ours $size]}" "${CPU[peer $size]}")" x 1 "<= $target"
	[ "$size" = 1024 ] || target=0.6
	[ -z "${PORT[ours3]:-}" ] ||
		row "HAProxy 3 + agent over SGLang's router, $kb" "$(divide "${CPU[ours3 $size]}" "${CPU[peer $size]}")" x 1 "<= $target"
}

# One request at a time: what the question adds to the wait.
measure_latency() {
	local name i
	for ((i = 0; i < repeat; i++)); do
		progress "added latency, repetition $((i + 1)) of $repeat: one connection"
		for name in rules ours unix; do
			play "${PORT[$name]}" 1 1024
			least LATE50 "$name" "$P50"
			least LATE99 "$name" "$P99"
		done
	done
	row "added latency, TCP, p50" $((LATE50[ours] - LATE50[rules])) us "${LATE50[rules]}"
	row "added latency, TCP, p99" $((LATE99[ours] - LATE99[rules])) us "${LATE99[rules]}"
	row "added latency, unix socket, p50" $((LATE50[unix] - LATE50[rules])) us "${LATE50[rules]}" "<= 100"
	row "added latency, unix socket, p99" $((LATE99[unix] - LATE99[rules])) us "${LATE99[rules]}" "<= 1000"
	note "added latency: at one connection and 1 KB, over the same HAProxy and rules without the filter (the baseline)"
}

# Streams of 100 chunks, one each 2 ms, from engines of their own.
measure_stream() {
	local name i messages before
	progress "streams: engines that speak 100 chunks, 2 ms apart"
	for name in "${!PORT[@]}"; do [ "$name" = peer ] || stop "$name"; done
	[ -z "${PIDS[peer]:-}" ] || peer_stop
	stop agent
	stop engines
	rm -rf "$T"/engines.ready "$T/agent.ready" "$T/infer.sock"
	PORT=()
	proxies_start --bare --step-us 2000 --decode-us 0 --prefill-rate 100000000 --output-tokens 100 2>/dev/null
	for ((i = 0; i < repeat; i++)); do
		for name in plain ours; do
			before=$(metric spop_frames_total notify)
			load play "$name" 1024 "$name stream" --stream --max-tokens 100
			messages=$(divide $(($(metric spop_frames_total notify) - before)) "$PLAYED")
		done
	done
	row "stream of 100 chunks, HAProxy + agent, CPU" "${CPU[ours stream]}" us "${CPU[plain stream]}"
	row "stream of 100 chunks, messages the agent sees" "$messages" 1 "" "<= 2"
	row "stream, HAProxy + agent over HAProxy alone" "$(divide "${CPU[ours stream]}" "${CPU[plain stream]}")" x 1
}
