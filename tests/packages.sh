#!/bin/sh
# packages.sh [run|test|all] - installs the Debian packages that are missing: run = to build and run,
# test = that and what the tests need. Prints what it does; nothing to do is said, too.
set -eu

# msgpack-c's C library has another name from Debian 13 on.
msgpack=libmsgpack-dev
! grep -qE 'VERSION_CODENAME=(trixie|forky|sid)' /etc/os-release || msgpack=libmsgpack-c-dev
run="cmake make gcc libc6-dev pkg-config libev-dev libjansson-dev libcurl4-openssl-dev libmicrohttpd-dev libxxhash-dev libhiredis-dev libssl-dev $msgpack haproxy curl jq"
test="libcmocka-dev varnish clang-14 libclang-rt-14-dev clang-format-14 valgrind prometheus debootstrap python3-venv python3-jsonschema socat lintian redis-server openssl iproute2 keepalived"

case ${1:-all} in
run) want=$run ;;
*) want="$run $test" ;;
esac

missing=""
for package in $want; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "packages: all there"
	exit 0
fi
echo "packages: installing$missing"
as_root=""
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "packages: please run as root: apt-get install$missing" >&2
		exit 1
	}
	as_root=sudo
fi
# Services that Debian starts by itself are not wanted: only the programs are.
policy=/usr/sbin/policy-rc.d
made=""
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
	$as_root chmod +x $policy
	made=yes
fi
status=0
install() {
	$as_root apt-get update -q >/dev/null || return
	# shellcheck disable=SC2086 # a list of names
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends $missing >/dev/null
}
install || status=$?
[ -z "$made" ] || $as_root rm -f $policy
exit $status
