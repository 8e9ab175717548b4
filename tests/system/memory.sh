#!/bin/bash
# memory.sh - 100 000 requests, and the agent's memory stays where it was after the first of them. Proves R121, P020, B014.
. "$(dirname "$0")/lib.sh"
start_engines 4 --speed 0 --bare
write_haproxy_config
start_haproxy
# A small index, so that it is full before we begin to look: its pages count only once they are used.
cat >"$T/policy.json" <<-JSON
	{"defaults": {"prefix": {"max-records": 16384}, "max-inflight": 1024}}
JSON
start_agent --policy "$T/policy.json"

resident() { awk '/^VmRSS/ { print $2 }' "/proc/${PIDS[agent]}/status"; }
play() { # COUNT SEED
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count "$1" --parallel 32 --body-bytes 6000 --same-prefix 4800 --groups 5000 \
		--seed "$2" --max-tokens 2 --deadline 200 --expect-all-200 --output /dev/null 2>"$T/player.log" ||
		fail "player: $(cat "$T/player.log")"
}
# The kernel gives and takes pages by its own clock, so a single comparison says little: memory is flat once three rounds
# in a row, 60 000 requests, end within half a percent (12 bytes a request) of each other. A leak never gets there.
flat=0 last=0 requests=0
for seed in $(seq 12); do
	play 20000 "$seed"
	requests=$((requests + 20000))
	now=$(resident)
	say "after $requests requests: $now KB, $(metric prefix_records) records in the index"
	flat=$(((now - last) * 200 <= now ? flat + 1 : 0))
	last=$now
	[ $flat -lt 3 ] || [ $requests -lt 100000 ] || break
done
[ $flat -ge 3 ] || fail "memory does not stop growing: $now KB after $requests requests"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
