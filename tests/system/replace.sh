#!/bin/bash
# replace.sh - the agent's program is replaced by another one under 300 requests/s, by a service manager that holds its sockets and
# by one that does not: no request fails, and what is open is known to the next process from HAProxy's sessions. Proves R018, B009.
PROCESSING=50ms # as shipped: how long a request waits for a process that is just coming is the subject
. "$(dirname "$0")/lib.sh"
start_engines 4 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000
write_haproxy_config
start_haproxy
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"
mkdir "$T/bin"
STREAMS=8 COUNT=1500

install_program() { cp "$AGENT_PROGRAM" "$T/bin/new" && mv -f "$T/bin/new" "$T/bin/inference-spoa"; }
program_of() { stat -L -c %i "/proc/$(awk '$1 == "started" { pid = $2 } END { print pid }' "$T/diary.log")/exe"; }
told() { [ "$(grep -c "^$1" "$T/diary.log")" -ge "$2" ]; } # LINE TIMES
start_manager() { # HELD-SOCKET... -- ARGUMENT...
	install_program
	rm -f "$T/diary.log" "$T/decisions.out"
	"$HERE/service_manager.py" "$T/diary.log" "$@" --haproxy "$T/infer.sock" --no-scrape --log-decisions all \
		>"$T/decisions.out" 2>>"$T/agent.log" &
	PIDS[manager]=$!
	wait_for 10 "the agent to be ready" told READY=1 1
	wait_for 10 "HAProxy to see the agent" agent_is_up
	wait_for 10 "the agent to know the servers" fleet_is_known
}
load_is() { [ $(($(metric replica_inflight_requests) + $(metric replica_drift_requests))) = "$1" ]; }
requests() { "$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --expect-all-200 --deadline 60 --timeout 60 "$@"; }
at_haproxy() { [ "$(haproxy_stat llm FRONTEND 49)" -ge "$1" ]; }

replaced_twice() { # READY-LINES-BEFORE MOST-UNDECIDED
	local n old undecided begun
	requests --count $STREAMS --parallel $STREAMS --body-bytes 4000 --max-tokens 400 --seed 3 --output "$T/streams" 2>"$T/streams.log" &
	PIDS[streams]=$!
	wait_for 5 "the streams to be open" load_is $STREAMS
	begun=$(haproxy_stat llm FRONTEND 49)
	requests --count $COUNT --rate 300 --parallel 256 --body-bytes 2000 --max-tokens 1 --seed 5 --output "$T/played" 2>"$T/player.log" &
	PIDS[player]=$!
	for n in 1 2; do
		wait_for 20 "traffic" at_haproxy $((begun + COUNT * (2 * n - 1) / 5))
		old=$(program_of)
		install_program
		kill -USR1 "${PIDS[manager]}"
		wait_for 10 "the next process" told READY=1 $(($1 + n))
		[ "$(program_of)" != "$old" ] || fail "the program is the old one"
	done
	wait "${PIDS[player]}" || fail "requests failed: $(cat "$T/player.log")"
	unset "PIDS[player]"
	wait_for 5 "the open streams to be known as load" load_is $STREAMS
	kill -0 "${PIDS[streams]}" 2>/dev/null || fail "the streams have ended: too early to prove anything"
	say "$STREAMS streams are open: $(metric replica_inflight_requests) slots of the third process, drift $(metric replica_drift_requests)"
	wait "${PIDS[streams]}" || fail "streams failed: $(cat "$T/streams.log")"
	unset "PIDS[streams]"
	wait_for 5 "all load to end with them" load_is 0
	[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired"
	jq -s -c 'map(.total_us / 1000) | sort | {requests: length, p50: .[length / 2 | floor], p99: .[length * 0.99 | floor], max: last}' "$T/played"
	stop manager
	undecided=$((COUNT + STREAMS - $(jq -r 'select(has("action")) | .id' "$T/decisions.out" | sort -u | wc -l)))
	say "none failed, $undecided of $((COUNT + STREAMS)) were HAProxy's own choice"
	[ "$undecided" -le "$2" ] || fail "more than $2"
	grep -q '^STOPPING=1' "$T/diary.log" || fail "no process said that it ends"
}

say "a manager that holds the sockets:"
start_manager "spop=tcp:127.0.0.1:$SPOP_PORT" "log=udp:127.0.0.1:$LOG_PORT" "log=tcp:127.0.0.1:$LOG_PORT" \
	"admin=tcp:127.0.0.1:$ADMIN_PORT" -- "$T/bin/inference-spoa" run
kill -HUP "$(awk '$1 == "started" { print $2 }' "$T/diary.log")"
wait_for 5 "the reload to be told" told RELOADING=1 1
wait_for 5 "its end to be told" told READY=1 2
wait_for 5 "signs of life" told WATCHDOG=1 2
replaced_twice 2 200

say "a manager that only starts and ends:"
start_manager -- "$T/bin/inference-spoa" run --spop "127.0.0.1:$SPOP_PORT" --log-listen "127.0.0.1:$LOG_PORT" --admin "127.0.0.1:$ADMIN_PORT"
replaced_twice 1 1000
say "ok"
