# against.sh - the agent alone against that of an older commit, in turn, by the same load; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

# Sets OLD_PROGRAM. The older tree is checked out and built below build/.
build_against() { # COMMIT
	local tree=$root/build/against
	git -C "$root" rev-parse -q --verify "$1^{commit}" >/dev/null || fail "--against $1: no such commit"
	progress "building $1, to compare with"
	git -C "$root" worktree remove --force "$tree" 2>/dev/null || true
	git -C "$root" worktree add -q --force --detach "$tree" "$1"
	cmake -S "$tree" -B "$tree/build/default" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF >/dev/null
	cmake --build "$tree/build/default" -j "$(nproc)" --target inference-spoa >/dev/null 2>&1 || fail "$1 does not build"
	OLD_PROGRAM=$T/older-agent
	cp "$tree/build/default/inference-spoa" "$OLD_PROGRAM"
	git -C "$root" worktree remove --force "$tree"
}

measure_against() { # COMMIT
	local i which before spent
	declare -A AGAINST=()
	[ -n "${1:-}" ] || return 0
	build_against "$1"
	for ((i = 0; i < repeat + 2; i++)); do
		for which in old new; do
			if [ $which = old ]; then run_agent "$OLD_PROGRAM"; else run_agent "$AGENT_PROGRAM"; fi
			before=$(process_ticks "${PIDS[agent]}")
			agent_load --seconds "$seconds" >"$T/loaded" || fail "agent_load: $(cat "$T/loaded")"
			spent=$((($(process_ticks "${PIDS[agent]}") - before) * TICK_US))
			least AGAINST $which "$(divide "$spent" "$(of requests)")"
		done
		progress "agent alone, $1 and now: ${AGAINST[old]} and ${AGAINST[new]} us"
	done
	row "agent alone over that of $1, CPU per request" "$(divide "${AGAINST[new]}" "${AGAINST[old]}")" x 1 "<= 1.1"
	row "agent alone, that of $1, CPU per request" "${AGAINST[old]}" us
}
