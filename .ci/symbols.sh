#!/bin/sh
# symbols.sh LIBRARY... - no name may be public in two rooms. The linker takes the first it meets and says
# nothing, so that one room would call the other's function.
set -eu
for library; do
	nm --defined-only --extern-only "$library" 2>/dev/null | awk -v l="${library##*/}" 'NF == 3 && $2 !~ /[Ww]/ { print $3, l }'
done | sort -u | awk '
	$1 == name { print name " is public in " where " and in " $2; bad = 1 }
	{ name = $1; where = $2 }
	END { exit bad }
'
