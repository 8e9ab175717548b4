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
play 20000 1
play 20000 2 # tables are touched page by page: only then all of them have been
before=$(resident)
say "after 40000 requests: $before KB, $(metric prefix_records) records in the index"
for seed in 3 4 5; do
	play 20000 "$seed"
	say "20000 more: $(resident) KB"
done
after=$(resident)
[ $((after * 100)) -le $((before * 105)) ] || fail "memory grew by more than 5 %: $before to $after KB"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
