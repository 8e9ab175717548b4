#!/bin/bash
# controller.sh - the Kubernetes ingress without Kubernetes: a configuration as its controller writes one (maps, slots, free slots
# at 127.0.0.1:1, snippets, an auxiliary file), made of the chart as it renders and of what `haproxy ingress` prints; with real
# HAProxy, the agent with the side-car's own arguments, and engines for pods. Slots are given to other pods, two ingress pods
# number theirs differently, HAProxy is reloaded, the policy comes by a ConfigMap. Proves B061, P116, P117, P118.
. "$(dirname "$0")/../system/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
tools=${XDG_CACHE_HOME:-$HOME/.cache}/inference-spoa/chart-tools/bin
[ -x "$tools/python" ] && [ -x "$tools/helm" ] || { say "controller.sh: run tests/helm/get_tools.sh first"; exit 77; }
version=$("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([0-9]*\.[0-9]*\).*/\1/p')
made_for=$version
case $version in 2.6 | 2.8 | 3.0 | 3.1 | 3.2 | 3.3 | 3.4) ;; *) made_for=3.4 ;; esac
LLAMA=ai_svc_llama_8000 QWEN=ai_svc_qwen_http SHOP=shop_svc_web_80
start_engines 6 --speed 20 --prefill-rate 2000000
shop=$((ENGINE_PORT + 5)) # the last one is no engine to us
base=$(free_ports 10)
SPOP_PORT=$base LOG_PORT=$((base + 1)) ADMIN_PORT=$((base + 2)) SPOP2_PORT=$((base + 3))
HTTP_PORT=$((base + 4)) HTTP2_PORT=$((base + 6)) # and the one behind it: https
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), values for $made_for, folder $T"

# The chart's ConfigMaps as kubelet mounts them: a folder, a link to it, links into it.
mount_configmap() { # FOLDER FILE NUMBER, its content from stdin
	mkdir -p "$1/..$3"
	cat >"$1/..$3/$2"
	ln -s "..$3" "$1/..data_tmp"
	mv -T "$1/..data_tmp" "$1/..data"
	ln -sf "..data/$2" "$1/$2"
}
chart() { HELM_CACHE_HOME=$T HELM_CONFIG_HOME=$T HELM_DATA_HOME=$T KUBECONFIG=/dev/null "$tools/helm" template r "$HERE/../../helm/inference-spoa" --kube-version 1.31.0 "$@"; }
of_configmap() { "$tools/python" -c 'import sys, yaml; print(next(d["data"][sys.argv[1]] for d in yaml.safe_load_all(sys.stdin) if d and sys.argv[1] in d.get("data", {})))' "$1"; }
chart --set-string haproxy.version="$made_for" --set haproxy.processingTimeout=500ms | of_configmap spoe.cfg | mount_configmap "$T/etc" spoe.cfg 1
policy() { # NUMBER JSON
	echo "{\"policy\": $2}" >"$T/policy-values.json"
	chart -f "$T/policy-values.json" | of_configmap policy.json | mount_configmap "$T/policy" policy.json "$1"
}
policy 1 '{}'

"$AGENT_PROGRAM" haproxy ingress --for "$made_for" --backend $LLAMA --backend $QWEN >"$T/values.yaml"
"$AGENT_PROGRAM" haproxy ingress-service --for "$made_for" >"$T/annotations.yaml"
"$tools/python" "$HERE/ingress_parts.py" "$T/values.yaml" "$T/annotations.yaml" "$T/parts"
# Places and ports of a pod become this test's; nothing else.
placed() { # PART POD
	sed -e "s|$(cat "$T/parts/etc")|$T/etc|g; s|/etc/inference-spoa/policy|$T/policy|g" \
		-e "s|/run/inference-spoa-hap.sock|$T/$2/user.sock|g; s|127.0.0.1:9514|127.0.0.1:$LOG_PORT|g" \
		-e "s|127.0.0.1:9000|127.0.0.1:$([ "$2" = 1 ] && echo "$SPOP_PORT" || echo "$SPOP2_PORT")|g" \
		-e "s|[0-9.]\+:9901|127.0.0.1:$ADMIN_PORT|g" "$T/parts/$1"
}

slots() { # SLOT-ADDRESS...: servers as the controller numbers them; - is a free one
	local address n=0
	for address; do
		n=$((n + 1))
		if [ "$address" = - ]; then echo "    server SRV_$n 127.0.0.1:1 disabled"; else echo "    server SRV_$n 127.0.0.1:$address enabled"; fi
	done
}
pool() { # BACKEND SNIPPETS: the head of a backend, its servers from stdin
	echo "backend $1"
	sed 's/^/    /' "$T/parts/balance"
	printf '    option forwardfor\n    default-server check inter 500ms %s\n' "$([ "$2" = theirs ] || cat "$T/parts/maxconn")"
	if [ "$2" = ours ]; then placed backend 1 | sed 's/^/    /'; fi
	cat
}
front() { # NAME PORT POD
	printf 'frontend %s\n    bind 127.0.0.1:%s\n' "$1" "$2"
	cat <<-END
		    http-request set-var(txn.base) base
		    http-request set-var(txn.path) path
		    http-request set-var(txn.host) req.hdr(Host),field(1,:),lower
		    http-request set-var(txn.host_match) var(txn.host),map($T/$3/host.map)
		    http-request set-var(txn.path_match) var(txn.host_match),concat(,txn.path,),map($T/$3/path-exact.map)
		    http-request set-var(txn.path_match) var(txn.host_match),concat(,txn.path,),map_beg($T/$3/path-prefix.map) if !{ var(txn.path_match) -m found }
	END
	placed frontend "$3" | sed "s/^/    /; ${FRONTEND_EDIT:-}"
	printf '    use_backend %%[var(txn.path_match),field(1,.)]\n    default_backend ic_svc_default-local-service_http\n'
}
# What the controller of one ingress pod writes: POD HTTP-PORT "SLOTS OF LLAMA" "SLOTS OF QWEN"
controller() {
	mkdir -p "$T/$1"
	echo "llm.example llm.example" >"$T/$1/host.map"
	echo "shop.example shop.example" >>"$T/$1/host.map"
	echo "llm.example/exact $LLAMA.1" >"$T/$1/path-exact.map"
	printf '%s\n' "llm.example/qwen $QWEN.1.2" "llm.example/ $LLAMA.1.2" "shop.example/ $SHOP.1.2" >"$T/$1/path-prefix.map"
	{
		printf 'global\n    stats socket %s level admin\n' "$T/$1/admin.sock"
		placed global "$1" | sed 's/^/    /'
		printf 'defaults haproxytech\n    mode http\n    log-format "%%ci %%ft %%b/%%s %%ST %%B %%ts"\n    option redispatch\n'
		sed 's/^/    /' "$T/parts/defaults"
		front http "$2" "$1"
		front https "$(($2 + 1))" "$1"
		# shellcheck disable=SC2086 # lists
		slots $3 | pool $LLAMA ours
		# shellcheck disable=SC2086
		slots $4 | pool $QWEN ours
		slots "$shop" - | pool $SHOP theirs
		printf 'backend ic_svc_default-local-service_http\n    http-request return status 404 content-type text/plain string "default backend"\n'
	} >"$T/$1/haproxy.cfg"
	placed aux "$1" >"$T/$1/haproxy-aux.cfg"
	if ! "$HAPROXY_PROGRAM" -c -f "$T/$1/haproxy.cfg" -f "$T/$1/haproxy-aux.cfg" >"$T/check.log" 2>&1 || grep -qiE 'warning|alert' "$T/check.log"; then
		fail "$(cat "$T/check.log")"
	fi
	[ -n "${FRONTEND_EDIT:-}" ] || checked "$1"
}
# Our own check finds nothing in it but what is this test's: how long it waits for an answer, and in pod 3, where no Service is named
# and so all are ours, that the shop has no annotations; and what it knows of this HAProxy.
checked() {
	"$AGENT_PROGRAM" check --haproxy-config "$T/$1/haproxy.cfg" --haproxy-config "$T/$1/haproxy-aux.cfg" --haproxy-version "$version" >"$T/check.log" || true
	if grep -E ': (error|warning): ' "$T/check.log" | grep -vE '\[(version|spop-check)\]$' | grep -v "/3/.* backend $SHOP: "; then fail "check is not content with what the ingress writes"; fi
}
# NAME POD [OLD-PID]: a process of it, in place of the old one if there is one, as a reload does.
run_haproxy() {
	local old=${PIDS[$1]:-}
	"$HAPROXY_PROGRAM" -db -f "$T/$2/haproxy.cfg" -f "$T/$2/haproxy-aux.cfg" ${old:+-sf "$old"} >>"$T/$1.log" 2>&1 &
	PIDS[$1]=$!
	wait_for 10 "HAProxy of pod $2" is_process "$2" "$!"
	[ -z "$old" ] || PIDS[old]=$old
}
is_process() { [ "$(runtime "$1" "show info" | awk '$1 == "Pid:" { print $2 }')" = "$2" ] || ps -o ppid= -p "$(runtime "$1" "show info" | awk '$1 == "Pid:" { print $2 }')" | has -w "$2"; }
runtime() { echo "$2" | socat - "UNIX-CONNECT:$T/$1/admin.sock"; } # POD COMMANDS
set_slot() { # POD BACKEND/SERVER PORT, or - to empty it: as the controller does, without a reload
	if [ "$3" = - ]; then
		runtime "$1" "set server $2 addr 127.0.0.1 port 1; set server $2 state maint" >/dev/null
	else
		runtime "$1" "set server $2 addr 127.0.0.1 port $3; set server $2 state ready" >/dev/null
	fi
}
slot_of() { # POD BACKEND PORT: the server that has this address there
	runtime "$1" "show servers state $2" | awk -v p="127.0.0.1:$3" '$5 ":" $19 == p { print $4 }'
}

header() { tr -d '\r' <"$T/head" | awk -v name="$1:" 'tolower($1) == name && $2 != "" { v = $2 } END { print v == "" ? "-" : v }'; }
# ask PORT HOST PATH WORD [HEADER...]: a prompt of nothing but the word, 12 kB and more. Sets ST, the status; ENGINE, the port of who
# served; IN, RE, WHY: what was decided; SRV: the server of the ingress that served.
ask() {
	local port=$1 host=$2 path=$3 word=$4 header headers=()
	shift 4
	for header; do headers+=(-H "$header"); done
	printf '{"model":"sim","max_tokens":2,"messages":[{"role":"user","content":"%s %s"}]}' "$word" "$(yes "$word" | head -n 6000 | tr -d '\n')" |
		curl -sS --max-time 10 -o "$T/body" -D "$T/head" -H "host: $host" -H content-type:application/json -H "x-infer-debug: 1" \
			"${headers[@]}" --data-binary @- "http://127.0.0.1:$port$path" || fail "no answer from port $port"
	ST=$(awk 'NR == 1 { print $2 }' "$T/head")
	ENGINE=$(header x-sim-engine) IN=$(header x-infer-instance) RE=$(header x-infer-replica) WHY=$(header x-infer-reason) SRV=$(header x-infer-served)
}
# The pod that was decided on is the one that served, and that the ingress has in this slot.
routed() { # POD PORT PATH WORD
	ask "$2" llm.example "$3" "$4"
	[ "$ST" = 200 ] && [ "$RE" != - ] && [ "$RE" = "$SRV" ] || fail "$4 by pod $1: status $ST, decided $IN/$RE ($WHY), served by $SRV: $(cat "$T/body")"
	[ "$(slot_of "$1" "$IN" "$ENGINE")" = "$RE" ] || fail "$4 by pod $1: $RE is not the slot of 127.0.0.1:$ENGINE"
	wait_for 5 "the end line of $4" all_slots_are_back
}
replicas() { "$AGENT_PROGRAM" show replicas --json --server "127.0.0.1:$ADMIN_PORT" | jq -r '[.replicas[].address] | unique | join(" ")'; }
knows() { replicas | has -w "127.0.0.1:$1"; }
polls() { metrics | awk '/^inference_spoa_haproxy_age_seconds/ { if ($NF > 1) exit 1 }'; }

e() { echo $((ENGINE_PORT + $1)); }
say "two ingress pods, whose slots are in another order:"
controller 1 "$HTTP_PORT" "$(e 0) $(e 1) - -" "$(e 3) -"
controller 2 "$HTTP2_PORT" "$(e 1) - $(e 0) -" "- $(e 3)"
# The probe's start without an agent: nobody waits for it.
run_haproxy haproxy1 1
run_haproxy haproxy2 2
ask "$HTTP_PORT" llm.example /v1/chat/completions alone
[ "$ST $IN" = "200 -" ] || fail "without an agent: $ST $IN"

mapfile -t arguments < <(placed args 1)
"$AGENT_PROGRAM" "${arguments[@]}" --haproxy "$T/2/user.sock" --spop "127.0.0.1:$SPOP2_PORT" --ready-file "$T/agent.ready" \
	>"$T/agent.out" 2>>"$T/agent.log" &
PIDS[agent]=$!
wait_for 10 "the agent" test -s "$T/agent.ready"
sees_agent() { runtime "$1" "show stat" | awk -F, '$1 == "infer-agents" && $2 == "agent" { print $18 }' | has UP; }
for pod in 1 2; do wait_for 10 "pod $pod to see the agent" sees_agent $pod; done
both_answer() { [ "$(metric haproxy_up)" = 2 ] && knows "$(e 3)"; }
wait_for 10 "the agent to know both ingress pods" both_answer
for n in 0 1 2 3 4 5 6 7; do
	routed 1 "$HTTP_PORT" /v1/chat/completions "w$n"
	home=$ENGINE
	routed 2 $((HTTP2_PORT + n % 2)) /v1/chat/completions "w$n"
	[ "$ENGINE" = "$home" ] || fail "w$n: pod 1 sent it to $home, pod 2 to $ENGINE"
	[ "$WHY" = prefix ] || fail "w$n: reason $WHY instead of prefix"
done
say "8 prompts through both: each at one address, by each pod's own names"

say "what is not ours is left alone:"
before=$(metric decisions_total)
ask "$HTTP_PORT" shop.example /v1/chat/completions order "x-infer-session: mine" "x-prefiller-host-port: 10.0.0.1:1"
[ "$ST $ENGINE $IN" = "200 $shop -" ] || fail "the shop: $ST $ENGINE $IN"
curl -sS --max-time 5 "http://127.0.0.1:$shop/sim/last" | grep -i "x-prefiller-host-port" | has "10.0.0.1:1" || fail "the shop's headers were changed"
ask "$HTTP_PORT" nobody.example /v1/chat/completions order
[ "$ST" = 404 ] || fail "an unknown host: $ST"
[ "$(metric decisions_total)" = "$before" ] || fail "the agent was asked for the shop"
replicas | has -w 127.0.0.1:1 && fail "a free slot is a replica: $(replicas)"
curl -sS --max-time 5 -H "host: llm.example" "http://127.0.0.1:$HTTP_PORT/v1/models" | jq -e '.object == "list"' >/dev/null || fail "/v1/models"
ask "$HTTP_PORT" llm.example /v1/chat/completions header "x-prefiller-host-port: 10.0.0.1:1"
curl -sS --max-time 5 "http://127.0.0.1:$ENGINE/sim/last" | has -i "x-prefiller-host-port" && fail "a client named the prefill host"

say "a slot gets another pod, without a reload:"
for word in moved{1..20}; do
	routed 1 "$HTTP_PORT" /v1/chat/completions "$word"
	[ "$IN" != $LLAMA ] || break
done
[ "$IN" = $LLAMA ] || fail "20 prompts, and none to $LLAMA"
gone=$ENGINE slot=$RE
for pod in 1 2; do set_slot $pod "$LLAMA/$(slot_of $pod $LLAMA "$gone")" "$(e 2)"; done
wait_for 5 "the agent to see the new pod" knows "$(e 2)"
forgot() { ! knows "$gone"; }
wait_for 5 "the agent to forget the old pod" forgot
for n in 1 2 3; do
	routed 1 "$HTTP_PORT" /v1/chat/completions "$word"
	[ "$ENGINE" != "$gone" ] || fail "the old pod served"
	[ "$n" != 1 ] || [ "$WHY" != prefix ] || fail "the new pod in $slot inherited the prefix of the old one"
done
for pod in 1 2; do set_slot $pod "$LLAMA/SRV_4" "$gone"; done
wait_for 5 "the old pod to come back, in another slot" knows "$gone"
served=""
for n in $(seq 12); do routed 1 "$HTTP_PORT" /v1/chat/completions "more$n"; served+=" $ENGINE"; done
grep -qw "$gone" <<<"$served" || fail "nobody was sent to SRV_4: $served"

say "a slot is emptied, and a reload numbers all anew:"
for pod in 1 2; do set_slot $pod "$LLAMA/SRV_4" -; done
wait_for 5 "the emptied slot to be left alone" forgot
controller 1 "$HTTP_PORT" "- $(e 2) $(e 4) $(e 1) - - $(e 0) -" "- - $(e 3)"
run_haproxy haproxy1 1
reloaded() { [ "$(metric haproxy_reloads_total)" -ge 1 ] && knows "$(e 4)"; }
wait_for 5 "the reload to be seen" reloaded
for n in $(seq 10); do routed 1 "$HTTP_PORT" /v1/chat/completions "new$n"; done
routed 2 "$HTTP2_PORT" /v1/chat/completions new1

say "a policy by ConfigMap, refusals:"
before=$(metric config_reload_total 'result="ok"')
policy 2 "{\"models\": {\"sim\": {\"instances\": [\"$QWEN\"], \"limits\": {\"requests\": \"1/d\", \"requests-burst\": 2}}}}"
is_in_force() { [ "$(metric config_reload_total 'result="ok"')" -gt "$before" ]; }
wait_for 5 "the policy to be in force" is_in_force
routed 1 "$HTTP_PORT" /v1/chat/completions elsewhere
[ "$IN" = $QWEN ] || fail "the policy's instance was not used: $IN"
for n in 1 2 3; do ask "$HTTP_PORT" llm.example /v1/chat/completions "$n"; done
[ "$ST" = 429 ] || fail "the limit: $ST"
jq -e '.error.type == "rate_limit_exceeded"' "$T/body" >/dev/null || fail "the refusal: $(cat "$T/body")"
tr -d '\r' <"$T/head" | has -iE '^retry-after: [0-9]+$' || fail "no retry-after"
policy 3 '{}'

say "names that HAProxy does not have (the test answers in the agent's place):"
FRONTEND_EDIT='s/^ *http-request send-spoe-group infer infer-route .*/    http-request set-var(txn.infer.instance) req.fhdr(x-in) if infer_asked { req.fhdr(x-in) -m found }\n    http-request set-var(txn.infer.replica) req.fhdr(x-re) if infer_asked { req.fhdr(x-re) -m found }/'
controller 2 "$HTTP2_PORT" "$(e 1) $(e 2) - -" "$(e 3) -"
run_haproxy haproxy2 2
FRONTEND_EDIT=
runtime 2 "set server $LLAMA/SRV_2 state maint" >/dev/null
forced() { # WANTED-ENGINES HEADER...
	local want=$1
	shift
	ask "$HTTP2_PORT" llm.example /v1/chat/completions forced "$@"
	case " $want " in *" $ENGINE "*) [ "$ST" = 200 ] || fail "forced $*: $ST" ;; *) fail "forced $*: $ENGINE served, not one of $want" ;; esac
}
forced "$(e 3)" "x-in: $QWEN" "x-re: SRV_1"
forced "$(e 1)" "x-in: $LLAMA" "x-re: SRV_2" # in maintenance: balanced
forced "$(e 3)" "x-in: $QWEN" "x-re: SRV_9"
forced "$(e 1)" "x-in: nobody"               # the ingress' own choice
forced "$(e 1)" "x-in: $SHOP" "x-re: SRV_1"  # not named as ours
ask "$HTTP2_PORT" llm.example /qwen/v1/x forced # by its path
[ "$ENGINE" = "$(e 3)" ] || fail "/qwen went to $ENGINE"

say "the agent ends:"
stop agent
for n in 1 2 3 4; do
	ask "$HTTP_PORT" llm.example /v1/chat/completions "after$n"
	[ "$ST" = 200 ] || fail "without the agent: $ST"
done
blind() { ! sees_agent 1; }
wait_for 5 "HAProxy to see that it is gone" blind
ask "$HTTP_PORT" llm.example /v1/chat/completions last
[ "$ST $IN" = "200 -" ] || fail "without the agent: $ST $IN"

say "everything that can be printed loads:"
for topology in combined lower; do
	for regex in any pcre posix; do
		for agents in "" "--agent 127.0.0.1 --agent 127.0.0.2:9001"; do
			# shellcheck disable=SC2086 # options
			"$AGENT_PROGRAM" haproxy ingress --for "$made_for" --topology $topology --regex $regex $agents >"$T/values.yaml"
			"$tools/python" "$HERE/ingress_parts.py" "$T/values.yaml" "$T/annotations.yaml" "$T/parts"
			controller 3 "$HTTP_PORT" "$(e 0) -" "$(e 1)"
		done
	done
done
say "ok"
