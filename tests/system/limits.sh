#!/bin/bash
# limits.sh - what callers may use, with real HAProxy: of 100 requests at once as many pass as there is budget for, a cap of 4 is 4 to
# the end of the streams, who waits as long as told is served, a client that left before the first byte has paid nothing, and an
# agent that starts anew refuses nobody. Proves R012, R179, B041, B043, B044.
. "$(dirname "$0")/lib.sh"
# The tenant is named by a header, as a map of credentials would.
HAPROXY_EDIT='s/set-var(txn.infer_tenant) "req.fhdr(authorization),xxh64(${INFER_SEED})"/set-var(txn.infer_tenant) req.fhdr(x-tenant)/
/set-var(txn.infer_tenant) "req.fhdr(x-api-key)/d'
start_engines 2 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 --max-running 256
# Without their pages an answer is expected to be as long as by default, and costs what was expected.
for i in 0 1; do curl -sSf --max-time 5 -o /dev/null -d '{"fault":"500","path":"/metrics"}' "http://127.0.0.1:$((ENGINE_PORT + i))/sim/fault"; done
write_haproxy_config
grep -q 'infer_tenant) req.fhdr(x-tenant)' "$T/haproxy.cfg" || fail "the tenant's line is another"
start_haproxy
echo '{"tenants": {
	"tries": {"limits": {"requests": "1/d", "requests-burst": 10}},
	"price": {"limits": {"tokens": "1/d", "tokens-burst": 1000000}},
	"four":  {"limits": {"max-inflight": 4}},
	"slow":  {"limits": {"requests": "1/s"}},
	"gone":  {"limits": {"requests": "1/d"}},
	"both":  {"models": {"s*": {"requests": "2/d"}}}}}' >"$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

body='{"model":"sim","max_tokens":2,"messages":[{"role":"user","content":"hello"}]}'
header() { tr -d '\r' <"$T/head" | awk -v name="$1:" 'tolower($1) == name { print $2 }'; }
refused() { metric limit_refusals_total "kind=\"$1\""; }
# burst NAME [player options]: 100 streams at once of the tenant; how many of them were served, in $SERVED.
burst() {
	local name=$1
	shift
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --timeout 60 --count 100 --parallel 100 --body-bytes 1024 \
		--header "x-tenant:$name" --output "$T/$name" "$@" 2>>"$T/player.log"
	SERVED=$(jq -s '[.[] | select(.status == 200)] | length' "$T/$name")
	OTHER=$(jq -s '[.[] | select(.status != 200 and .status != 429)] | length' "$T/$name")
	[ "$OTHER" = 0 ] || fail "$OTHER of $name were neither served nor refused"
}

# By requests; then by tokens, when all are still at work that have passed.
burst tries --max-tokens 2
[ "$SERVED" = 10 ] || fail "$SERVED of 100 passed, not the 10 that there is budget for"
[ "$(refused requests)" = 90 ] || fail "$(refused requests) refusals were counted, not 90"
usage() { "$AGENT_PROGRAM" show limits --json --server "127.0.0.1:$ADMIN_PORT" | jq ".limits[] | select(.tenant == \"$1\") | $2"; }
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --count 1 --max-tokens 2 --body-bytes 1024 --header x-tenant:price --expect-all-200 \
	--output "$T/price" 2>>"$T/player.log" || fail "the first of price"
cost=$(usage price '.tokens.used | round')
asked x-tenant:price >/dev/null
[ "$(header x-ratelimit-limit-tokens)" = 1000000 ] || fail "x-ratelimit headers: $(cat "$T/head")"
left=$(header x-ratelimit-remaining-tokens)
[ "$left" -gt $((1000000 - 3 * cost)) ] && [ "$left" -lt $((1000000 - cost)) ] || fail "$left left of 1000000 after one of $cost and another"
with_policy "{\"tenants\": {\"budget\": {\"limits\": {\"tokens\": \"1/d\", \"tokens-burst\": $((cost * 10 + cost / 2))}}}}"
burst budget --max-tokens 100
[ "$SERVED" = 10 ] || fail "$SERVED of 100 passed, not the 10 of $cost tokens that there is budget for"
[ "$(refused tokens)" = 90 ] || fail "$(refused tokens) refusals were counted, not 90"

# The cap, to the end of the streams; then there is room again.
with_policy '{"tenants": {"four": {"limits": {"max-inflight": 4}}, "slow": {"limits": {"requests": "1/s"}}, "gone": {"limits": {"requests": "1/d"}},
	"both": {"models": {"s*": {"requests": "1/d"}}}}}'
for i in 1 2 3 4; do
	"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --count 1 --max-tokens 10000 --timeout 60 --header x-tenant:four \
		--output "$T/four.$i" 2>>"$T/player.log" &
	PIDS[four$i]=$!
	are_open() { [ "$(metric replica_inflight_requests)" = "$i" ]; }
	wait_for 5 "stream $i to be open" are_open
done
burst four --max-tokens 2
[ "$SERVED" = 0 ] || fail "$SERVED of 100 passed beside the 4 that are open"
expect "429 - - limit" x-tenant:four
[ "$(header retry-after)" = 1 ] && [ "$(header x-should-retry)" = true ] || fail "$(cat "$T/head")"
[ "$(jq -r .error.code "$T/body")" = inflight_exceeded ] || fail "$(cat "$T/body")"
ASK_PATH=/v1/messages expect "429 - - limit" x-tenant:four
[ "$(jq -r .error.type "$T/body")" = rate_limit_error ] || fail "$(cat "$T/body")"
[ "$(metric replica_inflight_requests)" = 4 ] || fail "$(metric replica_inflight_requests) streams are open, not 4"
stop four2
has_room() { [ "$(metric replica_inflight_requests)" = 3 ]; }
wait_for 5 "the stream to end" has_room
expect "200 svc-a *" x-tenant:four
for i in 1 3 4; do stop four$i; done
wait_for 5 "all slots to come back" all_slots_are_back

# Who waits as long as told is served.
expect "200 svc-a *" x-tenant:slow
[ "$(header x-ratelimit-remaining-requests)" = 0 ] || fail "$(cat "$T/head")"
expect "429 - - limit" x-tenant:slow
[ "$(jq -r .error.code "$T/body")" = requests_exceeded ] || fail "$(cat "$T/body")"
sleep "$(header retry-after)"
expect "200 svc-a *" x-tenant:slow

# Left before the first byte: paid nothing. Served: paid.
curl -sS --max-time 0.3 -o /dev/null -H content-type:application/json -H x-tenant:gone -H x-sim-fault:hang \
	"http://127.0.0.1:$HTTP_PORT/v1/chat/completions" -d "$body" 2>/dev/null || true
wait_for 5 "its slot to come back" all_slots_are_back
expect "200 svc-a *" x-tenant:gone
expect "429 - - limit" x-tenant:gone
expect "200 svc-a *" x-tenant:both
expect "429 - - limit" x-tenant:both
id=$(header x-request-id)
"$AGENT_PROGRAM" explain --server "127.0.0.1:$ADMIN_PORT" --id "$id" >"$T/explained"
grep -q 'tenant-model.*requests' "$T/explained" || fail "explain does not say which limit: $(cat "$T/explained")"
expect "200 svc-a *" x-tenant:other

# An agent that is gone limits nobody; a new one begins anew.
stop agent
expect "200 - - -" x-tenant:gone
start_agent --policy "$T/policy.json"
expect "200 svc-a *" x-tenant:gone
expect "429 - - limit" x-tenant:gone
say "ok: 10 of 100 by requests and by $cost tokens each, 4 at a time to the end, and nothing left behind"
