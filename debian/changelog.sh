#!/bin/sh
# changelog.sh VERSION - the Debian changelog of this version, on standard output.
set -eu
printf 'inference-spoa (%s) unstable; urgency=medium\n\n  * See /usr/share/doc/inference-spoa for what it does.\n\n' "$1"
printf ' -- inference-spoa contributors <maintainers@inference-spoa.invalid>  %s\n' "$(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")"
