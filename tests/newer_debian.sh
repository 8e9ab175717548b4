#!/bin/sh
# newer_debian.sh PACKAGE PROGRAM [RELEASE] - puts a program of a newer Debian (trixie) below build/ and prints the path of
# something that runs it: newer_debian.sh haproxy usr/sbin/haproxy. Nothing to do is a matter of milliseconds.
#
# The packages come from the mirror of this machine's own apt sources, by debootstrap into a directory
# of its own (about 200 MB, half a minute), as root. The program is started by its own loader, so that
# files and addresses are the host's; not for what executes itself again.
set -eu
package=$1
path=$2
release=${3:-trixie}
name=${path##*/}
cd "$(dirname "$0")/.."
. tests/clean_root.sh
root=$PWD/build/$package/$release
program=$root/$name

say() { echo "newer_debian: $*" >&2; }
fail() {
	say "$*"
	exit 1
}

if [ -x "$program" ] && "$program" -v >/dev/null 2>&1; then
	"$program" -v | sed -n 1p >&2
	echo "$program"
	exit 0
fi

PATH=$PATH:/usr/sbin
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
as_root=""
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || fail "please run as root"
	as_root=sudo
fi
# Whoever asks for it found no program in it that runs.
$as_root rm -rf "$root"
clean_root "$root" "$release" "$package" || fail "no $package of $release; the log is $root.log"
loader=$(find "$root/usr/lib64" "$root/usr/lib" "$root/lib" -maxdepth 2 -name 'ld-linux-*.so.*' 2>/dev/null | sed -n 1p)
libraries=$(dirname "$(find "$root/usr/lib" -name 'libc.so.6' | sed -n 1p)")
[ -n "$loader" ] || fail "no loader below $root"
printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$root/$path" |
	$as_root tee "$program" >/dev/null
$as_root chmod 755 "$program"
"$program" -v >/dev/null || fail "$program does not run"
"$program" -v | sed -n 1p >&2
echo "$program"
