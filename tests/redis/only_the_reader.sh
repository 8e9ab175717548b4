#!/bin/sh
# only_the_reader.sh FOLDER - of hiredis only its reader is used: no asynchronous or synchronous connection,
# no formatter, no RESP3. Proves P109, with test_link.c.
set -eu
if grep -nE '\bredis(Async|Connect|Command|vCommand|Append|vAppend|GetReply|Buffer|Format|vFormat|SetTimeout|Initiate)[A-Za-z]*\(|hiredis/(async|adapters)' "$1"/*.[ch]; then
	echo "only_the_reader.sh: the lines above use more of hiredis than its reader" >&2
	exit 1
fi
if grep -n '"HELLO"' "$1"/*.[ch]; then
	echo "only_the_reader.sh: RESP3 is not wanted" >&2
	exit 1
fi
