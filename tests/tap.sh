#!/bin/sh
# Runs one test and prints its results as TAP, so that every subtest is counted.
#
# usage: tap.sh COMMAND [ARGS...]
#
# The test's output may be
#   - TAP, with one plan or several (a cmocka program with several groups);
#   - anything else: then its exit status is its only result (0 passed, 77 skipped).
# A skipped test (cmocka prints "not ok 2 # SKIP name") gets the line before it as its reason.
# A test that is killed, or ends before it has run its plan, has failed.
# TEST_TIMEOUT (seconds, 2700 by default) ends a test that hangs.

name=${1##*/}
case $1 in *python*) name=${2##*/} ;; esac
case $1 in */*) ;; *) command -v "$1" >/dev/null || set -- "./$@" ;; esac

# Into a file, not a pipe: a process that the test leaves running would keep a pipe open.
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
began=$(date +%s)
CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "${TEST_TIMEOUT:-2700}" "$@" >"$output" 2>&1 </dev/null
status=$?
# busybox's timeout reports the signal that killed the test.
[ $status != 143 ] || [ $(($(date +%s) - began)) -lt "${TEST_TIMEOUT:-2700}" ] || status=124
{
	cat "$output"
	echo # the last line may have no newline
	echo "TAP-SH-STATUS $status"
} | awk -v name="$name" '
function result(ok, text) {
	count++
	if (!ok)
		failed++
	print (ok ? "ok " : "not ok ") count " - " text
	fflush()
}
/^1\.\.0/ && !count { skip_all = 1; reason = $0; sub(/^1\.\.0[ \t]*#?[ \t]*/, "", reason); next }
/^1\.\.[0-9]+[ \t]*$/ { planned += substr($0, 4) + 0; plans++; next }
/^(not )?ok([ \t]|$)/ {
	ok = /^ok/
	text = $0
	sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "", text)
	if (text ~ /^# SKIP/ && !ok) {
		sub(/^# SKIP[ \t]*/, "", text)
		text = text " # SKIP " (last == "" ? "no reason given" : last)
		ok = 1
	}
	result(ok, text)
	last = ""
	next
}
/^TAP-SH-STATUS [0-9]+$/ { code = $2 + 0; seen = 1; exit }
/^$/ { next }
{
	last = $0
	sub(/^# */, "", last)
	print "# " $0
	fflush()
}
END {
	if (!seen)
		code = 255
	if (count < planned)
		result(0, name ": " (planned - count) " of " planned " planned tests did not run")
	if (code == 77 && !count)
		skip_all = 1
	if (skip_all && !count && (code == 0 || code == 77)) {
		if (reason == "" || tolower(reason) == "skip")
			reason = last == "" ? "no reason given" : last
		sub(/^SKIP[ \t]*/, "", reason)
		result(1, name " # SKIP " reason)
	} else if (code == 124 || code == 137)
		result(0, name " did not end in time")
	else if (code > 128)
		result(0, name " was killed by signal " (code - 128))
	else if (code && !failed)
		result(0, name " ended with status " code)
	else if (!code && !count)
		result(1, name)
	print "1.." count
}'
