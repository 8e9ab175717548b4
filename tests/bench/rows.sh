# rows.sh - the rows of numbers: kept, judged against their targets, and told three ways; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

rows_begin() {
	ROWS=$T/rows NOTES=$T/notes
	: >"$ROWS" && : >"$NOTES"
}

# row NAME VALUE UNIT [BASELINE] [TARGET]: a target is "<= N" or ">= N" or nothing.
row() {
	local name=$1 value=$2 unit=$3 baseline=${4:-} target=${5:-}
	[ -n "$value" ] || return 0
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$value" "$unit" "$baseline" "$target" \
		"$(awk -v v="$value" -v t="$target" 'BEGIN {
			if (split(t, part, " ") < 2) exit
			met = part[1] == "<=" ? v + 0 <= part[2] + 0 : v + 0 >= part[2] + 0
			print met ? "met" : "missed" }')" >>"$ROWS"
}

# A word on what is not in the table, or on how to read it.
note() {
	printf '%s\n' "$*" >>"$NOTES"
	progress "$*"
}

divide() { awk -v a="$1" -v b="$2" -v f="${3:-%.2f}" 'BEGIN { if (a != "" && b > 0) printf f, a / b }'; }

rows_table() {
	{ printf 'name\tvalue\tunit\tbaseline\ttarget\tmet\n' && cat "$ROWS"; } |
		awk -F'\t' -v OFS='\t' '{ for (i = 1; i <= 6; i++) if ($i == "") $i = "-"; print }' |
		column -t -s $'\t'
	sed 's/^/note: /' "$NOTES"
}

rows_json() {
	jq -R -s 'split("\n") | map(select(. != "") | split("\t") |
		{name: .[0], value: (.[1] | tonumber), unit: .[2],
		 baseline: (if .[3] == "" then null else (.[3] | tonumber) end),
		 target: (if .[4] == "" then null else (.[4] | split(" ")[1] | tonumber) end),
		 met: (if .[5] == "" then null else .[5] == "met" end)})' "$ROWS"
}

markdown_table() { # rows on standard input
	printf '| what | value | unit | baseline | target | |\n|---|---|---|---|---|---|\n'
	awk -F'\t' '{ printf "| %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6 == "missed" ? "**missed**" : $6 }'
	printf '\n'
}

rows_markdown() {
	local cpu
	cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	cat <<-PAGE
		# Measured

		Made by \`tests/bench/run.sh --markdown docs/measured.md\` on $(date -u +%Y-%m-%d): $(nproc) cores, ${cpu:-unknown CPU}, Linux $(uname -r),
		load average $(cut -d' ' -f1 /proc/loadavg) at the end; HAProxy $(haproxy_version "$HAPROXY_PROGRAM")${HAPROXY3:+ and $(haproxy_version "$HAPROXY3")}, one thread; $repeat repetitions of $seconds s, the least of them.
		Absolute numbers are of that machine and that hour; ratios are of one run, loaded in turn. *baseline*: the same without us.

	PAGE
	awk -v cores="$(nproc)" '$1 > cores + 1 { print "**The machine was busy with other work meanwhile**: caches and switches were shared, and costs are above those of a quiet one.\n" }' /proc/loadavg
	printf '## Ratios\n\n' && awk -F'\t' '$3 == "x"' "$ROWS" | markdown_table
	printf '## Numbers\n\n' && awk -F'\t' '$3 != "x"' "$ROWS" | markdown_table
	printf '## How to read them\n\n'
	sed 's/^/- /' "$NOTES"
}
