# lib.sh - real HAProxy, the agent and simulated engines for one test; sourced, not run.
#
#   BUILD            build folder with inference-spoa, engine_sim and player
#   HAPROXY_PROGRAM  the HAProxy to use, haproxy
#   KEEP=1           keeps the folder with logs
#
# Everything listens on loopback, at free ports, with files in one temporary folder. Whatever was
# started is ended when the test ends, by pid.
# shellcheck shell=bash disable=SC2034 # variables are read by the tests
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${BUILD:-$HERE/../../build/default}
PATH=$PATH:/usr/sbin
HAPROXY_PROGRAM=${HAPROXY_PROGRAM:-haproxy}
AGENT_PROGRAM=$BUILD/inference-spoa
SIM=$BUILD/tests/sim/engine_sim
PLAYER=$BUILD/tests/sim/player
T=$(mktemp -d "${TMPDIR:-/tmp}/infer.XXXXXX")
FOLDER=$T # T is another in tests with several agents: pairs.sh
declare -A PIDS=()

finish() {
	local status=$? name
	set +e
	for name in "${!PIDS[@]}"; do kill -CONT "${PIDS[$name]}" 2>/dev/null; kill "${PIDS[$name]}" 2>/dev/null; done
	for name in "${!PIDS[@]}"; do
		for _ in $(seq 100); do kill -0 "${PIDS[$name]}" 2>/dev/null || break; sleep 0.02; done
		kill -KILL "${PIDS[$name]}" 2>/dev/null
	done
	undo
	if [ $status != 0 ]; then
		echo "FAILED (exit $status); last lines of the logs:" >&2
		(cd "$FOLDER" && find . -path ./root -prune -o -name '*.log' -exec tail -v -n 20 {} +) >&2
	fi
	if [ -n "${KEEP:-}" ]; then echo "kept: $FOLDER" >&2; else rm -rf "$FOLDER"; fi
	exit $status
}
undo() { :; } # a test's own, when its processes have ended
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*" >&2; exit 1; }

# free_ports COUNT: the first of COUNT free ports in a row, on loopback.
free_ports() {
	local base port
	for _ in $(seq 200); do
		base=$((20000 + RANDOM % 12000))
		for ((port = base; port < base + $1; port++)); do
			if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue 2; fi
		done
		echo "$base"
		return
	done
	fail "no free ports"
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
	local until=$(($(now_ms) + $1 * 1000)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ "$(now_ms)" -lt "$until" ] || fail "waited in vain for $what"
		sleep 0.02
	done
}

start_engines() { # COUNT [engine_sim options]
	ENGINES=$1
	shift
	ENGINE_PORT=$(free_ports "$ENGINES")
	"$SIM" --port-base "$ENGINE_PORT" --engines "$ENGINES" --ready-file "$T/engines.ready" "$@" >"$T/engines.log" 2>&1 &
	PIDS[engines]=$!
	wait_for 10 "the engines" test -s "$T/engines.ready"
}

engine_list() { # "127.0.0.1:P,..." of all engines
	local i list=""
	for ((i = 0; i < ENGINES; i++)); do list+=",127.0.0.1:$((ENGINE_PORT + i))"; done
	echo "${list#,}"
}

# The shipped configuration, with our ports. HAPROXY_EDIT is a sed program for it.
write_haproxy_config() {
	local base file
	base=${PAIR_PORTS:-$(free_ports 4)}
	HTTP_PORT=$base SPOP_PORT=$((base + 1)) LOG_PORT=$((base + 2)) ADMIN_PORT=$((base + 3))
	# A busy machine must not decide what a test says: answers may be late, but where lateness is the subject
	# (PROCESSING=50ms, as shipped).
	for file in "$HERE"/../../haproxy/spoe*.cfg; do
		sed "s/timeout     processing .*/timeout     processing ${PROCESSING:-500ms}/" "$file" >"$T/${file##*/}"
	done
	"$AGENT_PROGRAM" haproxy config --instance "svc-a=$(engine_list)" | sed "${HAPROXY_EDIT:-}" >"$T/haproxy.cfg"
	echo "# model backend" >"$T/models.map"
	export INFER_ETC=$T INFER_RUN=$T INFER_BIND=127.0.0.1:$HTTP_PORT INFER_SPOP=127.0.0.1:$SPOP_PORT
	export INFER_LOG=127.0.0.1:$LOG_PORT INFER_HTTP=127.0.0.1:$ADMIN_PORT INFER_SEED=7
}

start_haproxy() { # [haproxy options]
	[ -s "$T/haproxy.cfg" ] || write_haproxy_config
	"$HAPROXY_PROGRAM" -db -f "$T/haproxy.cfg" "$@" >>"$T/haproxy.log" 2>&1 &
	PIDS[haproxy${PAIR:-}]=$!
	wait_for 10 "HAProxy" test -S "$T/infer.sock"
	wait_for 10 "HAProxy's port" tcp_open "$HTTP_PORT"
}

tcp_open() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

start_agent() { # [run options]
	rm -f "$T/agent.ready"
	"$AGENT_PROGRAM" run --haproxy "$T/infer.sock" --spop "127.0.0.1:$SPOP_PORT" --log-listen "127.0.0.1:$LOG_PORT" \
		--admin "127.0.0.1:$ADMIN_PORT" --ready-file "$T/agent.ready" "$@" >>"$T/decisions.out" 2>>"$T/agent.log" &
	PIDS[agent${PAIR:-}]=$!
	wait_for 10 "the agent" test -s "$T/agent.ready"
	wait_for 10 "HAProxy to see the agent" agent_is_up
	wait_for 10 "the agent to know the servers" fleet_is_known
}

stop() { # NAME [SIGNAL]
	kill -"${2:-TERM}" "${PIDS[$1]}"
	wait "${PIDS[$1]}" 2>/dev/null || true
	unset "PIDS[$1]"
}

metrics() { curl -sS --max-time 5 "http://127.0.0.1:$ADMIN_PORT/metrics"; }

# metric NAME [LABEL-PATTERN]: the sum of its rows.
metric() {
	metrics | awk -v name="inference_spoa_$1" -v label="${2:-}" '
		{ n = $1; sub(/[{].*/, "", n) }
		n == name && (label == "" || index($0, label)) { sum += $NF }
		END { printf "%.10g\n", sum }'
}

# has [GREP OPTIONS] PATTERN: what comes has it. Unlike grep -q it reads to the end: who is still writing would be ended, and with
# pipefail the answer were no.
has() {
	local text
	text=$(cat)
	grep -q "$@" <<<"$text"
}

haproxy_stat() { # BACKEND SERVER FIELD-NUMBER
	echo "show stat" | socat - "UNIX-CONNECT:$T/infer.sock" | awk -F, -v b="$1" -v s="$2" -v f="$3" '$1 == b && $2 == s { print $f }'
}

agent_is_up() { [ "$(haproxy_stat infer-agents agent 18)" = UP ]; }
fleet_is_known() { [ "$(metrics | grep -c '^inference_spoa_replica_inflight_requests{')" -ge "$ENGINES" ]; }

# asked [HEADER...]: one short prompt, as a client that may steer: "STATUS INSTANCE REPLICA REASON" of the answer, - for what it does
# not say; its head is in $T/head, its body in $T/body. ASK_PATH is another path to ask at.
asked() {
	local header headers=()
	for header; do headers+=(-H "$header"); done
	curl -sS --max-time 10 -o "$T/body" -D "$T/head" -H content-type:application/json -H "x-infer-debug: 1" "${headers[@]}" \
		"http://127.0.0.1:$HTTP_PORT${ASK_PATH:-/v1/chat/completions}" \
		-d '{"model":"sim","max_tokens":2,"messages":[{"role":"user","content":"hello"}]}'
	tr -d '\r' <"$T/head" | awk 'BEGIN { i = r = w = "-" } NR == 1 { s = $2 } tolower($1) == "x-infer-instance:" { i = $2 }
		tolower($1) == "x-infer-replica:" { r = $2 } tolower($1) == "x-infer-reason:" { w = $2 }
		END { print s, i == "" ? "-" : i, r == "" ? "-" : r, w == "" ? "-" : w }'
}
# expect PATTERN [HEADER...]: what asked then says, as a pattern of the shell.
expect() {
	local want=$1 got
	shift
	got=$(asked "$@")
	# shellcheck disable=SC2254 # it is a pattern
	case $got in
	$want) ;;
	*) fail "${*:-a plain request}: $got instead of $want: $(cat "$T/body")" ;;
	esac
}
answers() { [ "$(asked | cut -d' ' -f1)" = "$1" ]; } # STATUS

# with_policy JSON: in force from now on (the agent runs with --policy "$T/policy.json").
with_policy() {
	local before
	before=$(metric config_reload_total 'result="ok"')
	echo "$1" >"$T/policy.json"
	kill -HUP "${PIDS[agent${PAIR:-}]}"
	is_in_force() { [ "$(metric config_reload_total 'result="ok"')" -gt "$before" ]; }
	wait_for 5 "the policy to be in force" is_in_force
}

all_slots_are_back() { [ "$(metric replica_inflight_requests)" = 0 ] && [ "$(metric instance_inflight_requests)" = 0 ]; }

start_all() { # ENGINES [engine_sim options]
	start_engines "$@"
	write_haproxy_config
	start_haproxy
	start_agent
	say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), $1 engines, folder $T"
}
