#!/bin/bash
# store_failover.sh - a primary, its replica and a sentinel: the primary is killed under load, and later the sentinel moves it on demand;
# the agents follow, no request fails, and what is learnt then is known to both. Proves R086.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
start_engines 4 --speed 100 --prefill-rate 1000000 --max-running 256
start_store
FIRST=$STORE_PORT
SECOND=$(free_ports 1)
start_second() { # REPLICA-OF
	"$STORE_PROGRAM" --port "$SECOND" --bind 127.0.0.1 --dir "$FOLDER" --save '' --appendonly no --replicaof 127.0.0.1 "$1" --repl-diskless-sync-delay 0 \
		>>"$FOLDER/second.log" 2>&1 &
	PIDS[second]=$!
}
start_second "$FIRST"
is_replica() { redis-cli -p "$1" info replication | tr -d '\r' | has '^master_link_status:up'; }
wait_for 15 "the replica" is_replica "$SECOND"
SENTINEL=$(free_ports 1)
printf '%s\n' "port $SENTINEL" "bind 127.0.0.1" "dir $FOLDER" "sentinel monitor infer 127.0.0.1 $FIRST 1" "sentinel down-after-milliseconds infer 1000" \
	"sentinel failover-timeout infer 5000" >"$FOLDER/sentinel.conf"
"$STORE_PROGRAM" "$FOLDER/sentinel.conf" --sentinel >"$FOLDER/sentinel.log" 2>&1 &
PIDS[sentinel]=$!
ask_sentinel() { redis-cli -p "$SENTINEL" "$@"; }
knows_replica() { ask_sentinel sentinel replicas infer | has "127.0.0.1:$SECOND"; }
wait_for 15 "the sentinel to know the replica" knows_replica
start_pairs 2 --redis "redis+sentinel://127.0.0.1:$SENTINEL/infer/0"
linked_to() { [ "$(metric store_up)" = 1 ] && [ "$(metric store_peers)" = 1 ] && "$AGENT_PROGRAM" show store --server "127.0.0.1:$ADMIN_PORT" | has "^127.0.0.1:$1,"; }
wait_for 15 "the agents to know each other" everywhere linked_to "$FIRST"

for pair in 1 2; do
	"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --count 100000 --rate 50 --parallel 64 --body-bytes 6000 --same-prefix 4800 --groups 50 \
		--max-tokens 4 --stream --seed 5 --timeout 10 --deadline 100 --expect-all-200 --output "$FOLDER/played.$pair" 2>"$FOLDER/player.$pair.log" &
	PIDS[player$pair]=$!
done
sleep 1
stop store KILL
wait_for 30 "the agents to follow to the replica" everywhere linked_to "$SECOND"
say "the primary was killed: both are at the replica"
# It comes back as the other's replica, and gets its place again.
"$STORE_PROGRAM" --port "$FIRST" --bind 127.0.0.1 --dir "$FOLDER" --save '' --appendonly no --replicaof 127.0.0.1 "$SECOND" >>"$FOLDER/store.log" 2>&1 &
PIDS[store]=$!
wait_for 20 "the old primary to be a replica" is_replica "$FIRST"
# It must be said to be well; the time of one failover must be over for the next.
moved() { ask_sentinel sentinel failover infer | has OK; }
wait_for 40 "the sentinel to move it" moved
wait_for 30 "the agents to follow again" everywhere linked_to "$FIRST"
for pair in 1 2; do
	kill -USR1 "${PIDS[player$pair]}"
	wait "${PIDS[player$pair]}" || fail "requests failed: $(cat "$FOLDER/player.$pair.log")"
	unset "PIDS[player$pair]"
done
say "moved back: both are at the first again; $(cat "$FOLDER"/played.? | wc -l) requests, none failed"
records() { metric prefix_records; }
before=$(at 2 records)
at 1 curl -sS --max-time 10 -o /dev/null -H content-type:application/json "http://127.0.0.1:$((PORTS_OF[1]))/v1/chat/completions" \
	-d "{\"model\":\"sim\",\"stream\":true,\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\"new $(printf '%020000d' 7)\"}]}"
more() { [ "$(records)" -gt "$before" ]; }
wait_for 5 "a binding to be known at the other" at 2 more
wait_for 5 "all slots to come back" everywhere all_slots_are_back
say "ok"
