#!/bin/bash
# lora.sh - LoRA adapters behind one address: five engines of two kinds and two models behind real HAProxy, adapters found in the
# engines' own lists of models. An adapter stays on one replica; a hot one gets more, and fewer when it is cold again; replicas go and
# come without a reload of HAProxy; load alone would have engines load adapters all the time. Proves B064, R131.
. "$(dirname "$0")/lib.sh"
ADAPTERS="sql tone legal code math chat"
options=()
for adapter in $ADAPTERS; do options+=(--adapter "$adapter"); done
start_engines 4 --model sim "${options[@]}" --lora-slots 2 --lora-load 100 --output-tokens 200
OTHER=$(free_ports 1)
"$SIM" --port-base "$OTHER" --engines 1 --model other --page sglang --ready-file "$T/other.ready" >"$T/other.log" 2>&1 &
PIDS[other]=$!
wait_for 10 "the engine of the other model" test -s "$T/other.ready"
write_haproxy_config
"$AGENT_PROGRAM" haproxy config --instance "svc-a=$(engine_list)" --instance "svc-b=127.0.0.1:$OTHER" >"$T/haproxy.cfg"
start_haproxy
echo '{}' >"$T/policy.json"
ENGINES=5
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), folder $T"

ask() { # MODEL [TOKENS]: "STATUS INSTANCE REPLICA"
	curl -sS --max-time 20 -o "$T/body" -D - -H content-type:application/json -H "x-infer-debug: 1" "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
		-d "{\"model\":\"$1\",\"max_tokens\":${2:-2},\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}" | tr -d '\r' |
		awk 'BEGIN { i = r = "-" } NR == 1 { s = $2 } tolower($1) == "x-infer-instance:" { i = $2 } tolower($1) == "x-infer-replica:" { r = $2 }
			END { print s, i, r }'
}
loads() { # of all engines
	local i sum=0
	for ((i = 0; i < 4; i++)); do
		sum=$((sum + $(curl -sS --max-time 5 "http://127.0.0.1:$((ENGINE_PORT + i))/sim/state" | grep -o '"lora_loads":[0-9]*' | cut -d: -f2)))
	done
	echo $sum
}
knows() { [ "$(curl -sS "http://127.0.0.1:$ADMIN_PORT/v1/models" | grep -o '"id": *"[a-z]*"' | wc -l)" = 8 ]; }
wait_for 10 "the models of the engines to be known" knows

# Two models and six adapters, one address.
[ "$(ask other)" = "200 svc-b r0" ] || fail "the other model: $(ask other)"
case $(ask sim) in "200 svc-a r"?) ;; *) fail "the base model: $(ask sim)" ;; esac
first=$(ask sql)
for _ in 1 2 3 4; do [ "$(ask sql)" = "$first" ] || fail "an adapter moves: $first, $(ask sql)"; done
[ "$(loads)" = 1 ] || fail "$(loads) loads of one adapter"

# Six adapters, eight slots: each is loaded once, or once more where its page was too old to tell.
for _ in 1 2 3 4 5; do for adapter in $ADAPTERS; do ask "$adapter" >"$T/answer"; done; done
bounded=$(loads)
[ "$bounded" -le 10 ] || fail "$bounded loads of six adapters"
"$AGENT_PROGRAM" show adapters --server "127.0.0.1:$ADMIN_PORT" | tee "$T/shown"
[ "$(grep -c ' sim ' "$T/shown")" = 6 ] || fail "the adapters are not shown"
"$AGENT_PROGRAM" explain --server "127.0.0.1:$ADMIN_PORT" --model sql >"$T/explained"
grep -q 'adapter of sim: heat 1.0, on 1 replica' "$T/explained" || fail "explained: $(cat "$T/explained")"

# A hot one: a dozen long answers at a time.
askers=()
for i in $(seq 12); do ask sql 200 >"$T/hot.$i" & askers+=($!); done
wait "${askers[@]}"
hot=$(cat "$T"/hot.* | sort -u | wc -l)
[ "$hot" -ge 2 ] && ! grep -qv "^200 svc-a" "$T"/hot.* || fail "a hot adapter was on $hot replicas: $(cat "$T"/hot.*)"
say "$bounded loads of six adapters in 30 requests; a hot adapter was on $hot replicas"

# Its replica leaves, and comes back, at run time.
replica=${first##* }
echo "set server svc-a/$replica state maint" | socat - "UNIX-CONNECT:$T/infer.sock" >/dev/null
goes_elsewhere() { now=$(ask sql) && [ "${now%% *}" = 200 ] && [ "$now" != "$first" ]; }
is_back() { [ "$(ask sql)" = "$first" ]; }
wait_for 5 "the adapter to go elsewhere" goes_elsewhere
echo "set server svc-a/$replica state ready" | socat - "UNIX-CONNECT:$T/infer.sock" >/dev/null
wait_for 5 "the adapter to come back" is_back

# The same by load alone.
with_policy '{"defaults":{"strategy":"random","lora":{"spread":true}}}'
before=$(loads)
for _ in 1 2 3 4 5; do for adapter in $ADAPTERS; do ask "$adapter" >"$T/answer"; done; done
spread=$(($(loads) - before))
[ "$spread" -gt "$bounded" ] && [ "$spread" -ge 12 ] || fail "$spread loads by load alone, $bounded bounded"
[ "$(metric replica_adapter_requests_total)" -ge 60 ] && [ "$(metric replica_adapter_loads_total)" -ge "$bounded" ] || fail "metrics of adapters"
wait_for 5 "all slots to come back" all_slots_are_back
say "$spread loads of six adapters in 30 requests by load alone"
