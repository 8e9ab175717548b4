#!/bin/sh
# man.sh PROGRAM DIRECTORY - the man pages, made of what the program itself says, so that they cannot differ.
set -eu
program=$1 out=$2
version=$("$program" --version | awk '{ print $2; exit }')
mkdir -p "$out"

# A text as it stands: lines that begin with a dot or a quote would be commands, a backslash an escape.
literal() {
	echo ".Bd -literal"
	sed -e 's/\\/\\e/g' -e 's/^[.'"'"']/\\\&&/' -e 's/[[:space:]]*$//'
	echo ".Ed"
}

head_of() { # NAME SECTION
	printf '.Dd %s\n.Dt %s %s\n.Os inference-spoa %s\n' "$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" '+%B %-d, %Y')" \
		"$(echo "$1" | tr '[:lower:]' '[:upper:]')" "$2" "$version"
}

# A markdown page as paragraphs, lists and sections; tables become a tag and its text.
from_markdown() {
	sed -e 's/\\/\\e/g' -e "s/^'/\\\\\&'/" | awk '
		function sentences(text) { while (sub(/\. [A-Z]/, ".\n&", text)) sub(/\n\. /, "\n", text); return text }
		function open_list() { if (!inlist) print ".Bl -tag -width Ds"; inlist = 1 }
		function item(tag, text) { gsub(/`/, "", tag); gsub(/`/, "", text); open_list(); print ".It " tag; print (text == "" ? "\\&" : sentences(text)) }
		/^# /   { next }
		/^\|[-:| ]*\|$/ { next }
		/^\|/ {
			if (!intable) { intable = 1; next } # its titles
			gsub(/\\e\|/, "\001"); n = split($0, cell, /[ ]*\|[ ]*/)
			text = ""
			for (i = 3; i < n; i++) if (cell[i] != "") text = text (text == "" ? "" : "; ") cell[i]
			gsub(/\001/, "|", text); item(cell[2], text); next
		}
		{ intable = 0 }
		/^- `/  { tag = $0; sub(/^- /, "", tag); sub(/: .*/, "", tag); text = $0; sub(/^[^:]*: /, "", text); item(tag, text); next }
		inlist && !/^$/ { print ".El"; inlist = 0 }
		/^## /  { sub(/^## /, ""); gsub(/`/, ""); print ".Sh " toupper($0); next }
		/^### / { sub(/^### /, ""); gsub(/`/, ""); print ".Ss " $0; next }
		/^$/    { if (!inlist) print ".Pp"; next }
		{ gsub(/`/, ""); sub(/^[-*] /, ""); if ($0 ~ /^\./) $0 = "\\&" $0; print sentences($0) }
		END { if (inlist) print ".El" }' | awk '
		# a paragraph break beside a section or a list says nothing
		$0 == ".Pp" { held = 1; next }
		{ if (held && last != "" && $0 !~ /^\.(Sh|Ss|Bl|It)/ && last !~ /^\.(Sh|Ss|El)/) print ".Pp"; held = 0; print; last = $0 }'
}

{
	head_of inference-spoa 1
	cat <<'END'
.Sh NAME
.Nm inference-spoa
.Nd routes LLM inference requests for HAProxy
.Sh SYNOPSIS
.Nm
.Ar command
.Op Ar options
.Sh DESCRIPTION
HAProxy sends a request's metadata and the hashes of its prompt's blocks;
.Nm
answers which backend and which server shall serve it: where the prompt's prefix is in the KV cache, and where the least work waits.
No prompt and no byte of an answer passes through it, and HAProxy balances by itself when it is away.
.Sh COMMANDS
END
	"$program" help | sed '1,/^usage/d' | literal
	for command in $("$program" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		echo ".Ss $command"
		"$program" "$command" --help 2>&1 | literal
	done
	cat <<'END'
.Sh FILES
.Bl -tag -width Ds
.It Pa /etc/inference-spoa/policy.json
the policy, see
.Xr inference-spoa.json 5
.It Pa /etc/default/inference-spoa
options of
.Cm run
as variables, for the service
.It Pa /usr/share/inference-spoa/haproxy
what HAProxy reads
.It Pa /usr/share/inference-spoa/profiles
examples of policies
.El
.Sh SEE ALSO
.Xr inference-spoa.json 5 ,
.Xr inference-spoa-metrics 7
END
} >"$out/inference-spoa.1"

{
	head_of inference-spoa.json 5
	cat <<'END'
.Sh NAME
.Nm inference-spoa.json
.Nd policy of the inference routing agent
.Sh DESCRIPTION
END
	"$program" options --markdown | from_markdown
	cat <<'END'
.Sh SEE ALSO
.Xr inference-spoa 1
END
} >"$out/inference-spoa.json.5"

{
	head_of inference-spoa-metrics 7
	cat <<'END'
.Sh NAME
.Nm inference-spoa-metrics
.Nd metrics of the inference routing agent
.Sh DESCRIPTION
END
	"$program" metrics | from_markdown
	cat <<'END'
.Sh SEE ALSO
.Xr inference-spoa 1
END
} >"$out/inference-spoa-metrics.7"
