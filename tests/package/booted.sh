# booted.sh - ROOT as a host with its own systemd and network; sourced after deb.sh, not run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are lib.sh's and deb.sh's
unshare --pid --fork --mount --cgroup --net true 2>/dev/null || { say "${0##*/}: no name spaces here"; exit 77; }

on_host() { nsenter --target "$INIT" --all env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
nearby() { nsenter --target "$INIT" --net "$@"; } # our own programs in its network

boot() {
	find "$ROOT/var/log" -type f -delete
	"$TREE/tests/package/boot.sh" "$ROOT" >"$T/boot.log" 2>&1 </dev/null &
	PIDS[host]=$!
	disown
	is_booted() { INIT=$(pgrep -P "${PIDS[host]}") && [ -S "/proc/$INIT/root/run/systemd/private" ] && on_host systemctl --quiet is-active multi-user.target; }
	wait_for 30 "systemd" is_booted
	say "a host with $(on_host systemctl --version | head -n 1), $(on_host haproxy -v | head -n 1)"
}
