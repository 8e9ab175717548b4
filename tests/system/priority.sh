#!/bin/bash
# priority.sh - the backlog waits in HAProxy's queue, in the order that the agent says, with real HAProxy: at a server that is full
# interactive goes before default before batch, by classes of HAProxy and by offsets of the policy's step, and the agent sees the
# queue; under a load that never ends batch waits for ever by classes, and by offsets no longer than the policy says. Proves B039, P037.
. "$(dirname "$0")/lib.sh"
# One at a time at each server, so that there is an order; a request takes a tenth of a second.
HAPROXY_EDIT='s/ maxconn 256 maxqueue 32/ maxconn 1 maxqueue 128/'
start_engines 2 --step-us 10000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000
start_haproxy
echo '{}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

step() { # OF-PRIORITY: 0 are strict classes
	with_policy "{\"defaults\": {\"strategy\": \"least-request\", \"queue\": {\"client-priority\": true, \"priority-step\": \"$1\"}}}"
}
SENT=0
# All are pinned to r0, by who must not serve; r1 stays idle.
send() { # NAME OUTPUT-TOKENS [HEADER]: in the background; a line in $T/done when it is served
	local name=$1 tokens=$2
	shift 2
	SENT=$((SENT + 1))
	curl -sSN --max-time 60 -o /dev/null -w "$name %{http_code} %{time_total}\n" -H content-type:application/json -H x-infer-exclude:r1 "$@" \
		"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
		-d "{\"model\":\"sim\",\"stream\":true,\"max_tokens\":$tokens,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}" >>"$T/done" 2>>"$T/curl.log" &
	PIDS[sent$SENT]=$!
}
in_queue() { [ "$(haproxy_stat svc-a r0 3)" = "$1" ]; }
is_served() { [ "$(haproxy_stat svc-a r0 5)" = 1 ]; }
are_done() { [ "$(wc -l <"$T/done")" -ge "$1" ]; }
seen_in_queue() { [ "$(metric replica_haproxy_queue_requests 'replica="r0"')" = "$1" ]; }

for step in 0 1s; do
	step $step
	: >"$T/done"
	send first 100000
	first=$SENT
	wait_for 5 "the first to be served" is_served
	count=0
	for class in batch batch batch batch interactive default interactive; do
		count=$((count + 1))
		send $class 10 -H "x-infer-priority:$class"
		wait_for 5 "$count in the queue" in_queue $count
	done
	wait_for 5 "the agent to see the queue" seen_in_queue 7
	stop sent$first
	wait_for 20 "all to be served" are_done 7
	order=$(cut -d' ' -f1 "$T/done" | tr '\n' ' ')
	[ "$order" = "interactive interactive default batch batch batch batch " ] || fail "with a step of $step: $order"
	[ "$(cut -d' ' -f2 "$T/done" | sort -u)" = 200 ] || fail "not all were served: $(cat "$T/done")"
	say "a step of $step, seven in the queue of one server, batch came first: $order"
done

# Four at once without end, of those who go first; then one of batch. It counts as 2 s later than they (20 steps).
under_load() { # what it does to the one of batch: in $T/done
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --parallel 4 --count 100000 --body-bytes 100 --max-tokens 10 --stream --seed "$1" \
		--header x-infer-exclude:r1 --header x-infer-priority:interactive --timeout 60 --output "$T/interactive" 2>>"$T/player.log" &
	PIDS[player]=$!
	wait_for 5 "the load" in_queue 3
	: >"$T/done"
	send batch 10 -H x-infer-priority:batch
	wait_for 5 "the one of batch in the queue" in_queue 4
}
# Its last ones are served. Not killed: when all clients of a full server leave at once, HAProxy 2.6.12 may leave the others in its
# queue, though nobody is served (7 of 11 times on a busy machine), until timeout queue.
load_ends() {
	kill -USR1 "${PIDS[player]}"
	wait "${PIDS[player]}" || true
	unset "PIDS[player]"
}
step 100ms
under_load 1
wait_for 15 "the one of batch to be served under load" are_done 1
kill -0 "${PIDS[player]}" || fail "the load had ended before"
read -r _ status waited <"$T/done"
[ "$status" = 200 ] || fail "the one of batch got $status"
awk -v t="$waited" 'BEGIN { exit !(t > 2) }' || fail "the one of batch waited $waited s only: it did not go behind"
load_ends
step 0
under_load 2
sleep 4
[ ! -s "$T/done" ] || fail "by classes the one of batch was served: then the test shows nothing"
load_ends
wait_for 5 "the one of batch to be served when there is room" are_done 1
say "under load batch took $waited s by offsets, and by classes it waited until the load ended: $(cut -d' ' -f3 "$T/done") s"
wait_for 5 "all slots to come back" all_slots_are_back
[ "$(haproxy_stat svc-a r1 8)" = 0 ] || fail "$(haproxy_stat svc-a r1 8) went to the idle server: nothing was pinned"
say "ok"
