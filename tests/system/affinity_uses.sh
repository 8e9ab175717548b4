#!/bin/bash
# affinity_uses.sh - the shipped examples of application isolation and of regions with disaster recovery, with real HAProxy: each
# application and region is served where its rules say, a lost instance only costs those who may go elsewhere a detour, and all is
# as before when it is back. Proves R060, R061, R062.
. "$(dirname "$0")/lib.sh"
PROFILES=$HERE/../../policies/profiles
start_engines 3 --speed 100 --prefill-rate 1000000
LOST_PORT=$(free_ports 2)
start_lost() {
	rm -f "$T/lost.ready"
	"$SIM" --port-base "$LOST_PORT" --engines 2 --speed 100 --ready-file "$T/lost.ready" >>"$T/lost.log" 2>&1 &
	PIDS[lost]=$!
	wait_for 10 "the engines that will be lost" test -s "$T/lost.ready"
}
start_lost
write_haproxy_config
for file in "$T"/spoe*.cfg; do
	case $file in *-3.cfg) version=3.0 ;; *) version=2.6 ;; esac
	"$AGENT_PROGRAM" haproxy spoe --for $version --header x-app --header x-region | sed 's/timeout     processing .*/timeout     processing 500ms/' >"$file"
done
"$AGENT_PROGRAM" haproxy config --instance "svc-search=127.0.0.1:$LOST_PORT" --instance "svc-eu=127.0.0.1:$((LOST_PORT + 1))" \
	--instance "svc-batch=127.0.0.1:$ENGINE_PORT" --instance "svc-shared=127.0.0.1:$((ENGINE_PORT + 1))" \
	--instance "svc-us=127.0.0.1:$((ENGINE_PORT + 2))" >"$T/haproxy.cfg"
start_haproxy
cp "$PROFILES/app-isolation.json" "$T/policy.json"
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

in_haproxy() { [ "$(haproxy_stat "$1" r0 18)" = "$2" ]; }
applications() { # WHERE-SEARCH-MAY-GO
	local i
	for i in $(seq 8); do
		# shellcheck disable=SC2254 # a pattern
		case $(asked "x-app: search") in "200 svc-"$1" "*) ;; *) fail "search: $(asked "x-app: search") instead of $1" ;; esac
		expect "200 svc-batch r0 load" "x-app: batch-$i"
		case $(asked "x-app: chat") in "200 svc-search "* | "200 svc-shared "*) ;; *) fail "chat is served elsewhere" ;; esac
		case $(asked) in "200 svc-search "* | "200 svc-shared "* | "200 svc-batch "*) ;; *) fail "no application is served elsewhere" ;; esac
	done
}
shopt -s extglob
applications "@(search|shared)"
[ "$(haproxy_stat svc-search BACKEND 8)" -gt 0 ] && [ "$(haproxy_stat svc-shared BACKEND 8)" -gt 0 ] || fail "search is not balanced over its two"
[ "$(haproxy_stat svc-us BACKEND 8)" = 0 ] || fail "an instance of no application was used"
with_policy "$(cat "$PROFILES/regions.json")"
regions() { # WHERE-EUROPE-IS-SERVED
	for _ in $(seq 8); do
		expect "$1" "x-region: eu-west"
		expect "200 svc-us r0 load" "x-region: us-east"
		expect "200 svc-us r0 load"
	done
}
regions "200 svc-eu r0 load"
say "each application and region is served where its rules say"

stop lost
for name in svc-search svc-eu; do wait_for 20 "HAProxy to see $name gone" in_haproxy $name DOWN; done
europe_is() { [ "$(asked "x-region: eu-west")" = "$1" ]; }
wait_for 5 "the agent to see it" europe_is "200 svc-us r0 fallback"
regions "200 svc-us r0 fallback"
with_policy "$(cat "$PROFILES/app-isolation.json")"
applications shared
say "without svc-eu Europe is served in svc-us, without svc-search its applications at svc-shared; all others as before"

start_lost
for name in svc-search svc-eu; do wait_for 20 "HAProxy to see $name again" in_haproxy $name UP; done
with_policy "$(cat "$PROFILES/regions.json")"
wait_for 5 "the agent to see it again" europe_is "200 svc-eu r0 load"
regions "200 svc-eu r0 load"
wait_for 5 "all slots to come back" all_slots_are_back
say "and all as before when it is back"
say "ok"
