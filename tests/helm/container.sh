#!/bin/bash
# container.sh - Containerfile, line by line, in a clean Debian made by debootstrap, as no container engine is here: what it builds
# is then run as uid 1000 from a root that cannot be written, asked by a real HAProxy, and found healthy by its own HEALTHCHECK.
# Proves B061.
[ "$(id -u)" = 0 ] || { echo "container.sh: needs root, for debootstrap and chroot" >&2; exit 77; }
. "$(dirname "$0")/../system/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
TREE=$(cd "$HERE/../.." && pwd)
KEPT=$TREE/build/container
. "$TREE/tests/clean_root.sh"

# The lines up to the first that takes files of ours are kept as a layer: they change with themselves only.
stage=$T/stages/none name=none layer="" copied="" variables=()
kept() { echo "$KEPT/layer-$(printf '%s' "$layer" | sha256sum | cut -c1-16)"; }
on_FROM() { # IMAGE [AS NAME]
	read -r image _ name <<<"$1"
	stage=$T/stages/${name:-last} layer=$1 copied="" variables=()
	mkdir -p "$T/stages"
	case $image in
	scratch) mkdir "$stage" ;;
	debian:*-slim)
		image=${image#debian:}
		image=${image%-slim}
		clean_root "$KEPT/$image" "$image" || fail "no clean $image"
		cp -a "$KEPT/$image" "$stage"
		;;
	*) fail "FROM $image: container.sh knows Debian and scratch" ;;
	esac
}
on_ENV() { variables+=("$1"); layer+=$1; }
on_RUN() {
	layer+=$1
	if [ -z "$copied" ] && [ -d "$(kept)" ]; then
		rm -rf "$stage" && cp -a "$(kept)" "$stage"
		return
	fi
	chroot "$stage" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		${http_proxy:+http_proxy="$http_proxy"} "${variables[@]}" /bin/sh -c "$1" >"$T/run.log" 2>&1 || fail "RUN $1: $(tail -n 15 "$T/run.log")"
	if [ -z "$copied" ]; then
		rm -rf "$KEPT"/layer-*
		cp -a "$stage" "$(kept).new" && mv "$(kept).new" "$(kept)"
	fi
}
on_COPY() {
	local from to
	copied=yes
	read -r from to <<<"${1#--from=* }"
	case $1 in
	--from=*)
		name=${1#--from=}
		cp -a "$T/stages/${name%% *}$from/." "$stage$to"
		;;
	". "*)
		mkdir -p "$stage$to"
		(cd "$TREE" && git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- --ignore-failed-read 2>/dev/null) | tar -x --no-same-owner -C "$stage$to"
		;;
	*) fail "COPY $1: container.sh copies the whole tree, or from a stage" ;;
	esac
}
on_USER() { user=$1; }
on_EXPOSE() { exposed=$1; }
on_HEALTHCHECK() { health=${1#*CMD }; }
on_ENTRYPOINT() { entry=$1; }
on_CMD() { command=$1; }

say "Containerfile:"
started=$SECONDS
python3 "$HERE/containerfile.py" "$TREE/Containerfile" >"$T/instructions" || exit 1
while IFS=$'\t' read -r instruction words; do
	say "  $instruction ${words:0:90}"
	"on_$instruction" "$words" </dev/null
done <"$T/instructions"
say "built in $((SECONDS - started)) s, $(du -sm "$stage" | cut -f1) MB in $(find "$stage" -type f | wc -l) files"

[ "$user" = 1000:1000 ] || fail "its user is $user"
for shell in sh bash dash busybox; do
	if find "$stage" -name "$shell" | grep -q .; then fail "there is a $shell in it"; fi
done
[ -z "$(find "$stage" -perm /6000)" ] || fail "setuid files: $(find "$stage" -perm /6000)"
for port in 9000/tcp 9514/tcp 9514/udp 9901/tcp; do grep -qw "$port" <<<"$exposed" || fail "port $port is not exposed"; done

# As a container runs it: a root that cannot be written, one volume, no privileges, nothing of the environment.
start_engines 2 --speed 20 --prefill-rate 2000000
write_haproxy_config
mkdir "$T/run"
chown 1000:1000 "$T/run"
sed -i "s|\"\${INFER_RUN}/infer.sock\" mode 660|$T/run/infer.sock user nobody mode 666|" "$T/haproxy.cfg"
ln -s "$T/run/infer.sock" "$T/infer.sock"
mapfile -t entry < <(jq -r '.[]' <<<"$entry")
mapfile -t command < <(jq -r '.[]' <<<"$command")
mapfile -t health < <(jq -r '.[]' <<<"$health")
in_container() { # WORDS...
	unshare --mount --propagation private sh -c '
		mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount --bind "$2" "$1/run" || exit 99
		root=$1
		shift 2
		exec env -i /usr/sbin/chroot --userspec=1000:1000 --groups= "$root" "$@"' sh "$stage" "$T/run" "$@"
}
start_haproxy
in_container "${entry[@]}" "${command[@]}" --haproxy /run/infer.sock --spop "127.0.0.1:$SPOP_PORT" --log-listen "127.0.0.1:$LOG_PORT" \
	--admin "127.0.0.1:$ADMIN_PORT" --ready-file /run/ready >"$T/agent.out" 2>"$T/agent.log" &
PIDS[agent]=$!
wait_for 10 "the agent" test -s "$T/run/ready"
PIDS[inside]=$(cat "$T/run/ready")
wait_for 10 "HAProxy to see the agent" agent_is_up
wait_for 10 "the agent to know the servers" fleet_is_known
[ "$(stat -c %u "/proc/${PIDS[inside]}")" = 1000 ] || fail "it runs as uid $(stat -c %u "/proc/${PIDS[inside]}")"
grep -q "^CapEff:.*0000000000000000" "/proc/${PIDS[inside]}/status" || fail "it has capabilities"
if in_container "${entry[@]}" "${command[@]}" --ready-file /tmp/x --spop 127.0.0.1:1 2>/dev/null; then fail "the root can be written"; fi
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --stream --expect-all-200 --count 50 --parallel 8 --body-bytes 2000 --max-tokens 4 --seed 3 \
	--deadline 60 --output "$T/played" 2>"$T/player.log" || fail "$(cat "$T/player.log")"
[ "$(metric decisions_total)" -ge 50 ] || fail "$(metric decisions_total) decisions of 50"

# The command as it stands, at this test's port.
mapfile -t health < <(printf '%s\n' "${health[@]}" | sed "s/127.0.0.1:9000/127.0.0.1:$SPOP_PORT/")
in_container "${health[@]}" || fail "HEALTHCHECK: it is said to be sick"
stop inside
wait "${PIDS[agent]}" || true
unset "PIDS[agent]"
if in_container "${health[@]}" 2>/dev/null; then fail "HEALTHCHECK: nobody is said to be healthy"; fi
say "ok"
