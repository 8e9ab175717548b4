# booted.sh - ROOT as a host with its own systemd and network; sourced after deb.sh, not run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are lib.sh's and deb.sh's
unshare --pid --fork --mount --cgroup --net true 2>/dev/null || { say "${0##*/}: no name spaces here"; exit 77; }

on_host() { nsenter --target "$INIT" --all env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
undo() {
	local until=$((SECONDS + 5))
	[ -d "${CGROUP:-}" ] || return 0
	until find "$CGROUP" -depth -type d -exec rmdir {} + 2>/dev/null || [ $SECONDS -ge $until ]; do sleep 0.02; done
}

# Its cgroup, below our own: two of them at a time know nothing of each other.
boot() {
	local all
	all=$(findmnt --noheadings --output TARGET --types cgroup2 | head -n 1)
	[ -n "$all" ] || { say "${0##*/}: no cgroups of version 2 here"; exit 77; }
	CGROUP=$all$(sed -n 's/^0:://p' /proc/self/cgroup)/infer-$$
	mkdir "$CGROUP"
	find "$ROOT/var/log" -type f -delete
	"$TREE/tests/package/boot.sh" "$ROOT" "$CGROUP" >"$T/boot.log" 2>&1 </dev/null &
	PIDS[host]=$!
	disown
	is_booted() { INIT=$(pgrep -P "${PIDS[host]}") && [ -S "/proc/$INIT/root/run/systemd/private" ] && on_host systemctl --quiet is-active multi-user.target; }
	wait_for 30 "systemd" is_booted
	NEARBY=(nsenter --target "$INIT" --net) # our own programs in its network; no function, whose pid would be a shell's
	say "a host with $(on_host systemctl --version | head -n 1), $(on_host haproxy -v | head -n 1)"
}
