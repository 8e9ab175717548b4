# clean_root.sh - roots of a Debian of our own below build/, by debootstrap, as root or by as_root, sudo; sourced by sh or bash, not run.
# shellcheck shell=sh disable=SC3043 # dash has local

# debian_mirror: where this machine gets its own packages: of Debian's own archive, not of its security or of others' archives.
debian_mirror() {
	apt-get indextargets --format '$(ORIGIN) $(SUITE) $(REPO_URI)' 2>/dev/null |
		awk '$1 == "Debian" && $2 !~ /-/ { print $3; found = 1; exit } END { exit !found }' && return
	echo "this machine's apt sources name no Debian mirror; run apt-get update" >&2
	return 1
}

# clean_root DIRECTORY RELEASE [PACKAGE...]: it is there, with these packages. Made once for a list of packages, in half a minute,
# and moved into its place when it is whole. What went wrong is in DIRECTORY.log.
clean_root() {
	local root=$1 release=$2 mirror
	shift 2
	[ ! -d "$root" ] || [ "$(cat "$root.packages" 2>/dev/null)" != "$*" ] || return 0
	mirror=$(debian_mirror) || return
	echo "a clean $release at build/${root##*/build/} (half a minute)" >&2
	${as_root:-} rm -rf "$root" "$root.new"
	mkdir -p "$(dirname "$root")"
	if ! timeout 600 ${as_root:-} debootstrap --variant=minbase ${1:+--include="$(echo "$*" | tr ' ' ,)"} "$release" "$root.new" "$mirror" >"$root.log" 2>&1; then
		tail -n 5 "$root.log" >&2
		return 1
	fi
	${as_root:-} rm -rf "$root.new/var/cache/apt/archives"
	${as_root:-} mv "$root.new" "$root"
	echo "$*" >"$root.packages"
}
