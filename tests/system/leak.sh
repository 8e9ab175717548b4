#!/bin/bash
# leak.sh - HAProxy's end lines never arrive: counts heal by reconciliation, then by the ledger's time to live, with a warning
# and a counter. Proves R114, R116, R119, R120, P052. (600 s on a virtual clock: tests/policies/state/test_ledger.c.)
. "$(dirname "$0")/lib.sh"
HAPROXY_EDIT='/^    log /d'
start_engines 2 --speed 0
write_haproxy_config
start_haproxy
echo '{"defaults": {"ledger-ttl": "10s", "ledger-width": "1s"}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"

"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 60 --parallel 4 --expect-all-200 --output "$T/played" 2>"$T/player.log"
leaked=$(metric replica_inflight_requests)
say "leaked: $leaked slots, drift $(metric replica_drift_requests)"
[ "$leaked" = 60 ] || fail "expected 60 slots that nobody released, not $leaked"
healed_by_sessions() { [ "$(metric replica_drift_requests)" = -60 ]; }
wait_for 6 "HAProxy's sessions to correct the load" healed_by_sessions
say "corrected by HAProxy's sessions: drift $(metric replica_drift_requests)"
healed_by_time() { [ "$(metric replica_inflight_requests)" = 0 ] && [ "$(metric replica_drift_requests)" = 0 ]; }
wait_for 20 "the slots to expire" healed_by_time
[ "$(metric slots_expired_total)" -ge 60 ] || fail "slots_expired_total is $(metric slots_expired_total)"
grep -q "slots expired" "$T/agent.log" || fail "no warning in the log"
grep "slots expired" "$T/agent.log" | head -n 2
say "ok"
