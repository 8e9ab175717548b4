#!/bin/bash
# shared_away.sh - two agents whose store is refused from the start: sessions go the same way through both all the same, a limit counts
# at each, and no request fails for it. Proves P072, P104, R081, R162.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
HAPROXY_EDIT='s/set-var(txn.infer_tenant) "req.fhdr(authorization),xxh64(${INFER_SEED})"/set-var(txn.infer_tenant) req.fhdr(x-tenant)/
/set-var(txn.infer_tenant) "req.fhdr(x-api-key)/d'
start_engines 4 --speed 100 --prefill-rate 1000000 --max-running 256
echo '{"tenants": {"ten": {"limits": {"requests": "1/d", "requests-burst": 10}}}}' >"$FOLDER/policy.json"
# Nobody listens at port 1.
start_pairs 2 --policy "$FOLDER/policy.json" --redis redis://127.0.0.1:1/0
refused() { [ "$(metric store_up)" = 0 ] && [ "$(metric store_faults_total 'fault="refused"')" -ge 1 ]; }
wait_for 10 "the store to be refused" everywhere refused
[ "$(grep -c 'store: away (refused' "$FOLDER"/[12]/agent.log | cut -d: -f2 | sort -u)" = 1 ] || fail "the log does not say once that it is refused"

equal=0
for key in $(seq 50); do
	# Idle replicas: nothing but the key decides.
	first=$(at 1 asked "x-infer-session: key-$key" routing-strategy:session-affinity)
	second=$(at 2 asked "x-infer-session: key-$key" routing-strategy:session-affinity)
	[ "${first%% *}" = 200 ] && [ "${second%% *}" = 200 ] || fail "$key: $first, $second"
	[ "$(cut -d' ' -f3 <<<"$first")" != "$(cut -d' ' -f3 <<<"$second")" ] || equal=$((equal + 1))
done
say "$equal of 50 keys lead to the same replica through both"
[ $equal = 50 ] || fail "not all of them"
for pair in 1 2; do
	for _ in $(seq 10); do at $pair expect "200 svc-a *" x-tenant:ten; done
	at $pair expect "429 - - limit" x-tenant:ten
done
say "ok: of a budget of 10 ten passed at each, the next was refused"
