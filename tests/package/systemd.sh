#!/bin/bash
# systemd.sh [bookworm|trixie] - the package under the release's own systemd, by the commands of docs/places.md and docs/systemd.md as
# they are written there: one host, an address of keepalived, a store. It is reloaded, replaced, upgraded, killed and frozen under
# load, and no request fails. Proves B009, B062.
#
# Needs root, for name spaces: the host of this test is one of its own (boot.sh).
. "$(dirname "$0")/../system/lib.sh"
. "$(dirname "$0")/deb.sh"
. "$TREE/tests/package/booted.sh"
[ "$RELEASE" = bookworm ] && store=redis || store=valkey
make_deb
root_for booted systemd systemd-sysv dbus adduser init-system-helpers haproxy $store-server keepalived curl iproute2 procps
cp "$DEB" "$ROOT/root/"

# block FILE HEADING [N]: the commands of the Nth block below a heading of docs/FILE.
block() {
	awk -v heading="## $2" -v wanted="${3:-1}" '/^## / { inside = $0 == heading } !inside { next }
		/^```/ { if (open) open = 0; else { open = 1; n++ }; next } open && n == wanted { print; found = 1 } END { exit !found }' "$TREE/docs/$1"
}
# typed TEXT: as a user types it, one line after the other, in root's home.
typed() {
	say "$1" | sed 's/^/  # /'
	say "$1" | on_host bash -eo pipefail -c 'cd /root && . /dev/fd/3' 3<&0 </dev/null >"$T/typed" 2>&1 || fail "$(cat "$T/typed")"
}
metrics() { "${NEARBY[@]}" curl -sS --max-time 5 http://127.0.0.1:9901/metrics; }
PLAY=("$PLAYER" requests --to 127.0.0.1:8080 --stream --expect-all-200 --deadline 60 --body-bytes 2000 --max-tokens 4)
play() { "${NEARBY[@]}" "${PLAY[@]}" "$@"; }
journal_says() { on_host journalctl --no-pager -u inference-spoa >"$T/journal" && grep -q "$1" "$T/journal"; }
agent_pid() { on_host systemctl show --property MainPID --value inference-spoa; }
replaced() { [ "$(agent_pid)" != "$1" ] && [ "$(agent_pid)" != 0 ] && on_host systemctl --quiet is-active inference-spoa; }

# under_load WHAT COMMAND...: 600 requests in three seconds, of which none fails while that is done to it.
under_load() {
	local what=$1 before
	shift
	before=$(metric decisions_total)
	"${NEARBY[@]}" "${PLAY[@]}" --count 600 --rate 200 --parallel 64 --seed $RANDOM --output "$T/played" 2>"$T/player.log" &
	PIDS[player]=$!
	is_loaded() { [ "$(metric decisions_total)" -ge $((before + 100)) ]; }
	wait_for 10 "traffic" is_loaded
	"$@"
	wait "${PIDS[player]}" || fail "$what: requests failed: $(cat "$T/player.log")"
	unset "PIDS[player]"
	say "  none of 600 requests failed: $what"
}

boot
for address in 5 6 11 20; do on_host ip address add 10.0.0.$address/24 dev eth0; done
"${NEARBY[@]}" "$SIM" --listen 10.0.0.5:8000 --listen 10.0.0.6:8000 --prefill-rate 2000000 --speed 20 --ready-file "$T/engines.ready" >"$T/engines.log" 2>&1 &
PIDS[engines]=$!
wait_for 10 "the engines" test -s "$T/engines.ready"

say "one host, as docs/places.md says:"
commands=$(block places.md "One host")
typed "$(sed '$d' <<<"$commands")"
shows_the_engines() { # as its last line, typed again
	typed "$(tail -n 1 <<<"$commands")" && [ "$(grep -c -E '10\.0\.0\.[56]:8000 +up ' "$T/typed")" = 2 ]
}
wait_for 5 "both engines to be shown" shows_the_engines
sed 's/^/    /' "$T/typed"
ENGINES=2
wait_for 10 "the agent to know the servers" fleet_is_known
play --count 200 --parallel 8 --seed 3 --output "$T/played" 2>"$T/player.log" || fail "$(cat "$T/player.log")"
[ "$(metric decisions_total)" -ge 190 ] || fail "$(metric decisions_total) decisions of 200"
[ "$(on_host ps -C haproxy -o user= | sort | uniq -c | xargs)" = "1 haproxy 1 root" ] || fail "HAProxy serves as $(on_host ps -C haproxy -o user=)"
[ "$(on_host systemctl show --property User --value inference-spoa)" = inference-spoa ] || fail "another user"
[ "$(on_host systemctl show --property Type --property WatchdogUSec --value inference-spoa | tr '\n' ' ')" = "notify 10s " ] || fail "no watchdog"
on_host systemctl list-sockets --no-legend | grep -c inference-spoa >"$T/sockets"
[ "$(cat "$T/sockets")" = 3 ] || fail "systemd holds $(cat "$T/sockets") sockets, not 3"
exposure=$(on_host systemd-analyze security --no-pager inference-spoa | sed -n 's/.*exposure level[^:]*: \([0-9.]*\).*/\1/p')
said=$(sed -n 's/.*systemd-analyze security`: \([0-9.]*\)).*/\1/p' "$TREE/docs/systemd.md")
awk -v is="$exposure" -v said="$said" 'BEGIN { exit !(is != "" && is <= said) }' || fail "systemd-analyze security: $exposure, docs/systemd.md says $said"

say "changed under load:"
first=$(agent_pid)
reloaded() { [ "$(metric config_reload_total 'result="ok"')" -gt "${reloads:-0}" ]; }
reloads=$(metric config_reload_total 'result="ok"')
under_load "the policy read again" on_host systemctl reload inference-spoa
wait_for 5 "the policy to be in force" reloaded
under_load "HAProxy reloaded" on_host systemctl reload haproxy
[ "$(agent_pid)" = "$first" ] || fail "another process after a reload"
under_load "the agent restarted" on_host systemctl restart inference-spoa
replaced "$first" || fail "the same process after a restart"
dpkg-deb -R "$DEB" "$T/second"
sed -i 's/^Version: .*/Version: 99.0-1/' "$T/second/DEBIAN/control"
rm "$ROOT"/root/inference-spoa_*.deb
dpkg-deb --root-owner-group -b "$T/second" "$ROOT/root/inference-spoa_99.0-1_$(dpkg --print-architecture).deb" >/dev/null
first=$(agent_pid)
under_load "the package upgraded" typed "apt-get install ./inference-spoa_*.deb"
replaced "$first" || fail "the same process after the upgrade"
first=$(agent_pid)
under_load "the agent killed" on_host kill -KILL "$first"
wait_for 10 "the next process" replaced "$first"
for _ in 1 2 3 4 5 6; do
	first=$(agent_pid)
	on_host kill -KILL "$first"
	wait_for 10 "the process after a crash" replaced "$first"
done
say "  six more crashes, a second apart: it is there"
first=$(agent_pid)
under_load "the agent frozen" on_host kill -STOP "$first"
wait_for 30 "the watchdog" replaced "$first"
journal_says "Watchdog timeout" || fail "it was not the watchdog"

say "a policy with an error:"
cp "$ROOT/etc/inference-spoa/policy.json" "$T/good.json"
echo '{ "no-such-thing": 1 }' >"$ROOT/etc/inference-spoa/policy.json"
on_host systemctl reload inference-spoa || true
refused() { [[ $(on_host systemctl show --property StatusText --value inference-spoa) = *"was refused"* ]]; }
wait_for 5 "systemctl status to say that it is refused" refused
journal_says 'policy.json:1:3: error: no-such-thing' || fail "the journal does not say where"
say "  $(on_host systemctl show --property StatusText --value inference-spoa)"
play --count 20 --parallel 4 --seed 4 --output "$T/played" 2>"$T/player.log" || fail "$(cat "$T/player.log")"
if on_host systemctl restart inference-spoa >"$T/restart" 2>&1; then fail "started with that policy"; fi
has_given_up() {
	local unit
	for unit in .service .socket -log.socket; do on_host systemctl --quiet is-failed inference-spoa$unit || return; done
}
wait_for 10 "systemd to give it up, and to refuse who asks" has_given_up
[ "$(on_host systemctl show --property ExecMainStatus --value inference-spoa)" = 2 ] || fail "not exit code 2"
play --count 20 --parallel 4 --seed 5 --output "$T/played" 2>"$T/player.log" || fail "without an agent: $(cat "$T/player.log")"
cp "$T/good.json" "$ROOT/etc/inference-spoa/policy.json"
typed "$(grep -o "systemctl reset-failed [^\`]*" "$TREE/docs/systemd.md")"
wait_for 5 "HAProxy's questions" on_host systemctl --quiet is-active inference-spoa.socket
wait_for 10 "the agent to know the servers" fleet_is_known

say "two hosts, one address, as docs/places.md says:"
cp "$TREE/docs/keepalived.conf" "$ROOT/etc/keepalived/"
command=$(grep -o 'keepalived -t -f [^`]*' "$TREE/docs/places.md")
[ "$RELEASE" != bookworm ] || command+=" || [ \$? = 143 ]"
typed "$command"
if grep -v -x -E 'Terminated|' "$T/typed"; then fail "keepalived has something against its file"; fi
on_host systemctl restart keepalived
has_the_address() { "${NEARBY[@]}" curl -sS --max-time 2 -o "$T/models" http://10.0.0.10:8080/v1/models; }
wait_for 20 "the address" has_the_address
jq -e '.data | length > 0' "$T/models" >/dev/null || fail "models: $(cat "$T/models")"

say "a store, as docs/places.md says:"
conf=/etc/$store/$store.conf
command=$(block places.md "Several pairs and a store")
[ "$store" = valkey ] || command=$(sed 's/valkey-server/redis-server/; s|/etc/valkey/valkey.conf|/etc/redis/redis.conf|' <<<"$command")
typed "$command"
on_host sed -i 's/^bind .*/bind 10.0.0.20/' "$conf"
on_host systemctl restart $store-server
block places.md "Several pairs and a store" 2 >>"$ROOT/etc/default/inference-spoa"
commands=$(block places.md "Several pairs and a store" 3)
typed "$(sed '$d' <<<"$commands")"
shows_the_store() { typed "$(tail -n 1 <<<"$commands")" && grep -q '^tells: up, follows: up' "$T/typed"; }
wait_for 5 "the store to be up" shows_the_store
sed 's/^/    /' "$T/typed"

say "purged:"
typed "apt-get purge --yes inference-spoa"
[ -z "$(on_host systemctl list-unit-files --no-legend 'inference-spoa*')" ] || fail "units are left"
if pgrep --ns "$INIT" --nslist pid inference-spoa >/dev/null; then fail "it runs on"; fi
play --count 20 --parallel 4 --seed 6 --output "$T/played" 2>"$T/player.log" || fail "purged: $(cat "$T/player.log")"
say "ok"
