#!/bin/sh
# Tests tests/tap.sh, because a wrong count there would be wrong for every test: scripts, and the expected TAP.
tap=$TOP_SRCDIR/tests/tap.sh
number=0

# expect NAME SCRIPT EXPECTED: runs SCRIPT by tap.sh; the output without comments must be EXPECTED.
expect() {
	number=$((number + 1))
	got=$(TEST_TIMEOUT=${limit-} sh "$tap" sh -c "$2" | grep -v '^# ')
	if [ "$got" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "got: $got" | tr '\n' '|'
		echo
	fi
}

expect 'TAP passes through' 'echo 1..2; echo "ok 1 - a"; echo "not ok 2 - b"; exit 1' \
	'ok 1 - a
not ok 2 - b
1..2'
expect 'several plans become one' 'echo 1..1; echo "ok 1 - a"; echo "# g"; echo 1..1; echo "ok 1 - b"' \
	'ok 1 - a
ok 2 - b
1..2'
expect 'a skip of cmocka has the line before it as its reason' 'echo 1..1; echo "no cow"; echo "not ok 1 # SKIP a"' \
	'ok 1 - a # SKIP no cow
1..1'
expect 'a skip in TAP is kept' 'echo 1..1; echo "ok 1 - a # SKIP no horse"' \
	'ok 1 - a # SKIP no horse
1..1'
expect 'planned tests that did not run have failed' 'echo 1..3; echo "ok 1 - a"' \
	'ok 1 - a
not ok 2 - sh: 2 of 3 planned tests did not run
1..2'
expect 'a test that is killed has failed' 'echo 1..1; echo "ok 1 - a"; kill -SEGV $$' \
	'ok 1 - a
not ok 2 - sh was killed by signal 11
1..2'
expect 'a status without a failed test is a failure' 'echo 1..1; echo "ok 1 - a"; exit 3' \
	'ok 1 - a
not ok 2 - sh ended with status 3
1..2'
expect 'a program without TAP passes by its status' 'echo hello' \
	'ok 1 - sh
1..1'
expect 'a program without TAP fails by its status' 'exit 9' \
	'not ok 1 - sh ended with status 9
1..1'
expect 'status 77 is a skip with the last line as its reason' 'echo no fish; exit 77' \
	'ok 1 - sh # SKIP no fish
1..1'
expect 'an empty plan is a skip with its reason' 'echo "1..0 # SKIP no sea"' \
	'ok 1 - sh # SKIP no sea
1..1'
expect 'the last line of output may lack a newline' 'echo 1..1; printf "ok 1 - a"' \
	'ok 1 - a
1..1'
expect 'tap.sh does not wait for a process that the test leaves running' 'echo 1..1; sleep 7 & echo "ok 1 - a"' \
	'ok 1 - a
1..1'
expect 'planned tests of a test that was ended did not run' 'echo 1..1; exit 124' \
	'not ok 1 - sh: 1 of 1 planned tests did not run
not ok 2 - sh did not end in time
1..2'
# It prints nothing, because it may be ended before it has printed.
limit=1
expect 'a test that hangs is ended' 'exec sleep 60' \
	'not ok 1 - sh did not end in time
1..1'
echo "1..$number"
