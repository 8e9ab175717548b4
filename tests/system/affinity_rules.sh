#!/bin/bash
# affinity_rules.sh - the shipped examples of tenant isolation and of a canary, with real HAProxy: nobody is served where the
# rules forbid it, a lost dedicated instance is a 503 and not somebody else's engine, a split is sticky, and a header overrides
# it. Proves R060, R061, R062, R013.
. "$(dirname "$0")/lib.sh"
PROFILES=$HERE/../../policies/profiles
# The tenant is named by a header, as a map of credentials would.
HAPROXY_EDIT='s/set-var(txn.infer_tenant) "req.fhdr(authorization),xxh64(${INFER_SEED})"/set-var(txn.infer_tenant) req.fhdr(x-tenant)/
/set-var(txn.infer_tenant) "req.fhdr(x-api-key)/d'
start_engines 2 --speed 100 --prefill-rate 1000000
ACME_PORT=$(free_ports 1)
start_acme() {
	rm -f "$T/acme.ready"
	"$SIM" --port-base "$ACME_PORT" --engines 1 --speed 100 --ready-file "$T/acme.ready" >>"$T/acme.log" 2>&1 &
	PIDS[acme]=$!
	wait_for 10 "the engine of acme" test -s "$T/acme.ready"
}
start_acme
write_haproxy_config
"$AGENT_PROGRAM" haproxy config --instance "svc-stable=127.0.0.1:$ENGINE_PORT" --instance "svc-canary=127.0.0.1:$((ENGINE_PORT + 1))" \
	--instance "svc-acme=127.0.0.1:$ACME_PORT" | sed "$HAPROXY_EDIT" >"$T/haproxy.cfg"
grep -q 'infer_tenant) req.fhdr(x-tenant)' "$T/haproxy.cfg" || fail "the tenant's line is another"
start_haproxy
cp "$PROFILES/tenant-isolation.json" "$T/policy.json"
start_agent --policy "$T/policy.json"

# ask TENANT [HEADER]: "STATUS INSTANCE", and the body in $T/body.
ask() {
	curl -sS --max-time 10 -o "$T/body" -D "$T/head" -H content-type:application/json -H "x-infer-debug: 1" -H "x-tenant: $1" \
		${2:+-H "$2"} "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
		-d '{"model":"sim","max_tokens":2,"messages":[{"role":"user","content":"hello"}]}'
	tr -d '\r' <"$T/head" | awk 'NR == 1 { s = $2 } tolower($1) == "x-infer-instance:" { i = $2 } END { print s, i }'
}
# expect "STATUS INSTANCE" of ask's arguments.
expect() {
	local want=$1 got
	shift
	got=$(ask "$@")
	[ "$got" = "$want" ] || fail "$*: $got instead of $want: $(cat "$T/body")"
}
served() { haproxy_stat "$1" BACKEND 8; }

for i in $(seq 20); do
	expect "200 svc-acme" acme
	case $(ask "tenant-$i") in
	"200 svc-stable" | "200 svc-canary") ;;
	*) fail "tenant-$i was served at $(cat "$T/head")" ;;
	esac
done
[ "$(served svc-acme)" = 20 ] || fail "svc-acme served $(served svc-acme) requests, not acme's 20"

# Why, live and as a dry run.
explain() { "$AGENT_PROGRAM" explain --server "127.0.0.1:$ADMIN_PORT" "$@"; }
expect "200 svc-acme" acme
id=$(tr -d '\r' <"$T/head" | awk 'tolower($1) == "x-request-id:" { print $2 }')
explain --id "$id" | tee "$T/explained"
grep -q '^route: svc-acme/r0 ' "$T/explained" || fail "explain --id does not name svc-acme"
grep -q 'health 3, affinity 1' "$T/explained" || fail "explain --id does not count the stages"
explain --model sim --tenant other --json | jq -e '.dry and .instance != "svc-acme" and .action == "route"' >/dev/null ||
	fail "the dry run of another tenant: $(explain --model sim --tenant other)"
explain --tenant acme --body - --json <<<'{"model":"sim","messages":[{"role":"user","content":"hello"}]}' |
	jq -e '.instance == "svc-acme" and .model == "sim"' >/dev/null || fail "the dry run with a body"
if explain --id nobody 2>"$T/unknown"; then fail "an unknown id is no error"; fi
grep -q 'no decision of this id' "$T/unknown" || fail "an unknown id: $(cat "$T/unknown")"

stop acme
acme_is() { [ "$(haproxy_stat svc-acme r0 18)" = "$1" ]; }
wait_for 20 "HAProxy to see acme's engine gone" acme_is DOWN
sees_down() { [ "$(ask acme)" = "503 " ]; }
wait_for 5 "the agent to see it" sees_down
for i in $(seq 10); do
	expect "503 " acme
	[ "$(ask "tenant-$i" | cut -d' ' -f1)" = 200 ] || fail "tenant-$i suffers from acme's loss"
done
jq -e '.error.code == "no-eligible-instance"' "$T/body" >/dev/null 2>&1 || { ask acme >/dev/null; jq -e '.error.code == "no-eligible-instance"' "$T/body" >/dev/null; } ||
	fail "the refusal does not say why: $(cat "$T/body")"
start_acme
wait_for 20 "HAProxy to see acme's engine again" acme_is UP
sees_up() { [ "$(ask acme)" = "200 svc-acme" ]; }
wait_for 5 "the agent to see it" sees_up
say "isolation: 20 of acme's requests and none of others at svc-acme; without it a 503"

jq '.models = {sim: .models.llama70b}' "$PROFILES/canary.json" >"$T/policy.json"
before=$(metric config_reload_total 'result="ok"')
kill -HUP "${PIDS[agent]}"
is_swapped() { [ "$(metric config_reload_total 'result="ok"')" -gt "$before" ]; }
wait_for 5 "the policy to be swapped" is_swapped
canary=0
for i in $(seq 150); do
	first=$(ask "tenant-$i")
	[ "$(ask "tenant-$i")" = "$first" ] || fail "tenant-$i was served at $first first, and then elsewhere"
	case $first in
	"200 svc-canary") canary=$((canary + 1)) ;;
	"200 svc-stable") ;;
	*) fail "tenant-$i: $first" ;;
	esac
done
# 15 expected of 150; the names are fixed, and so is what comes out.
[ "$canary" -ge 5 ] && [ "$canary" -le 28 ] || fail "the canary got $canary of 150 tenants"
for i in $(seq 10); do
	expect "200 svc-canary" "tenant-$i" "x-infer-affinity: canary"
	expect "200 svc-stable" "tenant-$i" "x-infer-affinity: stable"
done
wait_for 5 "all slots to come back" all_slots_are_back
say "canary: $canary of 150 tenants, each always the same; a header overrides"
