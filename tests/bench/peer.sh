# peer.sh - SGLang's router before the same engines, to be loaded in turn with us; sourced.
#
# Of PyPI, into an environment of its own below build/, only where its kit is or --peers asks for it.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

KIT_CLIENT="" PEER_PACKAGE=sglang-router==0.3.2 PEER_LIMIT=600

peer_install() { # PATH: the environment
	if [ -e "$1/installed" ]; then return 0; fi
	progress "installing $PEER_PACKAGE below build/"
	rm -rf "$1"
	python3 -m venv "$1" >&2 && timeout "$PEER_LIMIT" "$1/bin/pip" install -q --disable-pip-version-check "$PEER_PACKAGE" >&2 &&
		touch "$1/installed"
}

peer_start() {
	local venv=$root/build/sglang-router i urls=()
	if [ -z "$peers" ] && [ ! -e "$shared/bench/peers.py" ]; then
		note "SGLang's router is skipped: its kit is absent, and --peers is not given"
		return
	fi
	if ! peer_install "$venv"; then
		note "SGLang's router is skipped: it could not be installed"
		return
	fi
	for ((i = 0; i < ENGINES; i++)); do urls+=("http://127.0.0.1:$((ENGINE_PORT + i))"); done
	PORT[peer]=$(free_ports 2)
	setsid "$venv/bin/python" -m sglang_router.launch_router --host 127.0.0.1 --port "${PORT[peer]}" \
		--worker-urls "${urls[@]}" --policy cache_aware --prometheus-port $((PORT[peer] + 1)) \
		--log-level error --max-concurrent-requests 4096 >"$T/peer.log" 2>&1 &
	PIDS[peer]=$!
	wait_for 60 "SGLang's router" peer_answers
	progress "SGLang's router ($PEER_PACKAGE, cache_aware) answers"
	if [ -r "$shared/bench/lg.c" ] && cc -O2 -w -o "$root/build/lg" "$shared/bench/lg.c" 2>"$T/lg.log"; then
		KIT_CLIENT=$root/build/lg
	fi
}

peer_answers() {
	curl -sSf --max-time 5 -o /dev/null -H 'content-type: application/json' \
		-d '{"model":"sim","max_tokens":1,"messages":[{"role":"user","content":"hello"}]}' \
		"http://127.0.0.1:${PORT[peer]}/v1/chat/completions"
}

peer_stop() { stop peer; }
