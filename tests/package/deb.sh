# deb.sh - the package of a release, and a root of that release to put it in; sourced after tests/system/lib.sh, not run.
#
# For the release that this machine runs the package is built here; for another one in a root of its own, of what is committed.
# Roots are made by debootstrap below build/ and kept for the next time; ROOT_ONLY=1 ends a test once its root is there.
# shellcheck shell=bash disable=SC2034 # variables are read by who sources it
[ "$(id -u)" = 0 ] || { echo "$0: needs root, for debootstrap and chroot" >&2; exit 77; }
TREE=$(cd "$HERE/../.." && pwd)
. "$TREE/tests/clean_root.sh"
RELEASE=${1:-bookworm}
ROOTS=$TREE/build/package
BUILDER=$ROOTS/$RELEASE-build
to_build="cmake make gcc libc6-dev pkg-config dpkg-dev file libev-dev libjansson-dev libcurl4-openssl-dev libmicrohttpd-dev libxxhash-dev libhiredis-dev libssl-dev libcmocka-dev"
[ "$RELEASE" = bookworm ] && to_build+=" libmsgpack-dev" || to_build+=" libmsgpack-c-dev"

# What tests/system runs beside the agent.
test_programs="tests/sim/engine_sim tests/sim/player tests/system/chunks tests/bench/agent_load tests/redis/link_probe"

is_this_machines_release() { grep -q "VERSION_CODENAME=$RELEASE" /etc/os-release; }
said() { # LOG: what a builder's log says of what went wrong
	grep -E "error|warning" "$1" | head
	tail -n 5 "$1"
}

deb_here() {
	cmake --build "$BUILD" --target package_files >"$T/build.log" 2>&1 || fail "$(said "$T/build.log")"
	(cd "$BUILD" && rm -f inference-spoa_*.deb && cpack -G DEB) >"$T/build.log" 2>&1 || fail "$(said "$T/build.log")"
	DEB=$(ls "$BUILD"/inference-spoa_*.deb)
}

# A second time it is a matter of a second: sources are older than what was made of them.
deb_there() {
	local commit
	clean_root "$BUILDER" "$RELEASE" $to_build || fail "no root to build in"
	commit=$(git -C "$TREE" log -1 --format=%H)
	if [ "$(cat "$BUILDER/src/commit" 2>/dev/null)" != "$commit" ]; then
		rm -rf "$BUILDER/src" && mkdir "$BUILDER/src"
		git -C "$TREE" archive HEAD | tar -x -C "$BUILDER/src"
		chroot "$BUILDER" sh -c 'cd /src && cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHARDEN=ON &&
			cmake --build build -j 2 --target inference-spoa package_files "$@" && cd build && cpack -G DEB' sh $(basename -a $test_programs) >"$T/build.log" 2>&1 || fail "$(said "$T/build.log")"
		echo "$commit" >"$BUILDER/src/commit"
	fi
	DEB=$(ls "$BUILDER"/src/build/inference-spoa_*.deb)
}

# make_deb: DEB is the package's file.
make_deb() {
	say "the package:"
	if is_this_machines_release; then deb_here; else deb_there; fi
	say "$(basename "$DEB"), $(stat -c %s "$DEB") bytes"
}

# The libraries that the package wants: they come from the same release, since nothing can be fetched from within a root.
deb_libraries() { dpkg-deb -f "$DEB" Depends | tr ',' '\n' | sed 's/ *(.*//; s/ //g' | grep '^lib' | tr '\n' ' '; }

# root_for NAME PACKAGE...: ROOT is a copy, for this test, of a root of the release with these packages and those libraries.
root_for() {
	local kept=$ROOTS/$RELEASE-$1
	shift
	# shellcheck disable=SC2046 # several words
	clean_root "$kept" "$RELEASE" "$@" $(deb_libraries) || fail "no root to install it in"
	[ -z "${ROOT_ONLY:-}" ] || { say "made"; exit 0; }
	ROOT=$T/root
	cp -a "$kept" "$ROOT"
}
inside() { chroot "$ROOT" "$@"; }
