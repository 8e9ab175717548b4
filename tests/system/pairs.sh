# pairs.sh - several pairs of HAProxy and agent over one store, in front of the same engines; sourced after lib.sh.
#
#   STORE_PROGRAM  redis-server, or what is called like it
#   STORE_CONFIG   a file for it
#
# Each pair, 1 2 3 ..., has its own folder, ports and sockets; `at 2 COMMAND...` runs any function of lib.sh for the second
# one, whose processes are called haproxy2 and agent2. Every other pair runs HAPROXY3, if that names one.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are lib.sh's
STORE_PROGRAM=${STORE_PROGRAM:-redis-server}
PAIRS=0
declare -A PORTS_OF=() HAPROXY_OF=()

at() { # PAIR COMMAND...
	# What lib.sh sets and reads is local here, and so the pair's for all that is called from here.
	local PAIR=$1 T=$FOLDER/$1 PAIR_PORTS=${PORTS_OF[$1]}
	local HAPROXY_PROGRAM=${HAPROXY_OF[$1]} HTTP_PORT=$PAIR_PORTS SPOP_PORT=$((PAIR_PORTS + 1)) LOG_PORT=$((PAIR_PORTS + 2)) ADMIN_PORT=$((PAIR_PORTS + 3))
	local -x INFER_ETC=$T INFER_RUN=$T INFER_BIND=127.0.0.1:$HTTP_PORT INFER_SPOP=127.0.0.1:$SPOP_PORT
	local -x INFER_LOG=127.0.0.1:$LOG_PORT INFER_HTTP=127.0.0.1:$ADMIN_PORT INFER_SEED=7
	shift
	"$@"
}

start_pair() { # PAIR [run options]
	local pair=$1
	shift
	at "$pair" write_haproxy_config
	at "$pair" start_haproxy
	at "$pair" start_agent_of "$@"
}
start_agent_of() { start_agent --admin "unix:$T/admin.sock" "$@"; }

# start_pairs COUNT [run options]: in front of the engines that run.
start_pairs() {
	local base pair program
	PAIRS=$1
	shift
	base=$(free_ports $((4 * PAIRS)))
	for ((pair = 1; pair <= PAIRS; pair++)); do
		mkdir "$FOLDER/$pair"
		PORTS_OF[$pair]=$((base + 4 * (pair - 1)))
		HAPROXY_OF[$pair]=$HAPROXY_PROGRAM
		[ $((pair % 2)) = 1 ] || HAPROXY_OF[$pair]=${HAPROXY3:-$HAPROXY_PROGRAM}
		[ ! -f "$FOLDER/policy.json" ] || cp "$FOLDER/policy.json" "$FOLDER/$pair/policy.json"
	done
	for ((pair = 1; pair <= PAIRS; pair++)); do start_pair "$pair" "$@"; done
	say "HAProxy $(for program in "${HAPROXY_OF[@]}"; do "$program" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'; done |
		tr '\n' ' ')with an agent each, $ENGINES engines, folder $FOLDER"
}

# everywhere CONDITION...: true if it is at each pair that runs.
everywhere() {
	local pair
	for ((pair = 1; pair <= PAIRS; pair++)); do
		[ -n "${PIDS[agent$pair]:-}" ] || continue
		at "$pair" "$@" || return 1
	done
}

# start_store [server options]: empty, kept nowhere, at STORE_PORT and in $FOLDER/store.sock.
start_store() {
	STORE_PORT=${STORE_PORT:-$(free_ports 1)}
	"$STORE_PROGRAM" ${STORE_CONFIG:+"$STORE_CONFIG"} --port "$STORE_PORT" --bind 127.0.0.1 --unixsocket "$FOLDER/store.sock" --dir "$FOLDER" --save '' --appendonly no \
		--enable-debug-command yes "$@" >>"$FOLDER/store.log" 2>&1 &
	PIDS[store]=$!
	wait_for 10 "the store" store_answers
}
store() { redis-cli -p "$STORE_PORT" "$@"; }
store_answers() { [ "$(store ping 2>/dev/null)" = PONG ]; }
