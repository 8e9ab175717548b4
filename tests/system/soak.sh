#!/bin/bash
# soak.sh - 10 000 requests that end in every way with the agent under valgrind: no error, no leak. Proves R121, P020.
# Skipped by QUICK=1.
. "$(dirname "$0")/lib.sh"
[ -z "${QUICK:-}" ] || { say "skipped: QUICK" && exit 77; }
command -v valgrind >/dev/null || { say "skipped: no valgrind" && exit 77; }
if grep -q '^SANITIZE:STRING=.' "$BUILD/CMakeCache.txt"; then say "skipped: a sanitizer is in the program" && exit 77; fi
PROCESSING=5s # valgrind makes the agent some thirty times as slow
HAPROXY_EDIT='s/timeout check .*/timeout check 5s/; s/timeout server .*/timeout server 3s/; s/wait-for-body time 540s/wait-for-body time 3s/'
start_engines 4 --speed 50 --prefill-rate 1000000
write_haproxy_config
start_haproxy
program=$AGENT_PROGRAM
cat >"$T/agent" <<-SH
	#!/bin/sh
	exec valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect,possible --error-exitcode=99 \\
		--errors-for-leak-kinds=definite,indirect,possible --num-callers=20 --log-file="$T/valgrind.log" "$program" "\$@"
SH
chmod +x "$T/agent"
: >"$T/valgrind.log"
AGENT_PROGRAM=$T/agent
start_agent
say "the agent is ready under valgrind"

play() { # MODE COUNT RATE [player options]
	local mode=$1 count=$2 rate=$3
	shift 3
	"$PLAYER" "$mode" --to "127.0.0.1:$HTTP_PORT" --count "$count" --rate "$rate" --body-bytes 3000 --same-prefix 2000 --groups 200 \
		--max-tokens 6 --stream --timeout 20 --deadline 110 "$@" --output "$T/played" 2>"$T/player.log" ||
		fail "player: $(cat "$T/player.log")"
	say "$mode: $(sed -n '1p; /^errors/p' "$T/player.log" | tr '\n' ' ')"
}
play requests 8000 0 --parallel 32 --expect-all-200
kill -HUP "${PIDS[agent]}" # another policy in the middle
play chaos 2000 140 --parallel 128
decided=$(metric decisions_total)
say "decided: $decided"
[ "$decided" -ge 9000 ] || fail "the agent decided $decided of 10000 only"
wait_for 20 "all slots to come back" all_slots_are_back

kill -TERM "${PIDS[agent]}"
status=0
wait "${PIDS[agent]}" || status=$?
unset "PIDS[agent]"
[ $status = 0 ] || fail "the agent ended with $status: $(head -n 60 "$T/valgrind.log")"
[ ! -s "$T/valgrind.log" ] || fail "valgrind: $(head -n 60 "$T/valgrind.log")"
say "ok"
