# cpu.sh - CPU time of what we have started, and the load that it is divided by; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

TICK_US=$((1000000 / $(getconf CLK_TCK)))

# All processes of a session, in ticks: a router may have several. Others of the machine come and go
# meanwhile, which cat survives.
session_ticks() { # LEADER
	{ cat /proc/[0-9]*/stat 2>/dev/null || true; } |
		awk -v leader="$1" '{ sub(/.*[)] /, ""); if ($4 == leader) sum += $12 + $13 } END { print sum + 0 }'
}

process_ticks() { # PID
	awk '{ sub(/.*[)] /, ""); print $12 + $13 }' "/proc/$1/stat"
}

# least TABLE KEY VALUE: keeps the least in the associative array of that name.
# shellcheck disable=SC2178 # a reference to an array
least() {
	local -n table=$1
	if [ -z "${table[$2]:-}" ] || awk -v a="$3" -v b="${table[$2]}" 'BEGIN { exit !(a < b) }'; then table[$2]=$3; fi
}

# shellcheck disable=SC2178 # a reference to an array
most() {
	local -n table=$1
	if [ -z "${table[$2]:-}" ] || awk -v a="$3" -v b="${table[$2]}" 'BEGIN { exit !(a > b) }'; then table[$2]=$3; fi
}

# play PORT CONNECTIONS BODY-BYTES [player options]: sets PLAYED, RPS, P50, P99; all answers must be good.
play() {
	local port=$1 connections=$2 bytes=$3
	shift 3
	"$PLAYER" bench --to "127.0.0.1:$port" --parallel "$connections" --groups 64 --body-bytes "$bytes" \
		--same-prefix $((bytes * 3 / 4)) --seconds "$seconds" --expect-all-200 "$@" 2>"$T/played" ||
		fail "player: $(cat "$T/played")"
	PLAYED=$(sed -n 's/^requests=\([0-9]*\).*/\1/p' "$T/played")
	RPS=$(sed -n 's/.* rps=\([0-9.]*\).*/\1/p' "$T/played")
	P50=$(sed -n 's/^total_us.* p50=\([0-9]*\).*/\1/p' "$T/played")
	P99=$(sed -n 's/^total_us.* p99=\([0-9]*\).*/\1/p' "$T/played")
}

# The same by the kit's client, which SGLang's router was always measured with: more bodies, all new.
play_kit() { # PORT CONNECTIONS BODY-BYTES
	"$KIT_CLIENT" -p "$1" -c "$2" -s "$3" -t "$seconds" -m sim >"$T/played" || fail "lg: no connection"
	grep -q "$(printf '\terr=0\t')" "$T/played" || fail "lg: $(cat "$T/played")"
	PLAYED=$(sed -n 's/.*\bn=\([0-9]*\).*/\1/p' "$T/played")
	RPS=$(sed -n 's/.*\brps=\([0-9.]*\).*/\1/p' "$T/played")
}
