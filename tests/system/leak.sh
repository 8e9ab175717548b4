#!/bin/bash
# leak.sh - HAProxy's end lines never arrive: counts heal by HAProxy's own sessions, and where nobody can be asked by the
# ledger's time to live, with a warning and a counter. Proves R114, R116, R119, R120, P052. (600 s on a virtual clock:
# tests/policies/state/test_ledger.c.)
. "$(dirname "$0")/lib.sh"
HAPROXY_EDIT='/^    log /d'
start_engines 2 --speed 0
write_haproxy_config
start_haproxy
echo '{"defaults": {"ledger-ttl": "10s", "ledger-width": "1s"}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"

leak() { # 60 requests whose slots nobody releases
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 60 --parallel 4 --expect-all-200 --output "$T/played" 2>"$T/player.log"
}
leak
say "leaked: $(metric replica_inflight_requests) slots, drift $(metric replica_drift_requests)"
# First the load is corrected, then the requests that HAProxy does not have any more are closed.
healed() { all_slots_are_back && [ "$(metric replica_drift_requests)" = 0 ]; }
wait_for 8 "HAProxy's sessions to close what ended" healed
[ "$(metric slots_expired_total)" = 0 ] || fail "slots expired while HAProxy answers"
grep -m 1 "without an end line" "$T/agent.log"
by_sessions() { metric slots_released_total 'source="sessions"'; }
[ "$(by_sessions)" = 60 ] || fail "expected 60 slots released by HAProxy's sessions, not $(by_sessions)"

leak
kill -STOP "${PIDS[haproxy]}"
say "HAProxy is frozen, nobody counts; leaked: $(metric replica_inflight_requests)"
[ "$(metric replica_inflight_requests)" = 60 ] || fail "expected 60 slots"
wait_for 25 "the slots to expire" all_slots_are_back
[ "$(metric slots_expired_total)" = 60 ] || fail "slots_expired_total is $(metric slots_expired_total)"
wait_for 15 "a warning in the log" grep -q "slots expired" "$T/agent.log"
grep "slots expired" "$T/agent.log" | head -n 2
kill -CONT "${PIDS[haproxy]}"
wait_for 10 "HAProxy to see the agent" agent_is_up
leak
wait_for 8 "the load to heal once more" healed
say "ok"
