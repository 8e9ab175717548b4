#!/bin/sh
# requirements.sh [--check] [ROOT] - which test proves which numbered requirement, as a page.
#
# Reads the first comment of every test: all numbers behind "Proves", ranges spelled out. A number of
# .ci/claimed that no test names is an error; with --check so is a docs/requirements.md that differs.
set -eu
export LC_ALL=C
check=
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
cd "${1:-.}"

page() {
	find tests -name '*.c' -o -name '*.sh' -o -name '*.vtc' | sort | xargs awk '
		function add(number) {
			if ((number, file) in seen) return
			seen[number, file] = 1
			path = "`" substr(file, 7) "`"
			if (number in tests) tests[number] = tests[number] "<br>" path
			else tests[number] = path
		}
		function number(letter, value) { return sprintf("%s%03d", letter, value) }
		function take(text, word, first, last) {
			if (!match(text, /Proves/)) return
			text = substr(text, RSTART)
			while (match(text, /[RPB][0-9][0-9][0-9](-[RPB]?[0-9][0-9][0-9])?/)) {
				word = substr(text, RSTART, RLENGTH)
				text = substr(text, RSTART + RLENGTH)
				first = substr(word, 2, 3) + 0
				last = substr(word, length(word) - 2) + 0
				for (; first <= last; first++) add(number(substr(word, 1, 1), first))
			}
		}
		function table(title, letter, value, name) {
			print "\n## " title "\n\n| Number | Tests |\n|---|---|"
			for (value = 0; value < 1000; value++) {
				name = number(letter, value)
				if (name in tests && !(name in words)) print "| " name " | " tests[name] " |"
			}
		}
		BEGIN {
			list = ".ci/claimed"
			while ((getline line < list) > 0) {
				if (line !~ /^[RPB][0-9][0-9][0-9] /) continue
				claimed[++count] = substr(line, 1, 4)
				words[claimed[count]] = substr(line, 6)
			}
		}
		FNR == 1 { take(comment); file = FILENAME; comment = ""; over = 0; script = file !~ /\.c$/ }
		over || FNR == 1 && /^(#!|varnishtest)/ { next }
		script && !/^#/ || !script && FNR == 1 && !/^\/\*/ { over = 1; next }
		{ comment = comment " " $0 }
		!script && /\*\// { over = 1 }
		END {
			take(comment)
			print "# Requirements and their tests\n"
			print "Made by `.ci/requirements.sh` of the first comments of the tests and of `.ci/claimed`; do not edit."
			print "Paths are below `tests/`. A number that no test names is not done."
			print "\n## Done\n\n| Number | In a few words | Tests |\n|---|---|---|"
			for (i = 1; i <= count; i++) {
				name = claimed[i]
				if (!(name in tests)) {
					print list ": no test proves " name > "/dev/stderr"
					bad = 1
				}
				print "| " name " | " words[name] " | " tests[name] " |"
			}
			table("Begun, or done beyond what is claimed", "R")
			table("Pitfalls avoided", "P")
			table("Better than others", "B")
			exit bad
		}'
}

if [ -z "$check" ]; then
	page
	exit
fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT
page >"$made"
diff -u docs/requirements.md "$made" || {
	echo "requirements.sh: docs/requirements.md is not what the tests say: .ci/requirements.sh >docs/requirements.md" >&2
	exit 1
}
