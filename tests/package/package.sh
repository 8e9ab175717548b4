#!/bin/bash
# package.sh [bookworm|trixie] - the Debian package in a clean Debian: installed, started as its unit says, asked, upgraded under
# load, purged. No request fails at the upgrade, nothing is left behind at the end. Proves B062.
#
# There is no systemd in the root (systemd.sh has one): what the unit says is done by tests/system/service_manager.py, which holds
# the units' sockets, and a systemctl that talks to it.
. "$(dirname "$0")/../system/lib.sh"
. "$(dirname "$0")/deb.sh"
make_deb
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning "$DEB" >"$T/lintian.log" 2>&1 || fail "$(cat "$T/lintian.log")"
fi
root_for clean adduser init-system-helpers haproxy
snapshot() { (cd "$ROOT" && find etc usr lib var/lib -not -path 'var/lib/dpkg/*' \( -type f -o -type l -o -type d \) | sort); }
snapshot >"$T/before"

say "installed:"
cp "$DEB" "$ROOT/tmp/first.deb"
inside dpkg -i /tmp/first.deb >"$T/dpkg.log" 2>&1 || fail "$(cat "$T/dpkg.log")"
inside id -nG inference-spoa | has -w haproxy || fail "the user is not in HAProxy's group"
[ "$(inside dpkg-query -W -f '${Conffiles}' inference-spoa | grep -c /etc/)" = 2 ] || fail "conffiles"
inside inference-spoa check -c /etc/inference-spoa/policy.json || fail "the policy that comes with it has errors"
[ -s "$ROOT/usr/share/man/man1/inference-spoa.1.gz" ] || fail "no man page"
[ -L "$ROOT/etc/systemd/system/multi-user.target.wants/inference-spoa.service" ] || fail "the unit is not enabled"

start_engines 2 --prefill-rate 2000000 --speed 20
HTTP_PORT=$(free_ports 4)
SPOP_PORT=$((HTTP_PORT + 1)) LOG_PORT=$((HTTP_PORT + 2)) ADMIN_PORT=$((HTTP_PORT + 3))

say "HAProxy, as the package's README says:"
mkdir -p "$ROOT/etc/haproxy/infer" "$ROOT/run/haproxy"
cp "$ROOT"/usr/share/inference-spoa/haproxy/{spoe.cfg,spoe-3.cfg,models.map} "$ROOT/etc/haproxy/infer/"
inside inference-spoa haproxy config --instance "svc-a=$(engine_list)" >"$ROOT/etc/haproxy/haproxy.cfg"
export INFER_BIND=127.0.0.1:$HTTP_PORT INFER_SPOP=127.0.0.1:$SPOP_PORT INFER_LOG=127.0.0.1:$LOG_PORT INFER_HTTP=127.0.0.1:$ADMIN_PORT INFER_SEED=7
chroot "$ROOT" /usr/sbin/haproxy -db -f /etc/haproxy/haproxy.cfg >"$T/haproxy.log" 2>&1 &
PIDS[haproxy]=$!
wait_for 10 "HAProxy" test -S "$ROOT/run/haproxy/infer.sock"
chgrp "$(inside getent group haproxy | cut -d: -f3)" "$ROOT/run/haproxy/infer.sock"
ln -s "$ROOT/run/haproxy/infer.sock" "$T/infer.sock"

# What the unit says, by a manager that is no systemd. The path of its notify socket has to be the same inside.
mkdir -p "$ROOT/run/inference-spoa" "$ROOT/run/systemd/system" "$ROOT$(dirname "$ROOT")"
ln -s / "$ROOT$ROOT"
inside chown inference-spoa:inference-spoa /run/inference-spoa
read -r -a program < <(sed -n 's/^ExecStart=//p' "$ROOT/usr/lib/systemd/system/inference-spoa.service")
grep -qx FileDescriptorName=spop "$ROOT/usr/lib/systemd/system/inference-spoa.socket" || fail "the socket has no name"
(
	set -a
	. "$ROOT/etc/default/inference-spoa"
	INFERENCE_SPOA_ADMIN="127.0.0.1:$ADMIN_PORT unix:/run/inference-spoa/admin.sock"
	TMPDIR=$ROOT/tmp exec "$HERE/service_manager.py" "$T/diary.log" "spop=tcp:127.0.0.1:$SPOP_PORT" "log=udp:127.0.0.1:$LOG_PORT" \
		"log=tcp:127.0.0.1:$LOG_PORT" -- /usr/sbin/chroot --userspec=inference-spoa --groups=haproxy "$ROOT" "${program[@]}"
) >"$T/agent.out" 2>"$T/agent.log" &
PIDS[manager]=$!
ready() { [ "$(grep -c '^READY=1' "$T/diary.log")" -ge "$1" ]; }
wait_for 10 "the agent to be ready" ready 1
wait_for 10 "HAProxy to see the agent" agent_is_up
wait_for 10 "the agent to know the servers" fleet_is_known

say "asked:"
play() { "$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --expect-all-200 --deadline 60 --body-bytes 2000 --max-tokens 4 "$@"; }
play --count 100 --parallel 8 --seed 3 --output "$T/played" 2>"$T/player.log" || fail "$(cat "$T/player.log")"
[ "$(metric decisions_total)" -ge 100 ] || fail "$(metric decisions_total) decisions"
inside inference-spoa show replicas | has "127.0.0.1:$ENGINE_PORT" || fail "show does not know the engine"

say "upgraded under load:"
# systemctl restarts by telling the manager, so that the package's own script does it.
printf '#!/bin/sh\ncase "$*" in\n*restart*inference-spoa.service*) kill -USR1 %s ;;\n*is-enabled*) echo enabled ;;\n*is-active*) echo active ;;\nesac\nexit 0\n' \
	"${PIDS[manager]}" >"$ROOT/usr/bin/systemctl"
chmod 755 "$ROOT/usr/bin/systemctl"
dpkg-deb -R "$DEB" "$T/second"
sed -i 's/^Version: .*/Version: 99.0-1/' "$T/second/DEBIAN/control"
dpkg-deb --root-owner-group -b "$T/second" "$ROOT/tmp/second.deb" >/dev/null
echo "# kept over upgrades" >>"$ROOT/etc/default/inference-spoa"
play --count 900 --rate 200 --parallel 64 --seed 5 --output "$T/played2" 2>"$T/player2.log" &
PIDS[player]=$!
wait_for 10 "traffic" bash -c "[ \$(curl -sS http://127.0.0.1:$ADMIN_PORT/metrics | awk '/^inference_spoa_decisions_total/ { s += \$NF } END { print s }') -ge 300 ]"
inside dpkg -i --force-confold /tmp/second.deb >"$T/dpkg2.log" 2>&1 || fail "$(cat "$T/dpkg2.log")"
wait_for 10 "the new process" ready 2
wait "${PIDS[player]}" || fail "requests failed: $(cat "$T/player2.log")"
unset "PIDS[player]"
[ "$(inside dpkg-query -W -f '${Version}' inference-spoa)" = 99.0-1 ] || fail "the version is the old one"
grep -q "kept over upgrades" "$ROOT/etc/default/inference-spoa" || fail "the operator's file was overwritten"
wait_for 5 "all slots to come back" all_slots_are_back
say "none of 900 requests failed"

say "purged:"
stop manager
stop haproxy
inside dpkg -P inference-spoa >"$T/dpkg3.log" 2>&1 || fail "$(cat "$T/dpkg3.log")"
rm -f "$ROOT/usr/bin/systemctl"
snapshot | diff "$T/before" - | grep -v -E '^[<>] (etc/(haproxy|group|passwd|gshadow|shadow)|var/lib/systemd|var/lib/private)' |
	grep -E '^[<>]' >"$T/left" || true
[ ! -s "$T/left" ] || fail "left behind: $(cat "$T/left")"
if inside getent passwd inference-spoa >/dev/null; then fail "the user is still there"; fi
say "ok"
